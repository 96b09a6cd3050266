"""Another end to a run: its state before a step, copied to a thread of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from typing import TypeAlias, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.graph.state import CompiledStateGraph

from orchestrator.errors import ConfigurationError, ResumeError
from orchestrator.runs.resume import state_in
from orchestrator.runtime.context import RunContext
from orchestrator.state.graph_state import NOTHING_UNDERWAY, OrchestratorState, RunInput
from orchestrator.state.stored_form import reading, schema_problem


def check_step(step: object) -> None:
    """Refuse what is no index of a step.

    Raises:
        ConfigurationError: It is none.
    """
    if isinstance(step, bool) or not isinstance(step, int) or step < 0:
        raise ConfigurationError(f"step is {step!r:.40}; give the index of a step, from 0")


Graph: TypeAlias = CompiledStateGraph[OrchestratorState, RunContext, RunInput, OrchestratorState]


async def copy_before(graph: Graph, thread_id: str, step: int, new: RunnableConfig, max_retries: int) -> None:
    """Store what a thread held before a step on another thread, from where the graph goes on with that step.

    Args:
        graph: With the store of both.
        thread_id: The run; it stays as it is.
        step: The index of the step. Of steps that ran side by side, all of them are before it.
        new: Names the other thread.
        max_retries: Of the run to come.

    Raises:
        ResumeError: There is no such run, it never came to that step, or the other thread is in use.
    """
    saver = cast("BaseCheckpointSaver[str]", graph.checkpointer)
    if await saver.aget_tuple(new) is not None:
        name = new["configurable"]["thread_id"]
        raise ResumeError(f"new_thread_id is {name!r:.80}, which is in use; give one that is not")
    state = await _before(graph, saver, thread_id, step)
    again: OrchestratorState = {**state, "max_retries": max_retries, "underway": NOTHING_UNDERWAY}
    await graph.aupdate_state(new, cast("dict[str, object]", again), as_node="planner_node")


async def _before(
    graph: Graph, saver: BaseCheckpointSaver[str], thread_id: str, step: int
) -> OrchestratorState:
    """The state before a step: the latest that begins a step no later than it, and holds nothing of it."""
    with reading(thread_id):
        begun = {index: config async for index, config in _beginnings(saver, thread_id)}
    head = await _state(graph, _place(thread_id)) if step not in begun else None
    if head is None or _records(head, step):
        for index in sorted((index for index in begun if index <= step), reverse=True):
            state = await _state(graph, begun[index])
            if not _records(state, step):
                return state
    raise ResumeError(f"thread {thread_id!r:.80} {_missed(step, begun)}")


def _missed(step: int, begun: Collection[int]) -> str:
    if begun and step < min(begun):
        return f"was forked at its step {min(begun) + 1}; fork the run that it came from"
    came = f"the last it came to is step {max(begun) + 1}" if begun else "it has no plan"
    return f"never came to its step {step + 1} (index {step}); {came}"


async def _beginnings(
    saver: BaseCheckpointSaver[str], thread_id: str
) -> AsyncIterator[tuple[int, RunnableConfig]]:
    """The checkpoints of the latest run on a thread, with the step each is about; the newest first."""
    head: CheckpointTuple | None = None
    async for found in _back(saver, thread_id):
        if head is None:
            head = found
            _check(thread_id, head)
        elif _is_earlier(found, head):
            return
        values = found.checkpoint["channel_values"]
        index = values.get("current_step_index")
        if values.get("status") == "executing" and isinstance(index, int):
            yield index, found.config
    if head is None:
        raise ResumeError(f"thread {thread_id!r:.80} is not in this store; run() begins a thread")


async def _back(saver: BaseCheckpointSaver[str], thread_id: str) -> AsyncIterator[CheckpointTuple]:
    """The latest checkpoint of a thread and those before it, up to the one that a run began with."""
    wanted: str | None = None
    async for found in saver.alist(_place(thread_id)):
        if wanted not in (None, found.config["configurable"]["checkpoint_id"]):
            continue
        if found.metadata["source"] == "input":
            return
        yield found
        if found.parent_config is None:
            return
        wanted = found.parent_config["configurable"]["checkpoint_id"]


def _is_earlier(found: CheckpointTuple, head: CheckpointTuple) -> bool:
    """Whether it is of an earlier run; where one is stored at its end alone, its beginning is not."""
    values, latest = found.checkpoint["channel_values"], head.checkpoint["channel_values"]
    return values.get("status") in ("success", "failed") or values.get("task") != latest.get("task")


def _check(thread_id: str, head: CheckpointTuple) -> None:
    if problem := schema_problem(thread_id, cast("Mapping[str, object]", head.metadata)):
        raise ResumeError(problem)


async def _state(graph: Graph, config: RunnableConfig) -> OrchestratorState:
    thread_id: str = config["configurable"]["thread_id"]
    with reading(thread_id):
        snapshot = await graph.aget_state(config)
    return state_in(thread_id, snapshot.values, 0)


def _records(state: OrchestratorState, step: int) -> bool:
    return any(record["step_index"] == step for record in state["results"])


def _place(thread_id: str) -> RunnableConfig:
    return RunnableConfig(configurable={"thread_id": thread_id, "checkpoint_ns": ""})
