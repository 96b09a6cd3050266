"""What follows from an evaluated execution once nobody else has a say: pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal, Protocol

from orchestrator.judging.feedback import findings_of
from orchestrator.retry.policy import Outcome, RetryPolicy
from orchestrator.retry.settling import settle
from orchestrator.state.current_step import current_records
from orchestrator.state.graph_state import OrchestratorState, StateUpdate, StepRecord
from orchestrator.supervision.human import question_about
from orchestrator.supervision.policy import SupervisionPolicy


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
    question = question_about(
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
