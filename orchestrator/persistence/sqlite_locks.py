"""Locks threads of a SQLite store: each lock is a file beside the store, while the thread is run.

The operating system releases the locks of a process that ends. It also releases the lock of a process on a
file when the process closes that file once, so a process never opens the file of a lock that it holds.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from orchestrator.errors import StoreError
from orchestrator.runs.run_saver import lock_number

# Windows has no fcntl; there, only the orchestrators of one process exclude each other.
_HAS_FCNTL: Final = find_spec("fcntl") is not None
if _HAS_FCNTL:
    import fcntl

_MUTEX: Final = threading.RLock()
_HELD: Final[dict[tuple[int, Path], int]] = {}
"""The open files of held locks, by process (a forked process inherits no locks) and path."""


class FileLocks:
    """The locks on the threads of a store in a file."""

    def __init__(self, store: Path) -> None:
        """Takes the path of an existing store."""
        self._store = store.resolve()

    def acquire(self, thread_id: str, *, wait: bool) -> bool:  # noqa: ARG002 - a dead process holds no lock
        """Locks a thread; see ``ThreadLocks``."""
        # A listing in another process holds the lock for a moment.
        return any(self._try_acquire(thread_id, pause) for pause in (0.0, 0.002, 0.01))

    def release(self, thread_id: str) -> None:
        """Releases a lock that was acquired."""
        path = self._find_path(thread_id)
        with _MUTEX:
            with suppress(OSError):  # the file of another user, or Windows
                path.unlink()
            os.close(_HELD.pop((os.getpid(), path)))

    def is_locked(self, thread_id: str) -> bool:
        """Checks whether any process holds the lock; see ``ThreadLocks``."""
        if not _HAS_FCNTL:
            return True
        path = self._find_path(thread_id)
        if not path.exists():
            return False
        with _MUTEX, suppress(StoreError):  # no other thread takes the try for a run
            # POSIX has no question that Python can ask on every system, so the lock is tried.
            if (os.getpid(), path) not in _HELD and self.acquire(thread_id, wait=False):
                self.release(thread_id)
                return False
        return True

    def _find_path(self, thread_id: str) -> Path:
        return self._store.with_name(f"{self._store.name}-run-{lock_number(thread_id):016x}")

    def _try_acquire(self, thread_id: str, pause_s: float) -> bool:
        time.sleep(pause_s)
        path = self._find_path(thread_id)
        key = os.getpid(), path
        try:
            with _MUTEX:
                if key in _HELD:
                    return False
                mode = stat.S_IMODE(self._store.stat().st_mode)
                file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), mode)
                if is_free := _lock_file(file, path):
                    _HELD[key] = file
                else:
                    os.close(file)
                return is_free
        except OSError as error:
            raise StoreError(
                f"{path} cannot be locked ({error.strerror}); put the store on a file system with locks"
            ) from error


def _lock_file(file: int, path: Path) -> bool:
    if not _HAS_FCNTL:
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever held the lock before may have removed the file since it was opened.
        return os.path.samestat(os.fstat(file), path.stat())
    except (BlockingIOError, PermissionError, FileNotFoundError):  # POSIX allows EACCES as well as EAGAIN
        return False
