"""The results of a measurement in a file of JSON lines, so that one that was stopped continues."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path
from pydantic import BaseModel, ConfigDict

Key = tuple[str, int, int]
"""An arm, the key of a prompt, and a seed."""
_REPOSITORY: Final = Path(__file__).resolve().parents[2]


class CacheError(Exception):
    """The file of results cannot be used; the message says what to do."""


class Settings(BaseModel):
    """Everything that all records of one file share."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = 1
    split: str
    prompts: str
    """SHA-256 of the prompts of the split."""
    model: str
    """Name and SHA-256 of the weights."""
    temperature: float
    max_tokens: int
    retries: int


class Record(BaseModel):
    """One answer of one arm. It is None where an arm claims nothing or has no checks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    arm: str
    prompt: int
    seed: int
    output: str
    right: bool
    claimed: bool | None
    basis: str | None
    checks: int | None
    unchecked: int | None
    is_whole: bool | None = None
    calls: int
    cut: int
    """Replies that ended at the token limit."""
    tokens: int | None
    seconds: float
    code: str
    """Version of the repository."""
    error: str | None = None
    """Class of the exception that the arm raised."""

    @property
    def key(self) -> Key:
        """What the record is the result of."""
        return self.arm, self.prompt, self.seed


class RecordFile:
    """A file whose first line is the settings, and every further line a record.

    A line is written at once and flushed to the disk. If the process is killed within a write, the next one
    removes the broken line. Use ``open_records``.
    """

    def __init__(self, descriptor: int, records: Mapping[Key, Record]) -> None:
        self._descriptor = descriptor
        self.records = dict(records)

    def is_done(self, key: Key) -> bool:
        """Return whether there is a record; one with an error is measured again."""
        return key in self.records and self.records[key].error is None

    def add(self, record: Record) -> None:
        """Append a record; it replaces an older one of the same key."""
        _write_line(self._descriptor, record)
        self.records[record.key] = record


@contextmanager
def open_records(path: Path, settings: Settings) -> Iterator[RecordFile]:
    """Open the file of a measurement, or begin it. One process at a time can have it open.

    Raises:
        CacheError: The file is inside of the repository, belongs to other settings, is damaged, or another
            process has it open.
    """
    if path.resolve().is_relative_to(_REPOSITORY):
        raise CacheError(
            f"{path} is inside of the repository; give a folder outside, because outputs quote prompts"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        _lock(descriptor, path)
        lines = _read_lines(descriptor)
        if not lines:
            _write_line(descriptor, settings)
        yield RecordFile(descriptor, _read_records(path, lines, settings))
    finally:
        os.close(descriptor)


def default_folder() -> Path:
    """Return the user's cache folder for these measurements."""
    return user_cache_path("plan-execute-monitor") / "effect"


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CacheError(
            f"another process measures into {path}; wait for it, or give another --run"
        ) from None


def _read_lines(descriptor: int) -> list[bytes]:
    """Read the whole lines, and remove a last one that was not finished."""
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        content = file.read()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.ftruncate(descriptor, whole)
    return content[:whole].splitlines()


def _read_records(path: Path, lines: list[bytes], settings: Settings) -> dict[Key, Record]:
    if not lines:
        return {}
    try:
        stored = Settings.model_validate_json(lines[0])
        records = [Record.model_validate_json(line) for line in lines[1:]]
    except ValueError as error:
        raise CacheError(f"{path} holds no results of this benchmark; give another --run ({error})") from None
    if other := [name for name, value in settings if getattr(stored, name) != value]:
        differences = ", ".join(
            f"{name} {getattr(stored, name)}, not {getattr(settings, name)}" for name in other
        )
        raise CacheError(f"{path} was measured with {differences}; give another --run, or the same settings")
    return {record.key: record for record in records}


def _write_line(descriptor: int, item: BaseModel) -> None:
    line = f"{item.model_dump_json()}\n".encode()
    written = os.write(descriptor, line)
    if written != len(line):
        raise CacheError("the disk is full; the result is not stored")
    os.fsync(descriptor)
