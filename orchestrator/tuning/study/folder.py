"""The folder of a study: one process at a time adds runs to it, all of them of one space."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from orchestrator.errors import ConfigurationError
from orchestrator.tuning.spec import TuneSpec

# Windows has no fcntl; there, two processes are not kept apart.
_HAS_FCNTL: Final = find_spec("fcntl") is not None
if _HAS_FCNTL:
    import fcntl


@contextmanager
def open_study(spec: TuneSpec, folder: Path) -> Iterator[Path]:
    """Makes the folder of a study, or opens it if it is of the same space, and locks it.

    The operating system releases the lock of a process that ends, however it ends.

    Raises:
        ConfigurationError: Another process has the study open, it is of another space, or the folder cannot
            be written.
    """
    home = folder / spec.name
    try:
        home.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(home / "study.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ConfigurationError(
            f"the folder {str(home)!r} of the study cannot be written ({error.strerror}); give another folder"
        ) from None
    try:
        _lock(descriptor, spec.name, folder)
        _check_space(spec, home, folder)
        yield home
    finally:
        os.close(descriptor)


def _lock(descriptor: int, name: str, folder: Path) -> None:
    if not _HAS_FCNTL:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
        process = f"process {owner}" if owner.isdigit() else "another process"
        raise ConfigurationError(
            f"the study {name!r} in {str(folder)!r} is in use by {process}; "
            "wait until it has ended, or give another name"
        ) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)


def _check_space(spec: TuneSpec, home: Path, folder: Path) -> None:
    file = home / "study.json"
    # What a run depends on; a larger budget or another objective can go on with the same runs.
    values = spec.model_dump(mode="json", include={"space", "policies", "models", "planning", "seed"})
    text = json.dumps(values, sort_keys=True, indent=1)
    if not file.exists():
        # Never half written: a study that cannot be compared could not go on.
        part = file.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    elif file.read_text(encoding="utf-8") != text:
        raise ConfigurationError(
            f"the study {spec.name!r} in {str(folder)!r} is of another space; "
            "give another name, or delete its folder"
        )
