"""One execution of a step as a retry policy sees it, and the best of several executions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from orchestrator.judging.feedback import report_score
from orchestrator.judging.output import is_blank
from orchestrator.state.current_step import read_correction
from orchestrator.state.evaluation_report import RefusalKind, Report, failed_kinds, is_refused_outright
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import StepRecord
from orchestrator.state.usage import NO_USAGE, add_usage

Outcome = Literal["validated", "failed", "needs_review"]
FIRST: Final = "first"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One execution of a step.

    Attributes:
        number: Number of the execution in its step, from 1.
        strategy: The strategy that led to it, such as "feedback", or "correct"; "first" for the first.
        rule: Place of that rule in ``RetryPolicy.strategies``; None if no rule led to it.
        outcome: How it was judged; "needs_review" if there is no verdict.
        kinds: Kinds of its failed checks; empty if it was accepted.
        score: Checks that passed, weighted by severity, from 0 to 1; None if none was answered.
        corrected: Whether a supervisor or a person sent it back with a correction, which counts for them.
        raised: Whether it ended in an error, so that it has no output.
        unusable: Whether its output is blank, was cut off, exposes a key, or breaks a critical audit rule.
        tokens: Tokens of the executor and the judge; None if they were not reported.
        seconds: Seconds of the executor and the judge.
        cost_usd: Cost of both; None if a price is missing.
    """

    number: int
    strategy: str = FIRST
    rule: int | None = None
    outcome: Outcome
    kinds: tuple[RefusalKind, ...] = ()
    score: float | None = None
    corrected: bool = False
    raised: bool = False
    unusable: bool = False
    tokens: int | None = None
    seconds: float = 0.0
    cost_usd: float | None = None


def read_attempts(records: Sequence[StepRecord]) -> tuple[Attempt, ...]:
    """Reads the executions of one step from its records, in their order."""
    before: list[StepRecord | None] = [None, *records]
    return tuple(_read_attempt(record, last) for record, last in zip(records, before, strict=False))


def best_attempt(history: Sequence[Attempt]) -> Attempt | None:
    """Returns the best execution so far by its report: the latest of those with the highest score.

    Returns None if none has a score. An execution that raised, has no verdict, was sent back with a
    correction or has an unusable output is never the best.
    """
    judged = [attempt for attempt in history if _is_judged(attempt)]
    scored = [(attempt.score, attempt.number, attempt) for attempt in judged if attempt.score is not None]
    return max(scored, key=lambda item: item[:2])[2] if scored else None


def _is_judged(attempt: Attempt) -> bool:
    # Checks may pass an output that a person refused: their score does not count then.
    is_refused = attempt.raised or attempt.corrected or attempt.unusable
    return attempt.outcome != "needs_review" and not is_refused


def _read_attempt(record: StepRecord, last: StepRecord | None) -> Attempt:
    decision = None if last is None else last.get("decision")
    report: Report = record["report"] or {}
    is_failed = record["status"] in ("warning", "failed")
    outcome: Outcome = "failed" if is_failed else "needs_review"
    outcome = "validated" if record["status"] == "validated" else outcome
    usage = add_usage(record["usage"], record["judge_usage"] or NO_USAGE)
    return Attempt(
        number=record["attempt"],
        strategy=FIRST if last is None else "feedback" if decision is None else decision["use"],
        rule=None if decision is None else decision["rule"],
        outcome=outcome,
        kinds=() if outcome == "validated" else failed_kinds(report),
        score=report_score(report),
        corrected=read_correction(record) is not None,
        raised=record["error"] is not None,
        unusable=is_blank(record["result"]) or is_refused_outright(report),
        tokens=usage["total_tokens"],
        seconds=usage["latency_ms"] / 1000,
        cost_usd=usage["cost_usd"],
    )


def find_best_record(executions: Sequence[StepRecord]) -> StepRecord | None:
    """Returns the record of the best execution of a step so far; None if none has a score."""
    best = best_attempt(read_attempts(executions))
    return None if best is None else next(r for r in executions if r["attempt"] == best.number)


def find_best_answer(state: OrchestratorState) -> StepRecord | None:
    """Returns the best attempt at the answer of a run: by its report, and of equal ones the earliest.

    An execution of the whole task is such an attempt; if there is none, so are those of the last step that
    was begun. Returns None if no attempt has a text.
    """
    written = [record for record in (*state["results"], *state["synthesis"]) if record["result"]]
    last = written[-1]["step_index"] if written else None
    attempts = [record for record in written if record["step"] == state["task"]]
    # The earliest, because the refusals of a judge that was not measured say little.
    return max(
        attempts or [record for record in written if record["step_index"] == last],
        key=_score_record,
        default=None,
    )


def _score_record(record: StepRecord) -> float:
    score = report_score(record["report"] or {})
    return -1.0 if score is None else score
