"""The latest checkpoint of each thread: queries that LangGraph's saver interface does not offer."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata

from orchestrator.errors import StoreLostError
from orchestrator.runs.locks import ThreadLocks
from orchestrator.state.plain_values import format_one_line, format_repr
from orchestrator.state.records import Question

COMMAND: Final = "orchestrator_command"
_SUFFIX_CHARACTERS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
LATEST_CHECKPOINTS_SQL: Final = """
    SELECT thread_id, max(checkpoint_id) AS checkpoint_id FROM checkpoints WHERE checkpoint_ns = ''
    GROUP BY thread_id ORDER BY 2 DESC
"""


def next_version(current: str | int | None) -> str:
    """Returns the version after ``current``: a counter of eight digits and a random suffix.

    LangGraph compares versions as text. Its own savers write 32 digits and a suffix, a quarter of all bytes
    that a run stores. The first 24 of those digits are zeros, so a thread that another saver began continues
    here with greater versions.
    """
    counter = current if isinstance(current, int) else int((current or "0").split(".", 1)[0])
    # Two branches of one thread can reach the same counter; the suffix tells them apart and is no secret.
    suffix = "".join(random.choices(_SUFFIX_CHARACTERS, k=8))  # noqa: S311
    return f"{counter + 1:08}.{suffix}"


class RunSaver(BaseCheckpointSaver[str], ABC):
    """Base class of the stores' savers, before a saver of LangGraph, whose ``put`` it calls.

    The savers list their threads, lock them, and label checkpoints.

    Attributes:
        locks: The locks on the threads.
        command: The command that a command line stores with each checkpoint.
    """

    locks: ThreadLocks
    command: Mapping[str, object] | None = None

    @abstractmethod
    def list_latest(self) -> list[tuple[str, str]]:
        """Lists every thread with the id of its latest checkpoint, the newest first."""

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
        return super().put(config, checkpoint, labelled, new_versions)

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002 - LangGraph's
        """Returns a short version."""
        return next_version(current)


@contextmanager
def convert_store_errors(name: str, *errors: type[Exception]) -> Iterator[None]:
    """Raises StoreLostError in place of the errors of a database, with the name of the store."""
    try:
        yield
    except errors as error:
        raise StoreLostError(
            f"{name} failed ({format_one_line(error)}); fix that, then try again or resume"
        ) from error


def checkpoint_config(
    thread_id: str, namespace: str = "", checkpoint_id: str | None = None
) -> RunnableConfig:
    """Builds the config that names one checkpoint; without an id, the latest of the thread."""
    by_id = {} if checkpoint_id is None else {"checkpoint_id": checkpoint_id}
    return RunnableConfig(configurable={"thread_id": thread_id, "checkpoint_ns": namespace, **by_id})


def describe_unknown_thread(thread_id: str, store: str = "this store") -> str:
    """Says that a store has no such thread, and how to find its threads."""
    return (
        f"thread {format_repr(thread_id, 80)} is not in {store}; "
        "`orchestrator runs` or history.runs() lists the threads"
    )


def format_resume_call(thread_id: str, question: Question | None) -> str:
    """Returns the call in Python that continues a run, with the accepted answers to its question."""
    if question is None:
        return f"resume({thread_id!r})"
    answers = " | ".join(f'"{answer}"' for answer in question["accepts"])
    answer = f'{{"answer": {answers}, "text": "..."}}' if answers else "ANSWER"
    return f"resume({thread_id!r}, {answer})"
