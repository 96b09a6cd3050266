"""planner_node: a task in, a plan out, and a clean start; or the rest of the task planned anew."""

from __future__ import annotations

import uuid
from typing import cast

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from agents.errors import PlanError
from orchestrator.errors import ConfigurationError
from orchestrator.judging.verdict import failed
from orchestrator.nodes.base import Node, context_of, counted
from orchestrator.planning.plan import PlannedSteps, read_steps
from orchestrator.planning.replan import planned, replan_request, replanned
from orchestrator.runtime.agent_methods import AgentMethod
from orchestrator.runtime.call import Raised, call_agent
from orchestrator.runtime.context import RunContext
from orchestrator.runtime.events import Planned, Replanned
from orchestrator.settings import Settings, check_task
from orchestrator.state.graph_state import OrchestratorState, Retries, StateUpdate, blank_state
from orchestrator.state.records import SupervisionMode
from orchestrator.supervision.modes import Modes


def planner_node(generate_plan: AgentMethod[object], modes: Modes, settings: Settings) -> Node:
    """The node over one planner."""

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        run = context_of(runtime, settings)
        again = state.get("status") == "executing" and state["underway"]["replan"] is not None
        before = state if again else blank_state(check_task(state.get("task")), settings.max_retries)
        update = await _planned(generate_plan, before, modes, settings, run)
        for event in _events(run.thread_id, before, update):
            runtime.stream_writer(event)
        return update if again else _fresh(before, update)

    return node


async def _planned(
    generate_plan: AgentMethod[object],
    state: OrchestratorState,
    modes: Modes,
    settings: Settings,
    run: RunContext,
) -> StateUpdate:
    again = state["underway"]["replan"] is not None
    asked = replan_request(state) if again else state["task"]
    called = await call_agent(generate_plan, asked, run=run, spent_before=state["usage"])
    spent = counted(state, called.spent)
    if isinstance(called, Raised):
        return {**spent, **failed(called.kind or "planner_error", called.message, error=called.error)}
    try:
        steps = read_steps(called.value, settings.max_plan_steps)
        supervised = modes.plan_modes(steps.texts, len(state["plan"]))
    except PlanError as error:
        return {**spent, **failed("plan_invalid", str(error), error=error)}
    except ConfigurationError as error:
        return {**spent, **failed("supervision_invalid", str(error), error=error)}
    made = _made({**state, **spent}, steps, supervised)
    if reason := run.budget.find_excess(spent["usage"]):
        return {**spent, **made, **failed("budget_exceeded", reason)}
    return {**spent, **made}


def _made(state: OrchestratorState, steps: PlannedSteps, modes: list[SupervisionMode] | None) -> StateUpdate:
    if state["underway"]["replan"] is not None:
        retries = state["retries"]
        once_more: Retries = {**retries, "replans": retries["replans"] + 1}
        return {**replanned(state, steps, modes), "retries": once_more}
    return {**planned(steps, modes, str(uuid.uuid4())), "status": "executing"}


def _events(thread_id: str, before: OrchestratorState, update: StateUpdate) -> list[Planned | Replanned]:
    if update.get("status") != "executing":
        return []
    plan, usage = tuple(update["plan"]), update["usage"]
    if before["underway"]["replan"] is None:
        return [Planned(thread_id=thread_id, plan=plan, usage=usage)]
    replaced = tuple(update["replaced"])
    return [Replanned(thread_id=thread_id, plan=plan, replaced=replaced, usage=usage)]


def _fresh(blank: OrchestratorState, update: StateUpdate) -> StateUpdate:
    """A clean start: whatever an earlier run left on the thread is replaced."""
    # LangGraph's way around reducers.
    nothing = {name: Overwrite(blank[name]) for name in ("context", "results", "warnings", "branches")}
    return cast("StateUpdate", {**blank, **update, **nothing})
