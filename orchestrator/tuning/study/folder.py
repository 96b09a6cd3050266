"""The folder of a study: one process at a time adds runs to it, all of them measured in the same way."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
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
    """Makes the folder of a study, or opens it, and locks it.

    The operating system releases the lock of a process that ends, however it ends.

    Raises:
        ConfigurationError: Another process has the study open, or the folder cannot be written.
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


def check_study(home: Path, measured: Mapping[str, object]) -> None:
    """Checks that a study was begun in the same way; writes that down if it is new.

    Args:
        home: The folder of the study, locked.
        measured: What all runs of the study share, from ``describe_study``.

    Raises:
        ConfigurationError: It was begun in another way.
    """
    file = home / "study.json"
    if not file.exists():
        # Never half written: a study that cannot be compared could not go on.
        part = file.with_suffix(".part")
        part.write_text(json.dumps(measured, sort_keys=True, indent=1), encoding="utf-8")
        part.replace(file)
    elif (difference := _find_difference(_read_study(file), measured)) is not None:
        raise ConfigurationError(
            f"the study {home.name!r} in {str(home.parent)!r} was measured with {difference}; "
            "give another name, or delete its folder"
        )


def _read_study(file: Path) -> Mapping[str, object]:
    try:
        before: object = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return {}
    return before if isinstance(before, dict) else {}


def _find_difference(before: Mapping[str, object], now: Mapping[str, object]) -> str | None:
    # As JSON: a tuple is a list once it was written.
    after = json.loads(json.dumps(now))
    return next((name for name in {**after, **before} if before.get(name) != after.get(name)), None)
