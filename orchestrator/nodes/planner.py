"""planner_node: plans a task and starts the run clean, or replans the rest of it."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import cast

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from agents.errors import PlanError
from orchestrator.errors import ConfigurationError, ContractFunctionError
from orchestrator.judging.contracts import Contracts
from orchestrator.judging.verdict import build_failure
from orchestrator.nodes.base import Node, get_context, stop_if_over_budget, with_totals
from orchestrator.planning.plan import PlannedSteps, check_complete, read_steps
from orchestrator.planning.replan import build_plan_update, build_replan_request, build_replan_update
from orchestrator.runtime.agent_methods import AgentMethod
from orchestrator.runtime.call import Raised, Returned, Spent, call_agent
from orchestrator.runtime.context import RunContext
from orchestrator.runtime.events import Planned, Replanned
from orchestrator.runtime.recording.call_observer import CallObserver
from orchestrator.settings import Settings, check_task
from orchestrator.state.current_step import extend_derived, find_derived_output
from orchestrator.state.graph_state import (
    DerivedContracts,
    OrchestratorState,
    Retries,
    StateUpdate,
    blank_state,
)
from orchestrator.state.supervision_records import SupervisionMode
from orchestrator.state.usage import NO_USAGE
from orchestrator.supervision.modes import Modes
from orchestrator.task_contracts.source import TaskContracts


def planner_node(
    generate_plan: AgentMethod[object],
    modes: Modes,
    settings: Settings,
    derivation: TaskContracts | None = None,
    contracts: Contracts | None = None,
) -> Node:
    """Returns the node that asks the planner, and derives the contracts of the task and of the steps."""
    stated = Contracts(None) if contracts is None else contracts

    async def node(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        is_replan = state.get("status") == "executing" and _is_replan(state)
        # A new run starts from a blank state: the thread may hold the state of an earlier one.
        before = state if is_replan else blank_state(check_task(state.get("task")), settings.max_retries)
        run = get_context(runtime, settings, before)
        observer = CallObserver(runtime.stream_writer, run.thread_id, "planner")
        call = partial(call_agent, generate_plan, run=run, observer=observer)
        update = await _make_plan(call, before, modes, settings, run, derivation, stated)
        for event in _build_events(run.thread_id, before, update):
            runtime.stream_writer(event)
        return update if is_replan else _replace_all(before, update)

    return node


async def _make_plan(  # noqa: PLR0917
    call_planner: Callable[[str], Awaitable[Returned[object] | Raised]],
    state: OrchestratorState,
    modes: Modes,
    settings: Settings,
    run: RunContext,
    contracts: TaskContracts | None,
    stated: Contracts,
) -> StateUpdate:
    called = await _call_planner(call_planner, state, settings)
    totals = with_totals(state, called.spent)
    if isinstance(called, Raised):
        return {**totals, **build_failure(called.kind or "planner_error", called.message, error=called.error)}
    try:
        check_complete(called.spent.cut_off)
        steps = read_steps(called.value, settings.max_plan_steps)
        warnings = stated.review_plan(steps.contracts)
        step_modes = modes.plan_modes(steps.texts, steps.modes, len(state["plan"]))
    except PlanError as error:
        return {**totals, **build_failure("plan_invalid", str(error), error=error)}
    except ConfigurationError as error:
        return {**totals, **build_failure("supervision_invalid", str(error), error=error)}
    if settings.planning == "auto" and state["plan"] == [state["task"]] and len(steps.texts) == 1:
        # A single step breaks nothing up: it would only repeat what failed, as another text.
        return {**totals, **build_failure("attempts_exhausted", state["underway"]["replan"] or "")}
    derived = await _derive_contracts(contracts, {**state, **totals}, steps.texts, run)
    if derived.get("status") == "failed":
        return {**totals, **derived}
    update = _build_update({**state, **totals, "declared": derived["declared"]}, steps, step_modes)
    stated_once = [] if _is_replan(state) else stated.warnings
    all_warnings = [*stated_once, *warnings, *derived.get("warnings", [])]
    return stop_if_over_budget({**totals, **derived, **update, "warnings": all_warnings}, run)


async def _call_planner(
    call_planner: Callable[[str], Awaitable[Returned[object] | Raised]],
    state: OrchestratorState,
    settings: Settings,
) -> Returned[object] | Raised:
    """Asks the planner; a task that is tried as a whole first is its own plan."""
    if _is_replan(state):
        return await call_planner(build_replan_request(state))
    if settings.planning == "always":
        return await call_planner(state["task"])
    return Returned([state["task"]], Spent(NO_USAGE, []))


def _is_replan(state: OrchestratorState) -> bool:
    return state["underway"]["replan"] is not None


async def _derive_contracts(
    contracts: TaskContracts | None, state: OrchestratorState, steps: Sequence[str], run: RunContext
) -> StateUpdate:
    """Returns the totals, with the derived contracts in ``declared``, or the failure."""
    if contracts is None:
        return {"declared": extend_derived(state["declared"], [None] * len(steps))}
    try:
        derivation = await (
            contracts.derive_steps(steps, find_derived_output(state), run)
            if _is_replan(state)
            else contracts.derive_plan(state["task"], steps, run)
        )
    except ContractFunctionError as error:
        return build_failure("contract_error", str(error), error=error)
    totals: StateUpdate = {}
    for spent in derivation.spent:
        totals = with_totals({**state, **totals}, spent)
    if (raised := derivation.error) is not None:
        kind = raised.kind or "contract_error"
        return {**totals, **build_failure(kind, raised.message, error=raised.error)}
    if _is_replan(state):
        return {**totals, "declared": extend_derived(state["declared"], derivation.steps)}
    warnings = [f"task: {warning}" for warning in derivation.warnings]
    derived = DerivedContracts(output=derivation.output, steps=list(derivation.steps))
    return {**totals, "declared": {**state["declared"], "derived": derived}, "warnings": warnings}


def _build_update(
    state: OrchestratorState, steps: PlannedSteps, modes: list[SupervisionMode | None] | None
) -> StateUpdate:
    if _is_replan(state):
        counters: Retries = {**state["retries"], "replans": state["retries"]["replans"] + 1}
        return {**build_replan_update(state, steps, modes), "retries": counters}
    update = build_plan_update(state["declared"], steps, modes, str(uuid.uuid4()))
    return {**update, "status": "executing"}


def _build_events(
    thread_id: str, before: OrchestratorState, update: StateUpdate
) -> list[Planned | Replanned]:
    if update.get("status") != "executing":
        return []
    plan, usage = tuple(update["plan"]), update["usage"]
    if not _is_replan(before):
        derived = update["declared"].get("derived")
        return [Planned(thread_id=thread_id, plan=plan, usage=usage, derived=derived)]
    replaced = tuple(update["replaced"])
    return [Replanned(thread_id=thread_id, plan=plan, replaced=replaced, usage=usage)]


def _replace_all(blank: OrchestratorState, update: StateUpdate) -> StateUpdate:
    """Returns the update that replaces everything an earlier run left on the thread."""
    # Overwrite bypasses the reducers, which would add to the old values.
    names = ("context", "results", "synthesis", "warnings", "branches")
    new = cast("dict[str, object]", {**blank, **update})
    added = {name: Overwrite(new[name]) for name in names}
    return cast("StateUpdate", {**blank, **update, **added})
