"""Checkpoints stay in order when a clock is set back.

LangGraph takes the largest id of a thread for its latest checkpoint, and an id begins with the time. Within a
process its ids only grow; a process that goes on with a thread may have an earlier clock than the one before.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointTuple
from langgraph.checkpoint.base import id as ids

from orchestrator.errors import StoreError

_TIMED: Final = 6
"""The version of UUID that begins with the time."""
_ROOM: Final = 2**60 - 2**50
"""Times from here on leave too few ids to come; no clock ever shows them."""
_COME: Final = "_last_v6_timestamp"
"""How far LangGraph's ids have come; there is no other way to tell it."""
_ALONE: Final = threading.Lock()


def followed(found: CheckpointTuple | None) -> CheckpointTuple | None:
    """A checkpoint that was read; every id that LangGraph makes from now on is larger than its own."""
    at = None if found is None else _time_of(found.config["configurable"])
    if at is not None and at < _ROOM:
        with _ALONE:
            vars(ids)[_COME] = max(vars(ids)[_COME] or 0, at)
    return found


def check_order(config: RunnableConfig, checkpoint: Checkpoint) -> None:
    """Refuse to store a checkpoint that would not be found as the latest.

    Raises:
        StoreError: Its id is not larger than that of the one it follows; nothing was stored.
    """
    place = config["configurable"]
    before = place.get("checkpoint_id")
    if before is not None and not before < checkpoint["id"]:
        raise StoreError(
            f"thread {place['thread_id']!r:.80} was stored at a later time than the clock shows; "
            "set the clock right, and resume"
        )


def _time_of(place: Mapping[str, object]) -> int | None:
    """The time in an id, in units of 100 ns since 1582; None in one that was made otherwise."""
    try:
        found = ids.UUID(str(place.get("checkpoint_id")))
    except ValueError:
        return None
    return found.time if found.version == _TIMED else None
