"""What a call spent, on the run and on the execution that it was about."""

from __future__ import annotations

from orchestrator.judging.verdict import failed
from orchestrator.retry.settling import with_transport
from orchestrator.runtime.call import Spent
from orchestrator.runtime.context import RunContext
from orchestrator.state.graph_state import NO_USAGE, OrchestratorState, StateUpdate, StepRecord, Usage
from orchestrator.state.usage import add_usage


def counted(state: OrchestratorState, spent: Spent) -> StateUpdate:
    """The run's totals after a call."""
    return {
        "usage": add_usage(state["usage"], spent.usage),
        "retries": with_transport(state["retries"], spent.transport_retries),
    }


def bounded(update: StateUpdate, run: RunContext, step_index: int) -> StateUpdate:
    """The update after a call, unless the run goes on and has spent more than it may."""
    reason = run.budget.exceeded(update["usage"])
    if reason is None or update.get("status", "executing") != "executing":
        return update
    return {**update, "question": None, **failed("budget_exceeded", reason, step_index)}


def judged_by(record: StepRecord, usage: Usage) -> StepRecord:
    """The execution after a call that judged or supervised it."""
    return {**record, "judge_usage": add_usage(record["judge_usage"] or NO_USAGE, usage)}
