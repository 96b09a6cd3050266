"""Forks a run: copies its state from before a step to a new thread."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from typing import TypeAlias, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.graph.state import CompiledStateGraph

from orchestrator.errors import ConfigurationError, ResumeError
from orchestrator.runs.index import checkpoint_config, describe_unknown_thread
from orchestrator.runs.resume import PLANNER, state_from_values
from orchestrator.runtime.context import RunContext
from orchestrator.state.current_step import is_answer_due
from orchestrator.state.graph_state import MONITOR, NOTHING_UNDERWAY, OrchestratorState, RunInput
from orchestrator.state.plain_values import format_repr
from orchestrator.state.stored_form import convert_read_errors, schema_problem

Graph: TypeAlias = CompiledStateGraph[OrchestratorState, RunContext, RunInput, OrchestratorState]


def check_step(step: object) -> None:
    """Checks the index of a step.

    Raises:
        ConfigurationError: It is not a whole number from 0.
    """
    if isinstance(step, bool) or not isinstance(step, int) or step < 0:
        raise ConfigurationError(f"step is {format_repr(step, 40)}; give the index of a step, from 0")


async def copy_before(  # noqa: PLR0917
    graph: Graph,
    thread_id: str,
    step: int,
    new: RunnableConfig,
    max_retries: int,
    change: Callable[[OrchestratorState], OrchestratorState],
) -> None:
    """Copies the state before a step to a new thread, from which the graph continues with that step.

    Args:
        graph: A graph whose saver stores both threads.
        thread_id: The run to copy; it is not changed.
        step: The index of the step; of a group of parallel steps, the first one. ``len(plan)`` is the answer.
        new: The config of the new thread.
        max_retries: For the new run.
        change: Returns the state of the new run from the copied state.

    Raises:
        ResumeError: There is no such run, it never reached that step, or the new thread is in use.
    """
    saver = cast("BaseCheckpointSaver[str]", graph.checkpointer)
    if await saver.aget_tuple(new) is not None:
        name = new["configurable"]["thread_id"]
        raise ResumeError(f"thread {format_repr(name, 80)} is in use; give another name for the new run")
    with convert_read_errors(thread_id):
        state = await _state_before(graph, saver, thread_id, step)
    forked: OrchestratorState = {**change(state), "max_retries": max_retries, "underway": NOTHING_UNDERWAY}
    # After the last step, the route of the planner would look for a further one.
    before = MONITOR if is_answer_due(state) else PLANNER
    await graph.aupdate_state(new, cast("dict[str, object]", forked), as_node=before)


async def _state_before(
    graph: Graph, saver: BaseCheckpointSaver[str], thread_id: str, step: int
) -> OrchestratorState:
    """Reads the latest state that has no record of the step.

    The checkpoint that begins the step has none, unless the step is one of several parallel steps. Then the
    state before all of them is used.
    """
    checkpoints = {index: config async for index, config in _step_checkpoints(saver, thread_id)}
    latest = None if step in checkpoints else await _read_state(graph, checkpoint_config(thread_id))
    # A parallel step that has begun is in the latest state, but is no current_step_index of a checkpoint.
    if latest is None or _has_record(latest, step):
        for index in sorted((index for index in checkpoints if index <= step), reverse=True):
            state = await _read_state(graph, checkpoints[index])
            if not _has_record(state, step):
                return state
    raise ResumeError(f"thread {format_repr(thread_id, 80)} {_describe_missing(step, checkpoints, latest)}")


def _describe_missing(step: int, indexes: Collection[int], latest: OrchestratorState | None) -> str:
    missing = f"never reached step {step + 1} (index {step} in Python)"
    if not indexes or latest is None:
        return f"{missing}; it has no plan"
    # The records tell of parallel steps, of which only the first one is an index.
    reached = max(*indexes, *(record["step_index"] for record in latest["results"]))
    first, last = min(indexes), min(reached, len(latest["plan"]) - 1)
    if step < first:
        return f"was forked at step {first + 1}; fork the run that it came from"
    return (
        f"{missing}; give a step from {first + 1} to {last + 1} (an index from {first} to {last} in Python)"
    )


async def _step_checkpoints(
    saver: BaseCheckpointSaver[str], thread_id: str
) -> AsyncIterator[tuple[int, RunnableConfig]]:
    """Yields the checkpoints of the latest run on a thread with their current step, the newest first."""
    latest = await saver.aget_tuple(checkpoint_config(thread_id))
    if latest is None:
        raise ResumeError(describe_unknown_thread(thread_id))
    if problem := schema_problem(thread_id, cast("Mapping[str, object]", latest.metadata)):
        raise ResumeError(problem)
    async for checkpoint in _walk_back(saver, thread_id):
        values = checkpoint.checkpoint["channel_values"]
        index = values.get("current_step_index")
        if values.get("status") == "executing" and isinstance(index, int):
            yield index, checkpoint.config


async def _walk_back(saver: BaseCheckpointSaver[str], thread_id: str) -> AsyncIterator[CheckpointTuple]:
    """Yields the latest checkpoint of a thread and its ancestors, down to the input of the run."""
    expected_id: str | None = None
    async for checkpoint in saver.alist(checkpoint_config(thread_id)):
        # Checkpoints that are no ancestors: a user may have continued the graph from an earlier one.
        if expected_id not in (None, checkpoint.config["configurable"]["checkpoint_id"]):
            continue
        if checkpoint.metadata["source"] == "input":
            return
        yield checkpoint
        if checkpoint.parent_config is None:
            return
        expected_id = checkpoint.parent_config["configurable"]["checkpoint_id"]


async def _read_state(graph: Graph, config: RunnableConfig) -> OrchestratorState:
    snapshot = await graph.aget_state(config)
    return state_from_values(config["configurable"]["thread_id"], snapshot.values, 0)


def _has_record(state: OrchestratorState, step: int) -> bool:
    return any(record["step_index"] == step for record in state["results"])
