"""Forks a run: copies its state from before a step to a new thread."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TypeAlias, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph

from orchestrator.errors import ResumeError
from orchestrator.runs.resume import PLANNER, state_from_values
from orchestrator.runs.run_saver import checkpoint_config, describe_unknown_thread
from orchestrator.runtime.run_context import RunContext
from orchestrator.state.current_step import LASTING, is_answer_due
from orchestrator.state.evaluation_report import mapping
from orchestrator.state.graph_state import MONITOR, NOTHING_UNDERWAY, OrchestratorState, RunInput
from orchestrator.state.plain_values import format_repr
from orchestrator.state.stored_form import convert_read_errors, schema_problem

Graph: TypeAlias = CompiledStateGraph[OrchestratorState, RunContext, RunInput, OrchestratorState]


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
        latest = await graph.aget_state(checkpoint_config(thread_id))
    warnings = [*state["warnings"], *_warn_of_effects(latest.values.get("effects", []), step)]
    own = {"max_retries": max_retries, "underway": NOTHING_UNDERWAY, "warnings": warnings}
    forked = cast("OrchestratorState", {**change(state), **own})
    # After the last step, the route of the planner would look for a further one.
    before = MONITOR if is_answer_due(state) else PLANNER
    await graph.aupdate_state(new, cast("dict[str, object]", forked), as_node=before)


def _warn_of_effects(effects: object, step: int) -> list[str]:
    """Returns a warning for each call of the copied run that the new run may make again."""
    listed = [mapping(each) for each in effects] if isinstance(effects, list) else []
    return [
        f"the run that was copied called {each.get('name')} in step {index + 1} ({each.get('outcome')}); "
        "this run may call it again"
        for each in listed
        if each.get("outcome") in LASTING
        and isinstance(index := each.get("step_index"), int)
        and index >= step
    ]


async def _state_before(
    graph: Graph, saver: BaseCheckpointSaver[str], thread_id: str, step: int
) -> OrchestratorState:
    """Reads the latest state that has no record of the step.

    The checkpoint that begins the step has none, unless the step is one of several parallel steps. Then the
    state before all of them is used.
    """
    checkpoints = {index: config async for index, config in _step_checkpoints(saver, thread_id)}
    # A parallel step that has begun is in the latest state, but is no current_step_index of a checkpoint.
    if step in checkpoints or _has_record(await _read_state(graph, checkpoint_config(thread_id)), step):
        for index in sorted((index for index in checkpoints if index <= step), reverse=True):
            state = await _read_state(graph, checkpoints[index])
            if not _has_record(state, step):
                return state
    raise ResumeError(
        f"thread {format_repr(thread_id, 80)} never reached step {step + 1} (index {step} in Python); "
        "`orchestrator show` and history.show() list its steps"
    )


async def _step_checkpoints(
    saver: BaseCheckpointSaver[str], thread_id: str
) -> AsyncIterator[tuple[int, RunnableConfig]]:
    """Yields the checkpoints of the latest run on a thread with their current step, the newest first."""
    latest = await saver.aget_tuple(checkpoint_config(thread_id))
    if latest is None:
        raise ResumeError(describe_unknown_thread(thread_id))
    if problem := schema_problem(thread_id, latest.metadata):
        raise ResumeError(problem)
    expected: RunnableConfig | None = latest.config
    async for checkpoint in saver.alist(checkpoint_config(thread_id)):
        if expected is None:
            return
        # Checkpoints that are no ancestors: a user may have continued the graph from an earlier one.
        if checkpoint.config["configurable"]["checkpoint_id"] != expected["configurable"]["checkpoint_id"]:
            continue
        if checkpoint.metadata["source"] == "input":
            return
        values = checkpoint.checkpoint["channel_values"]
        index = values.get("current_step_index")
        if values.get("status") == "executing" and isinstance(index, int):
            yield index, checkpoint.config
        expected = checkpoint.parent_config


async def _read_state(graph: Graph, config: RunnableConfig) -> OrchestratorState:
    snapshot = await graph.aget_state(config)
    return state_from_values(config["configurable"]["thread_id"], snapshot.values, 0)


def _has_record(state: OrchestratorState, step: int) -> bool:
    return any(record["step_index"] == step for record in state["results"])
