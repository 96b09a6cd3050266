"""RunSaver: queries and locks of a store that LangGraph's saver interface does not offer."""

from __future__ import annotations

import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Protocol, cast
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata

from evaluation.sensitive.scanner import shorten
from orchestrator.errors import BrokenRunError, OrchestratorError, StoreLostError
from orchestrator.state.graph_state import SCHEMA, SCHEMA_VERSION
from orchestrator.state.plain_values import format_one_line, format_repr, name_thread

COMMAND: Final = "orchestrator_command"
_CREATE_INDEX: Final = """
    CREATE TABLE IF NOT EXISTS orchestrator_runs (
        thread_id TEXT PRIMARY KEY,
        mark TEXT NOT NULL,
        checkpoint_id TEXT NOT NULL DEFAULT '',
        status TEXT NOT NULL DEFAULT '',
        type TEXT,
        summary BYTEA
    );
    CREATE INDEX IF NOT EXISTS orchestrator_runs_mark ON orchestrator_runs (thread_id) WHERE mark <> '';
    CREATE INDEX IF NOT EXISTS orchestrator_runs_updated ON orchestrator_runs (checkpoint_id);
    CREATE INDEX IF NOT EXISTS orchestrator_runs_status ON orchestrator_runs (status, checkpoint_id);
    INSERT INTO orchestrator_runs (thread_id, mark)
    SELECT DISTINCT thread_id, 'new' FROM checkpoints WHERE checkpoint_ns = ''
    ON CONFLICT DO NOTHING;
"""
"""Statements of SQLite and PostgreSQL; see ``history.py``."""
_MARK: Final = """
    INSERT INTO orchestrator_runs (thread_id, mark) VALUES (?, ?)
    ON CONFLICT (thread_id) DO UPDATE SET mark = excluded.mark
"""
_SUFFIX_CHARACTERS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


