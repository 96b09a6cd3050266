"""Runs a program without a shell, in a process group of its own, for a bounded time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import IO, Final

_INHERITED: Final = (
    *("PATH", "LANG", "LC_ALL", "TMPDIR"),
    *("SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP"),  # Windows
)
_OWN: Final = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Python trusts the bytecode of a file with the same second and size, which may be of an earlier output."""
_POLL_S: Final = 0.02
_GRACE_S: Final = 1.0
"""Seconds for the output of a group that was killed; a program that left the group may keep it open."""
_CHUNK: Final = 65536


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """How a program ended."""

    exit_status: int | None
    """Negative for a signal; None if it was ended because its time was over."""
    output: bytes
    """The end of what it wrote to standard output and standard error."""


def run_program(  # noqa: PLR0917
    arguments: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    text: bytes,
    seconds: float,
    limit: int,
    stop: threading.Event,
) -> ProgramResult:
    """Run a program to its end, and end everything else that it started in its process group.

    Args:
        arguments: The program and its arguments.
        directory: Its working directory.
        environment: Its variables besides the few that it inherits: search path, language, temporary files.
        text: Its standard input.
        seconds: The most that it may take.
        limit: Most bytes of its output that are kept.
        stop: Ends it if set.

    Raises:
        OSError: It cannot be started.
    """
    with tempfile.TemporaryFile() as source:
        source.write(text)
        source.seek(0)
        process = _start(arguments, directory, environment, source)
    tail = _Tail(process, limit)
    try:
        is_ended = _wait(process, seconds, stop)
    finally:
        _kill_group(process)
    return ProgramResult(process.returncode if is_ended else None, tail.close())


def _start(
    arguments: Sequence[str], directory: Path, environment: Mapping[str, str], source: IO[bytes]
) -> subprocess.Popen[bytes]:
    inherited = {name: value for name in _INHERITED if (value := os.environ.get(name)) is not None}
    return subprocess.Popen(  # noqa: S603 - the user's own arguments, and no shell
        arguments,
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=directory,
        env={**inherited, **_OWN, **environment},
        start_new_session=True,
    )


def _wait(process: subprocess.Popen[bytes], seconds: float, stop: threading.Event) -> bool:
    """Wait for the end of a program; False if it was not reached in time."""
    end = monotonic() + seconds
    while process.poll() is None:
        if monotonic() >= end or stop.wait(_POLL_S):
            return False
    return True


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            # The program is the leader of its group.
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Tail:
    """Reads the output of a program in a thread, so that a full pipe never blocks it, and keeps the end."""

    def __init__(self, process: subprocess.Popen[bytes], limit: int) -> None:
        self._process, self._limit, self._kept = process, limit, b""
        self._thread = threading.Thread(target=self._read, name="check-output", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        stream = self._process.stdout
        with suppress(OSError, ValueError):
            while stream and (chunk := os.read(stream.fileno(), _CHUNK)):
                self._kept = (self._kept + chunk)[-self._limit :]

    def close(self) -> bytes:
        """Return the end of the output, once it is whole."""
        self._thread.join(_GRACE_S)
        if self._process.stdout and not self._thread.is_alive():
            self._process.stdout.close()
        return self._kept
