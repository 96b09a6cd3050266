"""Baselines: the results of cases in a file to review, and the changes since then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final, NamedTuple, Self

from pydantic import Field, model_validator

from evaluation.errors import ContractError
from evaluation.evalset.case_result import CaseResult, ResultBasis
from evaluation.evalset.files import format_values
from evaluation.evalset.value_files import read_values, validate_values
from evaluation.results.findings import EvaluationStatus
from evaluation.sensitive.quoting import shorten
from evaluation.statistics.intervals import proportion
from evaluation.validation.problems import InputModel
from evaluation.values import Count, VersionOne

_STATUSES: Final = ("passed", "warning", "needs_review", "failed", "invalid")
_BASES: Final = {"approved": 0, "checked": 0, "judged": 1, "unverified": 2}


class BaselineCase(InputModel):
    """The results of a case: of the worst of its runs, and how many passed."""

    status: EvaluationStatus
    basis: ResultBasis
    passed: Count
    runs: Annotated[int, Field(ge=1)]

    @model_validator(mode="after")
    def _check_counts(self) -> Self:
        if self.passed > self.runs:
            raise ValueError(f"{self.passed} of {self.runs} runs passed; give at most the number of runs")
        return self


class Baseline(InputModel):
    """The results of each case by its name, in the order of the names."""

    version: VersionOne = 1
    cases: dict[str, BaselineCase]


def build_baseline(results: Iterable[CaseResult]) -> Baseline:
    """Summarise the results of each case; the name of an arm stands before the name of the case."""
    groups: dict[str, list[CaseResult]] = defaultdict(list)
    for result in results:
        groups[f"{result.arm}: {result.name}" if result.arm else result.name].append(result)
    return Baseline(cases={name: _summarise(groups[name]) for name in sorted(groups)})


def _summarise(results: list[CaseResult]) -> BaselineCase:
    worst = max(results, key=lambda each: (_STATUSES.index(each.status), _BASES[each.basis]))
    return BaselineCase(
        status=worst.status,
        basis=worst.basis,
        passed=sum(each.accepted for each in results),
        runs=len(results),
    )


def read_baseline(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        ContractError: The file is no baseline; the sentence names the problem.
        OSError: The file cannot be read.
    """
    try:
        data = read_values(path)
    except ValueError as error:
        raise ContractError(f"{path.name}: {error}") from None
    return validate_values(Baseline, data, path)


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write a baseline in YAML, or in JSON if the name ends so; replaces the file. Raises OSError."""
    path.write_text(format_values(path, baseline.model_dump(mode="json")), encoding="utf-8")


class Changes(NamedTuple):
    """The cases that changed since a baseline, a sentence each."""

    worse: list[str]
    better: list[str]
    unclear: list[str]
    """Cases that passed less often, by no more than chance explains."""


def compare_baselines(before: Baseline, now: Baseline) -> Changes:
    """Compare results with a baseline.

    A case that ran once in both is compared by its status, and if that is equal by what it rests on. Another
    one has changed if the share of its runs that pass is outside of the exact 95 % interval of this share in
    the baseline.

    Raises:
        ContractError: The two are of other cases.
    """
    check_same_cases(before, now.cases)
    changes = Changes([], [], [])
    for name, case in now.cases.items():
        was, change = before.cases[name], _compare(before.cases[name], case)
        text = f"{name}: {_describe(case)}, was {_describe(was)}"
        if change:
            (changes.worse if change < 0 else changes.better).append(text)
        elif case.passed * was.runs < was.passed * case.runs:
            changes.unclear.append(text)
    return changes


def check_same_cases(before: Baseline, names: Iterable[str]) -> None:
    """Raise ContractError if a baseline is of other cases than those of these names."""
    if others := sorted(before.cases.keys() ^ {*names}):
        shown = ", ".join(repr(shorten(name, 60)) for name in others[:3])
        raise ContractError(
            f"the baseline is of other cases: {len(others)} are only in one of both ({shown}); "
            "write it again with --save-baseline"
        )


def _compare(was: BaselineCase, now: BaselineCase) -> int:
    """Return -1 if a case is worse than it was, 1 if it is better, else 0."""
    if was.runs == now.runs == 1:
        ranks = [(_STATUSES.index(each.status), _BASES[each.basis]) for each in (was, now)]
        return (ranks[0] > ranks[1]) - (ranks[0] < ranks[1])
    share, interval = now.passed / now.runs, proportion(was.passed, was.runs).interval
    return 0 if interval is None else (share > interval.high) - (share < interval.low)


def _describe(case: BaselineCase) -> str:
    counts = f" ({case.passed} of {case.runs} runs pass)" if case.runs > 1 else ""
    return f"{case.status}, {case.basis}{counts}"
