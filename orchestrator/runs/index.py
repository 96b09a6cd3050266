"""The latest checkpoint of each thread: queries that LangGraph's saver interface does not offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, cast, runtime_checkable

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointMetadata

_COMMAND: Final = "orchestrator_command"
LATEST_CHECKPOINTS_SQL: Final = """
    SELECT thread_id, max(checkpoint_id) AS checkpoint_id FROM checkpoints WHERE checkpoint_ns = ''
    GROUP BY thread_id ORDER BY 2 DESC
"""


@dataclass(frozen=True, slots=True)
class LatestCheckpoint:
    """The id of a thread's latest checkpoint."""

    thread_id: str
    checkpoint_id: str


@runtime_checkable
class ThreadIndex(Protocol):
    """A saver that lists its threads with one query."""

    def list_latest(self) -> list[LatestCheckpoint]:
        """Lists the latest checkpoint of every thread, the newest first."""
        ...

    def delete_unchanged(self, latest: LatestCheckpoint) -> bool:
        """Deletes a thread if ``latest`` is still its latest checkpoint. Returns whether it did."""
        ...


@dataclass(frozen=True, slots=True)
class ScanningIndex:
    """The same for any saver, by reading every checkpoint."""

    saver: BaseCheckpointSaver[str]

    def list_latest(self) -> list[LatestCheckpoint]:
        """Lists the latest checkpoint of every thread, the newest first."""
        ids: dict[str, str] = {}
        for checkpoint in self.saver.list(None):
            place = checkpoint.config["configurable"]
            if place["checkpoint_ns"] == "":
                ids[place["thread_id"]] = max(ids.get(place["thread_id"], ""), place["checkpoint_id"])
        latest = [LatestCheckpoint(thread_id, checkpoint_id) for thread_id, checkpoint_id in ids.items()]
        return sorted(latest, key=lambda checkpoint: checkpoint.checkpoint_id, reverse=True)

    def delete_unchanged(self, latest: LatestCheckpoint) -> bool:
        """Deletes a thread if ``latest`` is still its latest checkpoint. Returns whether it did."""
        current = self.saver.get_tuple(checkpoint_config(latest.thread_id))
        if current is None or current.config["configurable"]["checkpoint_id"] != latest.checkpoint_id:
            return False
        self.saver.delete_thread(latest.thread_id)
        return True


def open_index(saver: BaseCheckpointSaver[str]) -> ThreadIndex:
    """Returns the saver itself if it is an index, else a ``ScanningIndex`` over it."""
    return saver if isinstance(saver, ThreadIndex) else ScanningIndex(saver)


def checkpoint_config(
    thread_id: str, namespace: str = "", checkpoint_id: str | None = None
) -> RunnableConfig:
    """Builds the config that names one checkpoint; without an id, the latest of the thread."""
    by_id = {} if checkpoint_id is None else {"checkpoint_id": checkpoint_id}
    return RunnableConfig(configurable={"thread_id": thread_id, "checkpoint_ns": namespace, **by_id})


@dataclass(slots=True)
class Labels:
    """The command that a command line stores with each checkpoint."""

    command: Mapping[str, object] | None = field(default=None)

    def add_to(self, metadata: CheckpointMetadata) -> CheckpointMetadata:
        """Returns the metadata with the command."""
        if self.command is None:
            return metadata
        return cast("CheckpointMetadata", {**metadata, _COMMAND: dict(self.command)})


def read_command(metadata: Mapping[str, object]) -> Mapping[str, object] | None:
    """Returns the command that was stored with a checkpoint, or None."""
    command = metadata.get(_COMMAND)
    return command if isinstance(command, dict) else None
