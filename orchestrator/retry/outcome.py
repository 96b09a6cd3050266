"""From a judged execution to the next state: pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, Protocol

from orchestrator.judging.feedback import findings_of, report_score
from orchestrator.judging.verdict import failed
from orchestrator.retry.policy import Outcome, RetryDecision, RetryPolicy
from orchestrator.retry.stalls import find_stall
from orchestrator.state.current_step import context_entry, current_records, refusals
from orchestrator.state.graph_state import (
    FailureKind,
    OrchestratorState,
    RecordStatus,
    Retries,
    StateUpdate,
    StepRecord,
)
from orchestrator.supervision.human import build_question
from orchestrator.supervision.policy import SupervisionPolicy

_STATUS: Final[Mapping[Outcome, RecordStatus]] = {
    "validated": "validated",
    "refused": "failed",
    "needs_review": "needs_review",
}


def settle(
    state: OrchestratorState, record: StepRecord, outcome: Outcome, policy: RetryPolicy
) -> StateUpdate:
    """The update that follows from a judged execution.

    Args:
        state: Before it.
        record: The execution, with its verdict.
        outcome: How it was judged.
        policy: Decides on what was not validated.
    """
    if outcome == "validated":
        return accepted(state, record)
    settled: StepRecord = {**record, "status": _STATUS[outcome]}
    step = _with(current_records(state), settled)
    decision = _decided(step, outcome, state["max_retries"], policy)
    if decision.again:
        return again(state, settled, semantic=True)
    unjudged = outcome == "needs_review" and policy.needs_review == "fail"
    return given_up(state, settled, step, decision.reason, policy, unjudged=unjudged)


def accepted(state: OrchestratorState, record: StepRecord, status: RecordStatus = "validated") -> StateUpdate:
    """The update after an execution that stands."""
    index = record["step_index"]
    alone = state["underway"]["branch"] is not None
    last = alone or index + 1 == len(state["plan"])
    return {
        "results": [{**record, "status": status}],
        "context": context_entry(record),
        "current_step_index": index + 1,
        "attempts": 0,
        "warnings": _warned(record),
        "question": None,
        "status": "success" if last else "executing",
    }


def again(state: OrchestratorState, record: StepRecord, *, semantic: bool) -> StateUpdate:
    """The update after an execution that is done again; ``semantic``: since it failed by itself."""
    retries = state["retries"]
    return {
        "results": [record],
        "attempts": state["attempts"] + 1,
        "retries": {**retries, "semantic": retries["semantic"] + semantic},
        "question": None,
    }


def ended(
    state: OrchestratorState,
    record: StepRecord,
    kind: FailureKind,
    reason: str,
    error: BaseException | None = None,
) -> StateUpdate:
    """The update after an execution that ends the run."""
    return {
        "results": [record],
        "attempts": state["attempts"] + 1,
        "question": None,
        **failed(kind, reason, record["step_index"], error),
    }


def given_up(
    state: OrchestratorState,
    record: StepRecord,
    step: Sequence[StepRecord],
    reason: str,
    policy: RetryPolicy,
    *,
    unjudged: bool,
) -> StateUpdate:
    """The update after a step's last execution: plan anew, keep the best, or end.

    Args:
        state: Before it.
        record: The execution, settled.
        step: All executions of the step, this one included.
        reason: Why it is not tried again.
        policy: Says what may be done instead.
        unjudged: Whether it ends for want of a verdict.
    """
    feedback = record["verdict"]["feedback"] if record["verdict"] else ""
    said = feedback.casefold().startswith(reason)  # that the monitor gave no verdict
    message = f"{reason}{feedback[len(reason) :]}" if said else f"{reason}: {feedback}"
    if unjudged:
        return ended(state, record, "needs_review", message)
    if state["retries"]["replans"] < policy.max_replans:
        return {
            "results": [record],
            "attempts": state["attempts"] + 1,
            "underway": {**state["underway"], "replan": f"step {record['step_index'] + 1}: {message}"},
        }
    best = _best(step) if policy.exhausted == "accept_best" else None
    if best is None:
        return ended(state, record, "attempts_exhausted", message)
    warned: StepRecord = {**best, "warnings": [*best["warnings"], f"kept as the best attempt: {reason}"]}
    kept = accepted(state, warned, "warning")
    others = [] if best["attempt"] == record["attempt"] else [record]
    return {**kept, "results": [*others, *kept["results"]]}


def with_transport(retries: Retries, repeated: int) -> Retries:
    """The counters after calls that were made again."""
    return {**retries, "transport": retries["transport"] + repeated}


def _decided(
    step: Sequence[StepRecord], outcome: Outcome, max_retries: int, policy: RetryPolicy
) -> RetryDecision:
    decision = policy.decide(outcome, refusals(step), max_retries)
    if not decision.again or policy.stall is None:
        return decision
    reason = find_stall(step, policy.stall)
    return decision if reason is None else RetryDecision(again=False, reason=reason)


def _best(step: Sequence[StepRecord]) -> StepRecord | None:
    """The execution whose report scores best, the latest of equals; only one that was judged will do."""
    scored = [(score, record["attempt"], record) for record in step if (score := _score(record)) is not None]
    return max(scored, key=lambda item: item[:2])[2] if scored else None


def _score(record: StepRecord) -> float | None:
    usable = record["status"] == "failed" and record["error"] is None and record["report"] is not None
    return report_score(record["report"] or {}) if usable else None


def _with(records: Sequence[StepRecord], settled: StepRecord) -> list[StepRecord]:
    return [*(record for record in records if record["attempt"] != settled["attempt"]), settled]


def _warned(record: StepRecord) -> list[str]:
    return [f"step {record['step_index'] + 1}: {warning}" for warning in record["warnings"]]


class Policies(Protocol):
    """The two policies that decide what follows a verdict; ``Settings`` has both."""

    @property
    def retry_policy(self) -> RetryPolicy:
        """Decides whether a failed step is tried again."""
        ...

    @property
    def supervision_policy(self) -> SupervisionPolicy:
        """Bounds supervision."""
        ...


_OUTCOMES: Final[Mapping[object, Outcome]] = {
    "passed": "validated",
    "warning": "validated",
    "failed": "refused",
    "needs_review": "needs_review",
}


def outcome_of(record: StepRecord) -> Outcome:
    """How the evaluation judged an execution; anything but a pass that it states is none."""
    report = record["report"]
    return "needs_review" if report is None else _OUTCOMES.get(report["status"], "needs_review")


def conclude(state: OrchestratorState, record: StepRecord, settings: Policies, now: datetime) -> StateUpdate:
    """The update that the evaluation's outcome asks for; without a verdict, a person is asked by choice."""
    outcome = outcome_of(record)
    if outcome == "needs_review" and settings.retry_policy.needs_review == "human":
        text = record["verdict"]["feedback"] if record["verdict"] else "There is no verdict."
        return ask(state, record, "review", text, settings, now)
    return settle(state, record, outcome, settings.retry_policy)


def ask(  # noqa: PLR0917
    state: OrchestratorState,
    record: StepRecord,
    kind: Literal["supervision", "review"],
    text: str,
    settings: Policies,
    now: datetime,
) -> StateUpdate:
    """The update that puts a question to a person."""
    findings = findings_of(record["report"]) if record["report"] else []
    triggers = record["supervision"]["triggers"] if record["supervision"] else []
    question = build_question(
        record,
        kind,
        text,
        list(dict.fromkeys([*triggers, *findings])),
        settings.supervision_policy,
        corrected=_corrected(state),
        now=now,
    )
    return {"results": [record], "question": question}


def _corrected(state: OrchestratorState) -> int:
    supervisions = [record["supervision"] for record in current_records(state)]
    answers = [one["answer"] for one in supervisions if one is not None]
    return sum(answer is not None and answer["answer"] == "correct" for answer in answers)
