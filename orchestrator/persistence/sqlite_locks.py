"""Claims on the threads of a file: locks on single bytes of another one beside it.

The operating system frees them when their process ends, however it does. A lock belongs to a process, and
all of its locks on a file end when it closes the file once; so it is opened once for all of them.
"""

from __future__ import annotations

import os
import stat
import threading
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from orchestrator.errors import StoreError
from orchestrator.runs.locks import number_of

# Not on Windows, where only the orchestrators of one process are kept apart.
_LOCKS: Final = find_spec("fcntl") is not None
if _LOCKS:
    import fcntl


_Key = tuple[int, int, int]
"""The process, since a forked one has none of its parent's locks, and the file itself."""


@dataclass(slots=True)
class _Opened:
    key: _Key
    descriptor: int
    held: set[int] = field(default_factory=set)


_ALONE: Final = threading.Lock()
_OPENED: Final[dict[_Key, _Opened]] = {}


class FileClaims:
    """The claims on the threads of a store in a file."""

    def __init__(self, store: Path) -> None:
        """Take the store's file, which is there."""
        self._store = store
        self._taken: dict[str, _Opened] = {}
        self._file = store.resolve().with_name(f"{store.resolve().name}-runs")

    def take(self, thread_id: str, *, patient: bool) -> bool:  # noqa: ARG002 - a dead process holds nothing
        """Claim a thread; see ``Claims``."""
        byte = number_of(thread_id)
        with _ALONE:
            opened = self._opened()
            if taken := byte not in opened.held and self._locked(opened, byte):
                opened.held.add(byte)
                self._taken[thread_id] = opened
            _close_unused(opened)
            return taken

    def leave(self, thread_id: str) -> None:
        """Give up a claim that was taken."""
        byte = number_of(thread_id)
        with _ALONE:
            opened = self._taken.pop(thread_id)
            opened.held.discard(byte)
            if _LOCKS:
                fcntl.lockf(opened.descriptor, fcntl.LOCK_UN, 1, byte)
            _close_unused(opened)

    def _opened(self) -> _Opened:
        try:
            # As readable as the store. Looked up first, since closing what is open already frees its locks.
            if not self._file.exists():
                mode = stat.S_IMODE(self._store.stat().st_mode)
                os.close(os.open(self._file, os.O_RDWR | os.O_CREAT, mode))
            found = self._file.stat()
            key = os.getpid(), found.st_dev, found.st_ino
            if key not in _OPENED:
                _OPENED[key] = _Opened(key, os.open(self._file, os.O_RDWR | os.O_CLOEXEC))
            return _OPENED[key]
        except OSError as error:
            raise self._failed(error) from error

    def _locked(self, opened: _Opened, byte: int) -> bool:
        if not _LOCKS:
            return True
        try:
            fcntl.lockf(opened.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except (BlockingIOError, PermissionError):  # the latter on some systems
            return False
        except OSError as error:
            raise self._failed(error) from error
        return True

    def _failed(self, error: OSError) -> StoreError:
        return StoreError(f"{self._file} cannot be locked ({error.strerror}); give a store that can be")


def _close_unused(opened: _Opened) -> None:
    if not opened.held:
        del _OPENED[opened.key]
        os.close(opened.descriptor)
