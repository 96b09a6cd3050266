"""What steps that run side by side have come to; each is kept by itself until all of them have ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from orchestrator.state.graph_state import BRANCH, StepRecord, settle_all

_RESULTS: Final = "results"


def records_beside(saver: BaseCheckpointSaver[str], found: CheckpointTuple) -> list[StepRecord]:
    """The executions of steps that run side by side, after the checkpoint of the run as a whole."""
    branches = [*_branches(saver, found)]  # a saver that is still listing may not be asked for anything else
    return [record for branch in branches for record in _records(saver, branch)]


def _branches(saver: BaseCheckpointSaver[str], found: CheckpointTuple) -> Iterator[CheckpointTuple]:
    """The latest checkpoint of each."""
    at, seen = found.config["configurable"], set[str]()
    for one in saver.list(RunnableConfig(configurable={"thread_id": at["thread_id"]})):
        namespace = one.config["configurable"]["checkpoint_ns"]
        begun_at = one.metadata.get("parents", {}).get("")
        name, _, task = namespace.partition(":")
        # An agent within it may have checkpoints of its own.
        if name == BRANCH and "|" not in task and begun_at == at["checkpoint_id"] and namespace not in seen:
            seen.add(namespace)
            yield one


def _records(saver: BaseCheckpointSaver[str], branch: CheckpointTuple) -> list[StepRecord]:
    history = saver.get_delta_channel_history(config=branch.config, channels=[_RESULTS])[_RESULTS]
    seed = cast("list[StepRecord]", history.get("seed", []))
    return settle_all(seed, [cast("list[StepRecord]", value) for _, _, value in history["writes"]])
