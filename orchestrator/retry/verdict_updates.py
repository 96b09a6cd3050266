"""State updates after a verdict: accept, retry, replan, keep the best attempt, ask a person, or fail."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal

from agents.credentials.masking import mask_keys
from agents.reply_types import GateDecision
from orchestrator.judging.feedback import explain_derived, findings_of
from orchestrator.retry.policy import RetryDecision, RetryPolicy, best_attempt, decide
from orchestrator.retry.step_request import read_reason
from orchestrator.state.current_step import current_records, format_entry
from orchestrator.state.graph_state import Failure, FailureKind, OrchestratorState, StateUpdate
from orchestrator.state.plain_values import plain_text
from orchestrator.state.records import Attempt, DecisionRecord, Json, RecordStatus
from orchestrator.supervision.human import build_question, describe_problems


def read_outcome(record: Attempt) -> Literal["validated", "failed", "needs_review"]:
    """Returns how the evaluation judged an execution."""
    status = None if record["report"] is None else record["report"]["status"]
    if status in ("passed", "warning"):
        return "validated"
    # Any other status means "needs_review", so that only a stated pass counts as one.
    return "failed" if status == "failed" else "needs_review"


def decide_next(state: OrchestratorState, record: Attempt, policy: RetryPolicy) -> RetryDecision:
    """Chooses the next action after a judged execution, within the bounds that the run has left.

    Args:
        state: The state before the update.
        record: The execution, with its report.
        policy: The policy of the orchestrator. The run's own ``max_retries`` replaces the one in it, so
            that a resumed run keeps its bound.
    """
    replans = max(0, policy.max_replans - state["retries"]["replans"])
    bounded = policy.model_copy(update={"max_retries": state["max_retries"], "max_replans": replans})
    return decide(bounded, _list_executions(state, _judge(record)))


def apply_decision(state: OrchestratorState, record: Attempt, decision: RetryDecision) -> StateUpdate:
    """Returns the update after a decision; asking a person is ``ask_person``.

    Args:
        state: The state before the update.
        record: The execution, with its report.
        decision: What ``decide_next`` returned for it.
    """
    if decision.use == "accept":
        return accept(state, add_decision(record, "accept", record.get("basis_reason") or decision.reason))
    judged = with_decision(_judge(record), decision)
    if decision.is_retry:
        return retry(state, judged, semantic=True)
    if decision.use == "replan":
        return _plan_again(state, judged, decision.reason)
    if decision.use == "accept_best":
        return _accept_best(state, judged, decision.reason)
    is_undecided = judged["status"] == "needs_review"
    kind: FailureKind = "needs_review" if is_undecided else "attempts_exhausted"
    return fail(state, judged, kind, _build_message(decision.reason, judged))


def with_decision(record: Attempt, decision: RetryDecision) -> Attempt:
    """Returns the execution with its decision, and the rule that decided."""
    options = {} if decision.rule is None else decision.rule.model_dump(mode="json")
    return add_decision(record, decision.use, decision.reason, decision.position, options)


def add_decision(
    record: Attempt,
    use: str,
    reason: str,
    rule: int | None = None,
    options: Mapping[str, Json] | None = None,
) -> Attempt:
    """Returns the execution with a decision; ``rule`` is the place of the rule that asked for it."""
    decision = DecisionRecord(use=use, reason=plain_text(reason), rule=rule, options={**(options or {})})
    return {**record, "decision": decision}


def accept(state: OrchestratorState, record: Attempt, status: RecordStatus = "validated") -> StateUpdate:
    """Returns the update after an execution that is accepted."""
    index = record["step_index"]
    # A parallel branch holds a single step; the join node decides whether the run goes on.
    is_last = state["underway"]["branch"] is not None or index + 1 == len(state["plan"])
    return {
        "results": [{**record, "status": status}],
        "context": format_entry(record),
        "current_step_index": index + 1,
        "attempts": 0,
        "warnings": [
            *(f"step {index + 1}: {warning}" for warning in record["warnings"]),
            *warn_of_refused_calls(state, record),
        ],
        "question": None,
        "status": "success" if is_last else "executing",
    }


_REFUSED: Final[Mapping[GateDecision, str]] = {
    "forbidden": "the contract forbids these calls, which did not run",
    "unknown": "it is not known whether these calls had their effect",
}


def warn_of_refused_calls(state: OrchestratorState, record: Attempt) -> list[str]:
    """Returns warnings if the executor called forbidden tools, or if the effect of a call is not known.

    Args:
        state: The state before the update.
        record: The last execution of the step.
    """
    calls = [call for execution in _list_executions(state, record) for call in execution["tool_calls"]]
    warnings = []
    for decision, words in _REFUSED.items():
        if names := dict.fromkeys(call["name"] for call in calls if call.get("gate") == decision):
            warnings.append(f"step {record['step_index'] + 1}: {words}: {', '.join(names)}")
    return warnings


def retry(state: OrchestratorState, record: Attempt, *, semantic: bool) -> StateUpdate:
    """Returns the update after an execution that is repeated.

    Args:
        state: The state before the update.
        record: The execution.
        semantic: True after a refusal, which counts as a retry; False after a correction by a supervisor
            or a person, which has its own bound.
    """
    retries = state["retries"]
    return {
        "results": [record],
        "attempts": state["attempts"] + 1,
        "retries": {**retries, "semantic": retries["semantic"] + semantic},
        "question": None,
    }


def fail(
    state: OrchestratorState,
    record: Attempt,
    kind: FailureKind,
    reason: str,
    error: BaseException | None = None,
) -> StateUpdate:
    """Returns the update after an execution that ends the run as failed."""
    return {
        "results": [record if "decision" in record else add_decision(record, "stop", reason)],
        "attempts": state["attempts"] + 1,
        "warnings": warn_of_refused_calls(state, record),
        "question": None,
        **build_failure(kind, reason, record["step_index"], error),
    }


def build_failure(
    kind: FailureKind, message: str, step_index: int | None = None, error: BaseException | None = None
) -> StateUpdate:
    """Build the update that ends a run as failed; its message has no credentials."""
    where = "" if step_index is None else f"step {step_index + 1}: "
    return {
        "status": "failed",
        "failure": Failure(
            kind=kind,
            message=mask_keys(plain_text(f"{where}{message}")),
            step_index=step_index,
            error_type=plain_text(type(error).__name__) if error is not None else None,
        ),
    }


def ask_person(
    record: Attempt, kind: Literal["supervision", "review"], text: str, now: datetime
) -> StateUpdate:
    """Returns the update that asks a person about an execution."""
    findings = findings_of(record["report"]) if record["report"] else []
    triggers = record["supervision"]["triggers"] if record["supervision"] else []
    problems = describe_problems(triggers, findings)
    question = build_question(record, kind, text, problems, now)
    return {"results": [record], "question": question}


def _judge(record: Attempt) -> Attempt:
    return {**record, "status": read_outcome(record)}


def _list_executions(state: OrchestratorState, judged: Attempt) -> list[Attempt]:
    """Returns the executions of the current step, with this one as it was judged."""
    return [*(other for other in current_records(state) if other["attempt"] != judged["attempt"]), judged]


def _build_message(reason: str, record: Attempt) -> str:
    feedback = record["verdict"]["feedback"] if record["verdict"] else ""
    derived = explain_derived(record["report"]) if record["report"] else []
    return "; ".join([f"{reason}: {feedback}", *derived])


def _plan_again(state: OrchestratorState, record: Attempt, reason: str) -> StateUpdate:
    # The planner's new steps are given to the executor, so the answer is masked for it, too.
    why = f"step {record['step_index'] + 1}: {reason}: {read_reason(record)}"
    return {
        "results": [record],
        "attempts": state["attempts"] + 1,
        "underway": {**state["underway"], "replan": why},
    }


def _accept_best(state: OrchestratorState, record: Attempt, reason: str) -> StateUpdate:
    best = best_attempt(_list_executions(state, record)) or record
    warning = f"kept as the best attempt: {reason}"
    update = accept(state, {**best, "warnings": [*best["warnings"], warning]}, "warning")
    others = [] if best["attempt"] == record["attempt"] else [record]
    return {**update, "results": [*others, *update["results"]]}
