"""planner_node: asks for a plan, and derives the contracts of the task and of the steps."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from langgraph.types import StreamWriter

from agents.errors import PlanError
from agents.sync import run_in_thread
from orchestrator.errors import ConfigurationError, ContractFunctionError
from orchestrator.events import Planned, Replanned
from orchestrator.judging.contract_options import TaskContracts
from orchestrator.planning.plan import (
    PlannedSteps,
    build_replan_request,
    build_replan_update,
    check_complete,
    read_steps,
)
from orchestrator.retry.verdict_updates import build_failure, count_calls, stop_if_over_budget
from orchestrator.runtime.bounded_call import AgentMethod, Node, Raised, Returned, RunContext, call_agent
from orchestrator.runtime.call_recorder import CallObserver
from orchestrator.settings import Modes, Settings, check_task
from orchestrator.state.graph_state import (
    Declared,
    OrchestratorState,
    StateUpdate,
    blank_state,
    overwrite_growing,
)
from orchestrator.state.records import DerivedContract, SupervisionMode


def planner_node(
    generate_plan: AgentMethod[object],
    modes: Modes,
    settings: Settings,
    derivation: TaskContracts | None,
) -> Node:
    """Returns the node that asks the planner, and derives the contracts of the task and of the steps."""

    async def node(state: OrchestratorState, run: RunContext, write: StreamWriter) -> StateUpdate:
        is_replan = state.get("status") == "executing" and _is_replan(state)
        # A new run starts from a blank state: the thread may hold the state of an earlier one.
        before = state if is_replan else blank_state(check_task(state.get("task")), settings.max_retries)
        observer = CallObserver(write, run.thread_id, "planner")
        plan = _Plan(modes, settings, derivation, before, run)
        if not is_replan and settings.options["planning"] != "always":
            # A task that is tried as a whole first is its own plan.
            update = await plan.complete({"usage": before["usage"]}, PlannedSteps([before["task"]], None))
        else:
            request = build_replan_request(before) if is_replan else before["task"]
            update = await plan.read(await call_agent(generate_plan, request, run=run, observer=observer))
        if update.get("status") == "executing":
            write(_build_event(run.thread_id, before, update))
        # A plan that is not a re-plan replaces everything that an earlier run left on the thread.
        return update if is_replan else overwrite_growing({**before, **update})

    return node


@dataclass(frozen=True, slots=True)
class _Plan:
    """A plan of a run, or a new plan for the rest of it; the fields are as of ``planner_node``."""

    modes: Modes
    settings: Settings
    derivation: TaskContracts | None
    state: OrchestratorState
    run: RunContext

    async def read(self, called: Returned[object] | Raised) -> StateUpdate:
        """Returns the update for the answer of the planner."""
        state, totals = self.state, count_calls(self.state, called.spent)
        if isinstance(called, Raised) and not isinstance(called.error, PlanError):
            kind = called.kind or "planner_error"
            return {**totals, **build_failure(kind, called.message, error=called.error)}
        try:
            check_complete(called.spent.cut_off)
            if isinstance(called, Raised):
                raise called.error
            steps = read_steps(called.value, self.settings.options["max_plan_steps"])
        except PlanError as error:
            return {**totals, **build_failure("plan_invalid", str(error), error=error)}
        is_auto = self.settings.options["planning"] == "auto"
        if is_auto and state["plan"] == [state["task"]] and len(steps.texts) == 1:
            # A single step breaks nothing up: it would only repeat what failed, as another text.
            return {**totals, **build_failure("attempts_exhausted", state["underway"]["replan"] or "")}
        return stop_if_over_budget(await self.complete(totals, steps), self.run)

    async def complete(self, totals: StateUpdate, steps: PlannedSteps) -> StateUpdate:
        """Returns the update for the steps of a plan, with their modes and contracts."""
        state = self.state
        try:
            modes = self.modes.plan_modes(steps.texts, steps.modes, len(state["plan"]))
            declared = await self._derive_contracts(steps.texts)
        except ContractFunctionError as error:
            return {**totals, **build_failure("contract_error", str(error), error=error)}
        except ConfigurationError as error:
            return {**totals, **build_failure("supervision_invalid", str(error), error=error)}
        before = cast("OrchestratorState", {**state, **totals, "declared": declared})
        return {**totals, **_build_update(before, steps, modes)}

    async def _derive_contracts(self, steps: Sequence[str]) -> Declared:
        """Returns the declarations with the contracts that are derived from the task and the new steps."""
        declared, rules, task = self.state["declared"], self.derivation, self.state["task"]
        derived = declared.get("derived")
        # In a thread, because a long text takes a second.
        if derived is not None:
            kept, own = derived["output"], list[DerivedContract | None]([None] * len(steps))
            if rules is not None:
                own = await run_in_thread(partial(rules.derive_steps, steps, kept))
            return {**declared, "derived": {**derived, "steps": [*derived["steps"], *own]}}
        if rules is None or _is_replan(self.state):
            return declared
        return {**declared, "derived": await run_in_thread(partial(rules.derive_plan, task, steps))}


def _is_replan(state: OrchestratorState) -> bool:
    return state["underway"]["replan"] is not None


def _build_update(
    state: OrchestratorState, steps: PlannedSteps, modes: list[SupervisionMode | None] | None
) -> StateUpdate:
    if _is_replan(state):
        return build_replan_update(state, steps, modes)
    own = {**state["declared"], "run_id": str(uuid.uuid4()), "modes": modes}
    return {"plan": steps.texts, "declared": own, "status": "executing"}


def _build_event(thread_id: str, before: OrchestratorState, update: StateUpdate) -> Planned | Replanned:
    plan, usage = tuple(update["plan"]), update["usage"]
    if _is_replan(before):
        return Replanned(thread_id=thread_id, plan=plan, replaced=tuple(update["replaced"]), usage=usage)
    derived = update["declared"].get("derived")
    return Planned(thread_id=thread_id, plan=plan, usage=usage, derived=derived)
