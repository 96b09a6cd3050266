"""Compares two runs step by step, or two stored evaluations case by case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from evaluation.errors import ContractError
from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.stored_evaluation import read_end, read_results
from orchestrator.persistence import StoredRun
from orchestrator.serving.views.run_view import StepView, build_run_view

CompareKind = Literal["runs", "evaluations"]
_MOST_ROWS: Final = 500
_Name = Annotated[str, Field(max_length=500)]


class CompareQuery(BaseModel):
    """What to compare: the names of two runs, or of two files of the folder of evaluations.

    Attributes:
        kind: The kind of the things that the names name.
        left: The first.
        right: The second.
        show: Only what changed sides, or all.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Annotated[CompareKind, BeforeValidator(lambda value: value or "runs")] = "runs"
    left: _Name = ""
    right: _Name = ""
    show: Literal["changed", "all"] = "changed"


class ComparedSide(BaseModel):
    """A step or a case on one side; ``text`` is its output or the reasons of its verdict."""

    is_accepted: bool
    status: str
    basis: str
    text: str


class ComparedRow(BaseModel):
    """A step or a case on both sides; None if a side does not have it."""

    name: str
    left: ComparedSide | None
    right: ComparedSide | None

    @property
    def is_changed(self) -> bool:
        """Whether it is accepted on one side only."""
        return (self.left is not None and self.left.is_accepted) != (
            self.right is not None and self.right.is_accepted
        )


class Comparison(BaseModel):
    """Two sides: numbers of rows, of those accepted on each side, and of those that changed sides."""

    total: int
    accepted_left: int
    accepted_right: int
    changed: int
    rows: list[ComparedRow]


def compare_runs(left: StoredRun, right: StoredRun, show: str) -> Comparison:
    """Compares two runs: the end, and the steps by their numbers."""
    return _build(_list_sides(left), _list_sides(right), show)


def compare_evaluations(left: Path, right: Path, show: str) -> Comparison:
    """Compares two stored evaluations by case and trial, and by arm unless each has only one.

    Raises:
        ContractError: A file is no stored evaluation, or one that has not ended.
    """
    sides = [[*_read_file(path)] for path in (left, right)]
    has_arms = any(len({each.arm for each in side}) > 1 for side in sides)
    before, after = (
        {_name_case(each, has_arms=has_arms): _describe(each) for each in side} for side in sides
    )
    return _build(before, after, show)


def list_evaluations(folder: Path | None) -> list[str]:
    """Returns the names of the files of a folder that may be compared."""
    if folder is None:
        return []
    return sorted(path.name for path in folder.glob("*.jsonl") if path.is_file())


def _build(left: Mapping[str, ComparedSide], right: Mapping[str, ComparedSide], show: str) -> Comparison:
    names = dict.fromkeys([*left, *right])
    rows = [ComparedRow(name=name, left=left.get(name), right=right.get(name)) for name in names]
    changed = [row for row in rows if row.is_changed]
    return Comparison(
        total=len(rows),
        accepted_left=sum(side.is_accepted for side in left.values()),
        accepted_right=sum(side.is_accepted for side in right.values()),
        changed=len(changed),
        rows=(changed if show == "changed" else rows)[:_MOST_ROWS],
    )


def _list_sides(run: StoredRun) -> dict[str, ComparedSide]:
    view = build_run_view(run)
    failure = view.state["failure"]
    end = ComparedSide(
        is_accepted=run.summary.status == "success",
        status=run.summary.status,
        basis=view.state["basis"] or "",
        text=(view.state["output"] or "") if failure is None else failure["message"],
    )
    steps = {f"Step {step.number}" if step.text != "Final answer" else step.text: step for step in view.steps}
    return {"The run": end, **{name: _describe_step(step) for name, step in steps.items()}}


def _describe_step(step: StepView) -> ComparedSide:
    last = step.attempts[-1].record if step.attempts else None
    basis = "" if last is None else last.get("basis", "")
    result = "" if last is None else last["result"]
    attempts = f"{step.state}, attempts: {len(step.attempts)}"
    return ComparedSide(
        is_accepted=step.state == "done", status=attempts, basis=basis, text=f"{step.text}\n\n{result}"
    )


def _read_file(path: Path) -> Iterable[CaseResult]:
    try:
        for result in read_results(path):
            yield result.without_run()
        read_end(path)  # the cases that are missing would look like none
    except OSError as error:
        raise ContractError(f"{path.name} cannot be read ({error.strerror})") from None


def _name_case(result: CaseResult, *, has_arms: bool) -> str:
    arm = f", {result.arm}" if has_arms and result.arm else ""
    return f"{result.name}{arm}{f', run {result.trial + 1}' if result.trial else ''}"


def _describe(result: CaseResult) -> ComparedSide:
    return ComparedSide(
        is_accepted=result.accepted,
        status=result.status,
        basis=result.basis,
        text="\n".join(result.reasons),
    )
