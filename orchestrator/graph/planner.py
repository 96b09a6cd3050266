"""planner_node: plans a task and starts the run clean, or replans the rest of it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from langgraph.types import Overwrite, StreamWriter

from agents.errors import PlanError
from agents.sync import run_in_thread
from orchestrator.errors import ConfigurationError, ContractFunctionError
from orchestrator.events import Planned, Replanned
from orchestrator.graph.node_types import Node, stop_if_over_budget, with_totals
from orchestrator.judging.contract_choice import Contracts
from orchestrator.planning.parallel import build_plan_update, build_replan_request, build_replan_update
from orchestrator.planning.plan import PlannedSteps, check_complete, read_steps
from orchestrator.retry.verdict_updates import build_failure
from orchestrator.runtime.agent_methods import AgentMethod
from orchestrator.runtime.call import Raised, Returned, Spent, call_agent
from orchestrator.runtime.call_recorder import CallObserver
from orchestrator.runtime.run_context import RunContext
from orchestrator.settings import Settings, check_task
from orchestrator.state.current_step import extend_derived, find_derived_output
from orchestrator.state.graph_state import (
    GROWING,
    OrchestratorState,
    Retries,
    StateUpdate,
    blank_state,
)
from orchestrator.state.records import SupervisionMode
from orchestrator.state.usage import NO_USAGE
from orchestrator.supervision.modes import Modes
from orchestrator.task_contracts import TaskContracts


def planner_node(
    generate_plan: AgentMethod[object],
    modes: Modes,
    settings: Settings,
    derivation: TaskContracts | None,
    contracts: Contracts,
) -> Node:
    """Returns the node that asks the planner, and derives the contracts of the task and of the steps."""

    async def node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        is_replan = state.get("status") == "executing" and _is_replan(state)
        # A new run starts from a blank state: the thread may hold the state of an earlier one.
        before = state if is_replan else blank_state(check_task(state.get("task")), settings.max_retries)
        observer = CallObserver(write, run.thread_id, "planner")
        if not is_replan and settings.options["planning"] != "always":
            # A task that is tried as a whole first is its own plan.
            called: Returned[object] | Raised = Returned([before["task"]], Spent(NO_USAGE, []))
        else:
            request = build_replan_request(before) if is_replan else before["task"]
            called = await call_agent(generate_plan, request, run=run, observer=observer)
        update = await _Plan(modes, settings, derivation, contracts, before, run).read(called)
        for event in _build_events(run.thread_id, before, update):
            write(event)
        return update if is_replan else _replace_all(before, update)

    return node


@dataclass(frozen=True, slots=True)
class _Plan:
    """A plan of a run, or a new plan for the rest of it; the fields are as of ``planner_node``."""

    modes: Modes
    settings: Settings
    derivation: TaskContracts | None
    contracts: Contracts
    state: OrchestratorState
    run: RunContext

    async def read(self, called: Returned[object] | Raised) -> StateUpdate:
        """Returns the update for the answer of the planner."""
        state, totals = self.state, with_totals(self.state, called.spent)
        if isinstance(called, Raised) and not isinstance(called.error, PlanError):
            kind = called.kind or "planner_error"
            return {**totals, **build_failure(kind, called.message, error=called.error)}
        try:
            check_complete(called.spent.cut_off)
            if isinstance(called, Raised):
                raise called.error
            steps = read_steps(called.value, self.settings.options["max_plan_steps"])
            self.contracts.check_plan(steps.contracts)
            modes = self.modes.plan_modes(steps.texts, steps.modes, len(state["plan"]))
        except PlanError as error:
            return {**totals, **build_failure("plan_invalid", str(error), error=error)}
        except ConfigurationError as error:
            return {**totals, **build_failure("supervision_invalid", str(error), error=error)}
        is_auto = self.settings.options["planning"] == "auto"
        if is_auto and state["plan"] == [state["task"]] and len(steps.texts) == 1:
            # A single step breaks nothing up: it would only repeat what failed, as another text.
            return {**totals, **build_failure("attempts_exhausted", state["underway"]["replan"] or "")}
        derived = await self._derive_contracts({**state, **totals}, steps.texts)
        if derived.get("status") == "failed":
            return {**totals, **derived}
        update = _build_update({**state, **totals, "declared": derived["declared"]}, steps, modes)
        return stop_if_over_budget({**totals, **derived, **update}, self.run)

    async def _derive_contracts(self, state: OrchestratorState, steps: Sequence[str]) -> StateUpdate:
        """Returns the derived contracts in ``declared``, or the failure."""
        declared, rules = state["declared"], self.derivation
        if rules is None:
            return {"declared": extend_derived(declared, [None] * len(steps))}
        # In a thread, because a long text takes a second.
        if _is_replan(state):
            kept = find_derived_output(state)
            own = await run_in_thread(lambda: rules.derive_replan(steps, kept))
            return {"declared": extend_derived(declared, own)}
        try:
            derived = await run_in_thread(lambda: rules.derive_plan(state["task"], steps))
        except ContractFunctionError as error:
            return build_failure("contract_error", str(error), error=error)
        return {"declared": {**declared, "derived": derived}}


def _is_replan(state: OrchestratorState) -> bool:
    return state["underway"]["replan"] is not None


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
    new = cast("dict[str, object]", {**blank, **update})
    added = {name: Overwrite(new[name]) for name in GROWING}
    return cast("StateUpdate", {**blank, **update, **added})
