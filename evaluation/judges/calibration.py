"""How far a judge agrees with people: measured before its scores are relied on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from evaluation.errors import ContractError, JudgeFailureKind
from evaluation.inputs.rules import Rubric
from evaluation.judges.call import Answered, acall, call
from evaluation.judges.failures import JudgeFailure
from evaluation.judges.scores import pass_score as pass_score_of
from evaluation.judges.scores import read_judge_result
from evaluation.plugins import AsyncJudge, Judge, JudgeRequest
from evaluation.statistics.agreement import Agreement, agreement
from evaluation.statistics.intervals import Proportion, proportion

Label: TypeAlias = bool | float
"""What a person said: whether the run passes, or a score on the rubric's scale."""
_Outcome: TypeAlias = tuple[bool, bool | JudgeFailureKind]
"""The person's verdict, and the judge's or why there is none."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A judge against people's labels; only what the judge answered can agree or not."""

    answered: Proportion
    """The share of all labelled runs for which the judge gave a usable score."""
    failures: Mapping[JudgeFailureKind, int]
    """The rest by kind of failure; ``no_majority`` is an abstention."""
    agreement: Agreement
    """Of the answered ones: accuracy, kappa, and the confusion, people in rows ("pass", "fail")."""

    def as_json(self) -> dict[str, object]:
        """Give all fields as JSON values."""
        return asdict(self)


def calibrate(
    judge: Judge | AsyncJudge,
    labelled: Iterable[tuple[JudgeRequest, Label]],
    *,
    pass_score: float | None = None,
    confidence: float = 0.95,
) -> Calibration:
    """Ask a judge about runs that people have labelled, one after the other.

    Args:
        judge: Whatever it raises or answers is counted, never raised.
        labelled: What the judge is shown, with a person's label: True or False, or a score that is held
            against ``pass_score``.
        pass_score: The least score that passes, on the rubrics' scale; by default what each rubric says.
        confidence: Of the intervals, between 0 and 1.

    Raises:
        ContractError: A label is no finite number, or ``confidence`` is not between 0 and 1.
    """
    outcomes = [
        _outcome(request.rubric, _passes(label, least), call(judge, request), least)
        for request, label, least in _with_least(labelled, pass_score)
    ]
    return _calibration(outcomes, confidence)


async def acalibrate(
    judge: Judge | AsyncJudge,
    labelled: Iterable[tuple[JudgeRequest, Label]],
    *,
    pass_score: float | None = None,
    confidence: float = 0.95,
) -> Calibration:
    """Do what ``calibrate`` does without blocking the loop."""
    outcomes = [
        _outcome(request.rubric, _passes(label, least), await acall(judge, request), least)
        for request, label, least in _with_least(labelled, pass_score)
    ]
    return _calibration(outcomes, confidence)


def _with_least(
    labelled: Iterable[tuple[JudgeRequest, Label]], pass_score: float | None
) -> Iterable[tuple[JudgeRequest, Label, float]]:
    for request, label in labelled:
        yield request, label, pass_score_of(request.rubric) if pass_score is None else pass_score


def _passes(label: Label, least: float) -> bool:
    if isinstance(label, bool):
        return label
    if not math.isfinite(label):
        raise ContractError(f"a label is True, False or a score, not {label}")
    return label >= least


def _outcome(rubric: Rubric, human: bool, answer: Answered | JudgeFailure, least: float) -> _Outcome:
    found = read_judge_result(answer.answer, rubric) if isinstance(answer, Answered) else answer
    return human, found.kind if isinstance(found, JudgeFailure) else found.score >= least


def _calibration(outcomes: Sequence[_Outcome], confidence: float) -> Calibration:
    judged = [(human, verdict) for human, verdict in outcomes if isinstance(verdict, bool)]
    failures = Counter(verdict for _, verdict in outcomes if not isinstance(verdict, bool))
    return Calibration(
        answered=proportion(len(judged), len(outcomes), confidence),
        failures=dict(sorted(failures.items())),
        agreement=agreement(((_word(human), _word(verdict)) for human, verdict in judged), confidence),
    )


def _word(passed: bool) -> str:
    return "pass" if passed else "fail"
