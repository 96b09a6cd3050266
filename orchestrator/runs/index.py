"""What history asks of a store beside LangGraph's interface, so that it need not read every checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, NotRequired, Protocol, TypeAlias, cast, runtime_checkable

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointMetadata, CheckpointTuple
from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from orchestrator.errors import BrokenRunError
from orchestrator.state.stored_form import moment

_COMMAND: Final = "orchestrator_command"
_SAID: Final = 200
HEADS: Final = """
    SELECT thread_id, max(checkpoint_id) AS checkpoint_id FROM checkpoints WHERE checkpoint_ns = ''
    GROUP BY thread_id ORDER BY 2 DESC
"""
"""In SQL, the latest checkpoint of every thread, the newest first."""


@dataclass(frozen=True, slots=True)
class Head:
    """The latest checkpoint of a thread."""

    thread_id: str
    checkpoint_id: str


@runtime_checkable
class Indexed(Protocol):
    """A saver that finds threads by itself."""

    def heads(self) -> list[Head]:
        """The latest checkpoint of every thread, the newest first."""
        ...

    def remove(self, head: Head) -> bool:
        """Delete a thread, unless something was added to it since."""
        ...


@dataclass(frozen=True, slots=True)
class Listed:
    """The same over any saver, by reading every checkpoint."""

    saver: BaseCheckpointSaver[str]

    def heads(self) -> list[Head]:
        """The latest checkpoint of every thread, the newest first."""
        newest: dict[str, str] = {}
        for found in self.saver.list(None):
            at = found.config["configurable"]
            if at["checkpoint_ns"] == "":
                newest[at["thread_id"]] = max(newest.get(at["thread_id"], ""), at["checkpoint_id"])
        heads = [Head(thread_id, checkpoint_id) for thread_id, checkpoint_id in newest.items()]
        return sorted(heads, key=lambda head: head.checkpoint_id, reverse=True)

    def remove(self, head: Head) -> bool:
        """Delete a thread, unless something was added to it since."""
        found = self.saver.get_tuple(place(head.thread_id))
        if found is None or found.config["configurable"]["checkpoint_id"] != head.checkpoint_id:
            return False
        self.saver.delete_thread(head.thread_id)
        return True


def place(thread_id: str, namespace: str = "", checkpoint_id: str | None = None) -> RunnableConfig:
    """Where a checkpoint is: the latest of a thread, or one by its id."""
    chosen = {} if checkpoint_id is None else {"checkpoint_id": checkpoint_id}
    return RunnableConfig(configurable={"thread_id": thread_id, "checkpoint_ns": namespace, **chosen})


def whole(found: CheckpointTuple) -> CheckpointTuple:
    """A checkpoint that was read, unless something else was stored in its place.

    Raises:
        BrokenRunError: It has not the form of a checkpoint.
    """
    if _is_whole(found.checkpoint, found.metadata):
        return found
    raise broken(found.config["configurable"]["thread_id"])


def broken(thread_id: str) -> BrokenRunError:
    """What is raised where something else was stored in a checkpoint's place."""
    return BrokenRunError(
        f"the store holds a checkpoint of {thread_id!r:.80} that is broken; restore it, or delete the run"
    )


def said(error: Exception) -> str:
    """What a database says of a failure, on one line; some quote what is stored."""
    return " ".join(str(error).split())[:_SAID] or type(error).__name__


_Version: TypeAlias = Annotated[str, Field(pattern=r"^\d+(\.|$)")]


class _Checkpoint(TypedDict):
    id: Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
    ts: str
    channel_values: dict[str, object]
    channel_versions: dict[str, _Version]
    versions_seen: dict[str, dict[str, _Version]]
    updated_channels: NotRequired[list[str] | None]


class _Metadata(TypedDict):
    step: NotRequired[int]
    source: NotRequired[str]
    parents: NotRequired[dict[str, str]]
    counters_since_delta_snapshot: NotRequired[dict[str, tuple[int, int]]]


_CHECKPOINT: Final = TypeAdapter(_Checkpoint)
_METADATA: Final = TypeAdapter(_Metadata)


def _is_whole(checkpoint: object, metadata: object) -> bool:
    try:
        ts = _CHECKPOINT.validate_python(checkpoint, strict=True)["ts"]
        _METADATA.validate_python(metadata)
    except ValidationError:
        return False
    return moment(ts) is not None


def indexed(saver: BaseCheckpointSaver[str]) -> Indexed:
    """The saver itself, or what reads it where it cannot do so by itself."""
    return saver if isinstance(saver, Indexed) else Listed(saver)


@dataclass(slots=True)
class Labels:
    """What a command line keeps with every checkpoint that is stored."""

    command: Mapping[str, object] | None = field(default=None)

    def on(self, metadata: CheckpointMetadata) -> CheckpointMetadata:
        """The metadata with them."""
        if self.command is None:
            return metadata
        return cast("CheckpointMetadata", {**metadata, _COMMAND: dict(self.command)})


def command_in(metadata: Mapping[str, object]) -> Mapping[str, object] | None:
    """What was kept with a checkpoint; None where nothing was."""
    command = metadata.get(_COMMAND)
    return command if isinstance(command, dict) else None
