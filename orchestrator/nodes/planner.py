"""planner_node: a task in, a plan out, and a clean start."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from agents.errors import PlanError
from orchestrator.calling import Raised, call_agent
from orchestrator.config import Settings, check_task
from orchestrator.events import Planned
from orchestrator.foreign_values import read_text, shown, text_of
from orchestrator.judging import failed
from orchestrator.methods import AgentMethod
from orchestrator.nodes.node import Node, context_of
from orchestrator.run_context import RunContext
from orchestrator.state import NO_USAGE, OrchestratorState, StateUpdate, blank_state


def planner_node(generate_plan: AgentMethod[object], settings: Settings) -> Node:
    """The node over one planner."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = context_of(runtime, settings)
        task = check_task(state.get("task"))
        update = await _plan(generate_plan, task, run, settings)
        if update["status"] == "executing":
            plan, usage = tuple(update["plan"]), update["usage"]
            runtime.stream_writer(Planned(thread_id=run.thread_id, plan=plan, usage=usage))
        return update

    return node


async def _plan(
    generate_plan: AgentMethod[object], task: str, run: RunContext, settings: Settings
) -> StateUpdate:
    called = await call_agent(generate_plan, task, run=run, spent_before=NO_USAGE)
    fresh = _fresh(task, settings)
    fresh["usage"] = called.spent.usage
    if isinstance(called, Raised):
        return {**fresh, **failed(called.kind or "planner_error", called.message, error=called.error)}
    try:
        fresh["plan"] = read_plan(called.value, settings.max_plan_steps)
    except PlanError as error:
        return {**fresh, **failed("plan_invalid", str(error), error=error)}
    if reason := run.budget.exceeded(called.spent.usage):
        return {**fresh, **failed("budget_exceeded", reason)}
    return {**fresh, "status": "executing"}


def read_plan(plan: object, max_steps: int) -> list[str]:
    """Check what a planner returned.

    Raises:
        PlanError: No list of texts, no step, an empty step, or more than ``max_steps``.
    """
    try:
        return _steps(plan, max_steps)
    except PlanError:
        raise
    except Exception as error:
        # A foreign sequence's own code.
        raise PlanError(f"the plan cannot be read: {type(error).__name__}: {text_of(error)}") from error


def _steps(plan: object, max_steps: int) -> list[str]:
    if not isinstance(plan, Sequence) or isinstance(plan, str | bytes):
        raise PlanError(f"the planner returned a {type(plan).__name__}; a list of step texts is wanted")
    if len(plan) > max_steps:
        raise PlanError(f"the plan has {len(plan)} steps; max_plan_steps is {max_steps}")
    # A foreign sequence may hold more than its length says, or less.
    steps = [_step(number, item) for number, item in enumerate(islice(plan, max_steps), 1)]
    if not steps:
        raise PlanError("the plan is empty; state the task more clearly, or use a more capable model")
    return steps


def _step(number: int, item: object) -> str:
    text = read_text(item)
    if text is None or not text.strip():
        raise PlanError(f"step {number} of the plan is {shown(item, 80)}; a text is wanted")
    return text


def _fresh(task: str, settings: Settings) -> StateUpdate:
    """A clean start: whatever an earlier run left on the thread is replaced."""
    blank = blank_state(task, settings.max_retries)
    return {**blank, "results": Overwrite([])}  # type: ignore[typeddict-item] # LangGraph's way around a reducer
