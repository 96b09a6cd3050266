"""Helpers of the nodes: the run's context, totals after a call, the budget check and events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias, TypeVar, cast

from langgraph.runtime import Runtime
from langgraph.types import StreamWriter

from agents.loop.effects import utc_now
from evaluation.contract.requirements import Contract
from orchestrator.events import StepJudged, StepRetried
from orchestrator.judging.feedback import Expectations, read_expectations
from orchestrator.judging.judging_calls import Evaluated
from orchestrator.retry.policy import RetryPolicy
from orchestrator.retry.step_request import build_instruction
from orchestrator.retry.verdict_updates import (
    apply_decision,
    ask_person,
    build_failure,
    decide_next,
    fail,
    with_decision,
)
from orchestrator.runtime.agent_methods import AgentMethod
from orchestrator.runtime.call import Raised, Returned, RunContext, Spent, call_agent
from orchestrator.settings import Settings
from orchestrator.state.current_step import list_effects, read_correction
from orchestrator.state.evaluation_report import failed_kinds
from orchestrator.state.graph_state import GROWING, OrchestratorState, StateUpdate, merge_records
from orchestrator.state.records import NO_USAGE, Attempt, Usage, VerdictRecord, add_usage

T = TypeVar("T")


Node: TypeAlias = Callable[[OrchestratorState, RunContext, StreamWriter], Awaitable[StateUpdate]]
"""A node of the graph: takes the state, the run and what emits an event; returns the fields that change."""


def get_context(runtime: Runtime[RunContext], settings: Settings, state: OrchestratorState) -> RunContext:
    """Returns the context of the run."""
    # LangGraph's server and other hosts invoke the graph without a context, or with a dict of their own.
    # Bounds on the time of the run and of a step do not hold there, because each node gets a new clock.
    context: object = runtime.context
    run = context if isinstance(context, RunContext) else settings.new_context("")
    # The thread of a run that begins may hold the usage of an earlier one.
    if state.get("status") == "executing":
        run.count_usage(state["usage"])
    return run


def select_changes(state: OrchestratorState, update: StateUpdate) -> StateUpdate:
    """Returns the update with the effects of its executions, and without the fields that stay as they are.

    A store writes a row for each field.
    """
    if isinstance(update.get("results"), list) and update["results"]:
        records = merge_records(state["results"], update["results"])
        update = {**update, "effects": list_effects(records)}
    changes = {name: value for name, value in update.items() if _is_change(state, name, value)}
    return cast("StateUpdate", changes)


_FORM: Final = frozenset({"format", "length", "language"})
"""The kinds of failures that are about the form of an output."""


def _is_change(state: OrchestratorState, name: str, value: object) -> bool:
    if name in GROWING:
        return bool(value)
    return name not in state or cast("dict[str, object]", state)[name] != value


def with_totals(state: OrchestratorState, spent: Spent | Evaluated) -> StateUpdate:
    """Returns the run's totals after a call, or after an evaluation."""
    return {
        "usage": add_usage(state["usage"], spent.usage),
        "retries": {**state["retries"], "transport": state["retries"]["transport"] + spent.transport_retries},
    }


def stop_if_over_budget(update: StateUpdate, run: RunContext, step_index: int | None = None) -> StateUpdate:
    """Returns the update, as a failure if the run would go on and has exceeded its budget."""
    reason = run.budget.find_excess(update["usage"])
    # A run that has ended keeps its own result: the budget only prevents further calls.
    if reason is None or update.get("status", "executing") != "executing":
        return update
    return {**update, "question": None, **build_failure("budget_exceeded", reason, step_index)}


def next_state(state: OrchestratorState, record: Attempt, settings: Settings) -> StateUpdate:
    """Returns the update after the evaluation of an execution; asks a person if the policy says so."""
    policy = _choose_policy(record, settings)
    decision = decide_next(state, record, policy)
    if decision.use != "ask_human":
        return apply_decision(state, record, decision)
    text = record["verdict"]["feedback"] if record["verdict"] else "There is no verdict."
    asked = with_decision(record, decision)
    return ask_person(asked, "review", text, utc_now())


def _choose_policy(record: Attempt, settings: Settings) -> RetryPolicy:
    """Returns the policy; a whole task whose form alone fails is not planned: no part of it has that form."""
    policy, report = settings.options["retry_policy"], record["report"]
    kinds = failed_kinds(report) if report else ()
    is_form = bool(kinds) and _FORM.issuperset(kinds) and settings.options["planning"] == "auto"
    return policy.model_copy(update={"max_replans": 0}) if is_form else policy


def with_judge_usage(record: Attempt, usage: Usage) -> Attempt:
    """Returns the execution with the usage of a call that judged or supervised it."""
    return {**record, "judge_usage": add_usage(record["judge_usage"] or NO_USAGE, usage)}


async def call_supervision(  # noqa: PLR0917
    method: AgentMethod[T],
    record: Attempt,
    state: OrchestratorState,
    run: RunContext,
    write: StreamWriter,
    apply: Callable[[Attempt, T], StateUpdate],
    recover: Callable[[Raised], T] | None = None,
) -> StateUpdate:
    """Calls an agent that supervises an execution, emits the verdicts and returns the update.

    Args:
        method: The call.
        record: The execution.
        state: The state before the call.
        run: The run.
        write: Takes the events.
        apply: Returns the update for the execution and the answer.
        recover: Returns the answer that replaces an error of the agent. Without it, an error ends the run.
            A bound of the run ends it in any case.
    """
    index = record["step_index"]
    called = await call_agent(method, run=run, step_index=index)
    record = with_judge_usage(record, called.spent.usage)
    if isinstance(called, Returned):
        update = apply(record, called.value)
    elif recover is not None and called.kind is None:
        update = apply(record, recover(called))
    else:
        unjudged: Attempt = {**record, "status": "needs_review"}
        update = fail(state, unjudged, called.kind or "supervisor_error", called.message, called.error)
    update = stop_if_over_budget({**with_totals(state, called.spent), **update}, run, index)
    emit_verdicts(write, run.thread_id, update)
    return update


def emit_verdicts(write: StreamWriter, thread_id: str, update: StateUpdate) -> None:
    """Emits an event for each verdict in an update, and one if the step is repeated."""
    judged = [record for record in update.get("results", []) if record["status"] != "pending_validation"]
    for record in judged:
        verdict = record["verdict"] or no_verdict("none was recorded")
        write(StepJudged(thread_id=thread_id, record=record, verdict=verdict))
    # Without a status the run goes on with this step; "underway" then announces a replan.
    if judged and update.get("status") is None and "underway" not in update:
        record = judged[-1]
        feedback = record["verdict"]["feedback"] if record["verdict"] else ""
        write(
            StepRetried(
                thread_id=thread_id,
                step_index=record["step_index"],
                attempt=record["attempt"] + 1,
                feedback=read_correction(record) or feedback,
                decision=record.get("decision"),
            )
        )


def find_hidden_answer(state: OrchestratorState, contract: Contract) -> Expectations:
    """Returns the expected answer that no agent of the run is told."""
    return read_expectations(contract, read_shown(state))


def read_shown(state: OrchestratorState) -> str:
    """Returns the task and the instruction of the step, whose words are no secret."""
    return f"{state['task']}\n{build_instruction(state)}"


def no_verdict(reason: str) -> VerdictRecord:
    """Build the verdict of a monitor that gave none: never a success."""
    return VerdictRecord(success=False, feedback=f"The monitor gave no verdict: {reason}")
