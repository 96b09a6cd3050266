"""Files in which runs are to be kept: found, made or refused before anything is written to them.

Everything here raises StoreError for a file that cannot be a store; it is as it was.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from orchestrator.errors import StoreError

_HEADER: Final = b"SQLite format 3\0"


def make_empty(file: Path, *, folder: bool) -> None:
    """Make an empty file that only its user can read, since runs hold whatever their tasks are about."""
    try:
        if folder:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StoreError(f"{file} cannot be written ({error.strerror}); give another path") from error


def check_kind(file: Path) -> None:
    """Refuse what is there and no file, before it is opened: a pipe would be waited for."""
    try:
        mode = file.stat().st_mode
    except OSError:  # missing; or what stands in the way is said once it is opened
        return
    except ValueError:
        raise StoreError(f"{str(file)!r:.80} names no file; give another path") from None
    if not stat.S_ISREG(mode):
        raise StoreError(f"{file} is no file; give another path")


def check_header(file: Path) -> None:
    """Refuse what is missing, and what is not empty and no database of SQLite."""
    try:
        with file.open("rb") as opened:
            head = opened.read(len(_HEADER))
    except FileNotFoundError:
        raise StoreError(f"there is no {file}; give the path of the run's store") from None
    except OSError as error:
        raise StoreError(f"{file} cannot be read ({error.strerror}); give another path") from error
    if head not in (b"", _HEADER):
        raise StoreError(f"{file} is no SQLite database; give another path")