class RunSaver(BaseCheckpointSaver[str], ABC):
    """Base class of the stores' savers, before a saver of LangGraph, whose ``put`` it calls.

    The savers mark changed threads in the index, lock threads, and label checkpoints.

    Attributes:
        locks: The locks on the threads.
        command: The command that a command line stores with each checkpoint.
    """

    locks: ThreadLocks
    command: Mapping[str, object] | None = None

    @abstractmethod
    def has_table(self, name: str) -> bool:
        """Checks whether the store has a table."""

    @abstractmethod
    def create_tables(self, name: str, script: str) -> None:
        """Executes the script that creates tables unless the store has the table of this name."""

    @abstractmethod
    def select(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Returns the rows of a query, in which ``?`` stands for each value."""

    @abstractmethod
    def change(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Executes a statement with the values of each row, in one transaction."""

    def create_index(self) -> None:
        """Creates the index of the runs if the store has none."""
        self.create_tables("orchestrator_runs", _CREATE_INDEX)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Stores a checkpoint with the command."""
        label = {} if self.command is None else {COMMAND: self.command}
        labelled = cast("CheckpointMetadata", {**metadata, **label})
        stored = super().put(config, checkpoint, labelled, new_versions)
        self._mark_unlocked(config)
        return stored

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Stores the writes of a task."""
        super().put_writes(config, writes, task_id, task_path)
        self._mark_unlocked(config)

    def delete_thread(self, thread_id: str) -> None:
        """Deletes all checkpoints of a thread."""
        self.mark_thread(thread_id)
        super().delete_thread(thread_id)

    def mark_thread(self, thread_id: str) -> None:
        """Marks the row of a thread in the index: what it says is out of date from now on."""
        self.change(_MARK, [(thread_id, uuid4().hex)])

    def _mark_unlocked(self, config: RunnableConfig) -> None:
        """Marks the row of a thread that LangGraph's own means write to; a run marks its row as it begins."""
        place = config["configurable"]
        if not place.get("checkpoint_ns") and not self.locks.is_held(place["thread_id"]):
            self.mark_thread(place["thread_id"])

    def get_next_version(self, current: str | int | None, channel: None) -> str:  # noqa: ARG002 - LangGraph's
        """Returns the version after ``current``: a counter of eight digits and a random suffix.

        LangGraph compares versions as text. Its own savers write 32 digits and a suffix, a quarter of all
        bytes that a run stores. The first 24 of those digits are zeros, so a thread that another saver began
        continues here with greater versions.
        """
        counter = current if isinstance(current, int) else int((current or "0").split(".", 1)[0])
        # Two branches of one thread can reach the same counter; the suffix tells them apart and is no secret.
        suffix = "".join(random.choices(_SUFFIX_CHARACTERS, k=8))  # noqa: S311
        return f"{counter + 1:08}.{suffix}"


@dataclass(frozen=True, slots=True)
class SeparateText:
    """A text that a saver hands to the serialiser, because it would store a ``str`` unencrypted."""

    text: str


@contextmanager
def convert_store_errors(name: str, *errors: type[Exception]) -> Iterator[None]:
    """Raises StoreLostError in place of the errors of a database, with the name of the store."""
    try:
        yield
    except errors as error:
        raise StoreLostError(
            f"{name} failed ({format_one_line(error)}); fix that, then try again or resume"
        ) from error


def checkpoint_config(thread_id: str) -> RunnableConfig:
    """Builds the config that names the latest checkpoint of a thread."""
    return RunnableConfig(configurable={"thread_id": thread_id, "checkpoint_ns": ""})


def describe_unknown_thread(thread_id: str, store: str = "this store") -> str:
    """Says that a store has no such thread, and how to find its threads."""
    return (
        f"{name_thread(thread_id)} is not in {store}; `orchestrator runs` or history.runs() lists the threads"
    )


class ThreadLocks(Protocol):
    """The locks of a store. A lock ends with its process. May be used from any Python thread."""

    def acquire(self, thread_id: str, *, wait: bool) -> bool:
        """Locks a thread.

        Args:
            thread_id: The thread.
            wait: Wait a moment: some stores notice the death of a process late.

        Returns:
            False if this process or another one holds the lock.

        Raises:
            StoreError: The store cannot be reached.
        """

    def release(self, thread_id: str) -> None:
        """Releases a lock that was acquired."""

    def is_locked(self, thread_id: str) -> bool:
        """Checks whether any process holds the lock; also True if that cannot be found out."""

    def is_held(self, thread_id: str) -> bool:
        """Checks whether this process holds the lock."""


def lock_number(thread_id: str) -> int:
    """Returns the number of a thread's lock, of 62 bits; the same in every process."""
    return int.from_bytes(hashlib.sha256(thread_id.encode()).digest()[:8]) >> 2


def schema_problem(thread_id: str, metadata: object) -> str | None:
    """Returns why this version cannot read a stored run, or None if it can."""
    version = cast("Mapping[str, object]", metadata or {}).get(SCHEMA)
    if version == SCHEMA_VERSION:
        return None
    return (
        f"{name_thread(thread_id)} was stored by another version of this program (form "
        f"{format_repr(version, 40)}, this one reads {SCHEMA_VERSION}); use the version that began the run"
    )


def parse_time(value: object) -> datetime | None:
    """Parses an ISO 8601 time to UTC. Returns None if it is not a time, or has no time zone."""
    try:
        time = datetime.fromisoformat(str(value))
        return None if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@contextmanager
def convert_read_errors(thread_id: str) -> Iterator[None]:
    """Reports a thread as broken if code in the block fails on stored values.

    LangGraph and the reducers rely on the form of what they read, and a store can hold anything.

    Raises:
        BrokenRunError: In place of the errors that malformed values cause.
    """
    try:
        yield
    except OrchestratorError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise broken_run(thread_id, f"{type(error).__name__}: {format_one_line(error)}") from error


def broken_run(thread_id: str, problem: str) -> BrokenRunError:
    """Builds the error of a run that cannot be read."""
    return BrokenRunError(
        f"{name_thread(thread_id)} holds a state that is broken ({shorten(problem, 200)}); "
        "restore it, or delete the run"
    )
