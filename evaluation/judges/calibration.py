"""Measures how far a judge agrees with people, before its scores are relied on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from evaluation.errors import ContractError, JudgeFailureKind
from evaluation.inputs.rubric import Scale
from evaluation.judges.failures import JudgeFailure
from evaluation.judges.judge_call import call_judge
from evaluation.judges.judge_scores import read_judge_result, refuse_approval
from evaluation.plugins import AnyJudge, JudgeFunction, JudgeRequest, require_judge
from evaluation.statistics.agreement import Agreement, agreement
from evaluation.statistics.intervals import Proportion, proportion
from evaluation.statistics.score_agreement import ScoreAgreement, score_agreement
from evaluation.validation.json_copy import is_scalar
from evaluation.values import format_numbers

Label: TypeAlias = bool | float
"""A person's label: whether the run passes, or a score on the rubric's scale."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The agreement of a judge with people's labels.

    Attributes:
        answered: The share of all labelled runs with a usable score.
        failures: The number of other runs by kind of failure; ``no_majority`` is an abstention.
        agreement: Accuracy, kappa and the confusion of the answered runs, people in rows ("pass", "fail"),
            with exact or conservative intervals.
        scores: Weighted kappa and Krippendorff's alpha of the answered runs that people labelled with a
            score; without the extra ``[statistics]`` its ``reason`` names what to install.
    """

    answered: Proportion
    failures: Mapping[JudgeFailureKind, int]
    agreement: Agreement
    scores: ScoreAgreement


def calibrate(
    judge: AnyJudge | JudgeFunction,
    labelled: Iterable[tuple[JudgeRequest, Label]],
    *,
    pass_score: float | None = None,
    confidence: float = 0.95,
) -> Calibration:
    """Asks a judge about runs that people have labelled, one after the other.

    Args:
        judge: The judge. Its exceptions and unusable answers are counted, never raised.
        labelled: Requests with a person's label: True or False, or a score that is compared with
            ``pass_score``.
        pass_score: The lowest score that passes, on the rubrics' scale. Default: each rubric's pass score.
        confidence: Confidence of the intervals, between 0 and 1.

    Raises:
        ContractError: A label is not a finite number, or ``confidence`` is not between 0 and 1.
    """
    asked = require_judge(judge)
    answers = [_ask_judge(asked, request, label, pass_score) for request, label in labelled]
    answered = [answer for answer in answers if isinstance(answer, _Answer)]
    failures = Counter(answer for answer in answers if not isinstance(answer, _Answer))
    verdicts = (
        (_word(answer.label, answer.lowest), _word(answer.score, answer.lowest)) for answer in answered
    )
    return Calibration(
        answered=proportion(len(answered), len(answers), confidence),
        failures=dict(sorted(failures.items())),
        agreement=agreement(verdicts, confidence),
        scores=score_agreement(
            [(answer.label, answer.score) for answer in answered if not isinstance(answer.label, bool)]
        ),
    )


class _Answer(NamedTuple):
    label: Label
    score: float
    lowest: float
    """The lowest score that passes."""


def _ask_judge(
    judge: AnyJudge, request: JudgeRequest, label: Label, pass_score: float | None
) -> _Answer | JudgeFailureKind:
    label = _read_label(label, request.rubric.scale)
    # The same pass score for both: a person's score and the judge's are on one scale.
    lowest = request.rubric.lowest_passing if pass_score is None else pass_score
    _check_score("pass_score", lowest, request.rubric.scale)
    result = refuse_approval(read_judge_result(call_judge(judge, request), request.rubric), lowest)
    return result.kind if isinstance(result, JudgeFailure) else _Answer(label, result.score, lowest)


def _read_label(label: object, scale: Scale) -> Label:
    # NumPy and pandas have flags of their own, which are no instances of bool.
    value = label.item() if is_scalar(label) else label
    if isinstance(value, bool):
        return value
    if not isinstance(value, int | float):
        raise ContractError(f"a label is a {type(value).__name__}; give True, False or a score")
    _check_score("a label", value, scale)
    return float(value)


def _check_score(name: str, score: float, scale: Scale) -> None:
    # Also refuses 0 and 1 for a failure and a pass on most scales, and NaN.
    if not scale.min <= score <= scale.max:
        observed, low, high = format_numbers(score, scale.min, scale.max)
        raise ContractError(f"{name} is {observed}, not on the scale from {low} to {high}")


def _word(verdict: Label, lowest: float) -> str:
    passed = verdict if isinstance(verdict, bool) else verdict >= lowest
    return "pass" if passed else "fail"
