"""Measures how far a judge agrees with people, before its scores are relied on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from evaluation.errors import ContractError, JudgeFailureKind
from evaluation.inputs.rubric import Rubric
from evaluation.judges.answers import JudgeFailure
from evaluation.judges.judge_call import call_judge
from evaluation.judges.judge_scores import read_judge_result
from evaluation.plugins import AnyJudge, JudgeFunction, JudgeRequest, require_judge
from evaluation.statistics.agreement import Agreement, agreement
from evaluation.statistics.intervals import Proportion, proportion
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
    """

    answered: Proportion
    failures: Mapping[JudgeFailureKind, int]
    agreement: Agreement


def calibrate(
    judge: AnyJudge | JudgeFunction,
    labelled: Iterable[tuple[JudgeRequest, Label]],
    *,
    confidence: float = 0.95,
) -> Calibration:
    """Asks a judge about runs that people have labelled, one after the other.

    Args:
        judge: The judge. Its exceptions and unusable answers are counted, never raised.
        labelled: Requests with a person's label: True or False, or a score, which passes from the rubric's
            pass score on.
        confidence: Confidence of the intervals, between 0 and 1.

    Raises:
        ContractError: A label is no flag and no score on the rubric's scale, or ``confidence`` is not between
            0 and 1.
    """
    asked = require_judge(judge)
    answers = [_ask_judge(asked, request, label) for request, label in labelled]
    verdicts = [answer for answer in answers if isinstance(answer, tuple)]
    failures = Counter(answer for answer in answers if not isinstance(answer, tuple))
    return Calibration(
        answered=proportion(len(verdicts), len(answers), confidence),
        failures=dict(sorted(failures.items())),
        agreement=agreement(verdicts, confidence),
    )


def _ask_judge(judge: AnyJudge, request: JudgeRequest, label: Label) -> tuple[str, str] | JudgeFailureKind:
    """Returns the words of the person and of the judge, or why the judge has none."""
    wanted = _name_verdict(label, request.rubric)
    result = read_judge_result(call_judge(judge, request), request.rubric)
    return (
        result.kind
        if isinstance(result, JudgeFailure)
        else (wanted, _name_verdict(result.score, request.rubric))
    )


def _name_verdict(verdict: object, rubric: Rubric) -> str:
    if isinstance(verdict, bool):
        return "pass" if verdict else "fail"
    if not isinstance(verdict, int | float):
        raise ContractError(f"a label is a {type(verdict).__name__}; give True, False or a score")
    # Also refuses 0 and 1 for a failure and a pass on most scales, and NaN.
    if not rubric.scale.min <= verdict <= rubric.scale.max:
        observed, low, high = format_numbers(verdict, rubric.scale.min, rubric.scale.max)
        raise ContractError(f"a label is {observed}, not on the scale from {low} to {high}")
    return "pass" if verdict >= rubric.lowest_passing else "fail"
