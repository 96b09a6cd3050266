"""The result of an evaluated run: its storage, repeated cases, and changes since a baseline."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, Literal, NamedTuple, TypeAlias, TypeVar

from pydantic import Field, ValidationError

from evaluation.cases.case_files import format_values, read_values, validate_values
from evaluation.errors import ContractError
from evaluation.findings import STRICTNESS, UNVERIFIED, EvaluationStatus
from evaluation.report.redaction import Redactor
from evaluation.sensitive.scanner import shorten
from evaluation.statistics import TrialRate, pass_hat_k, proportion
from evaluation.validation import InputModel
from evaluation.values import Count, JsonObject, VersionOne, as_object, group_by

ResultBasis = Literal["checked", "judged", "approved", "unverified"]


class CaseResult(InputModel):
    """The result of one run of a case, as plain JSON. Nothing in it is sensitive: it is redacted."""

    name: str
    """Name of the case."""
    arm: str = ""
    """The model or the policy under comparison; empty if nothing is compared."""
    trial: Count = 0
    """Number of this run of the case, from 0."""
    status: EvaluationStatus
    basis: ResultBasis
    """What a passing status rests on."""
    accepted: bool
    """Whether the run passes the gate, which makes it a success."""
    reasons: tuple[str, ...] = ()
    """What to look at, the most severe first."""
    task: str = ""
    agent_run: dict[str, object] = Field(default_factory=dict)
    """The recorded run: output, tool calls, and measured quantities such as ``latency_ms``."""
    expected: dict[str, object] = Field(default_factory=dict)
    """The fields of the contract that the case was evaluated against."""
    report: dict[str, object] = Field(default_factory=dict)
    """The fields of the ``EvaluationReport``; empty if only the verdict is kept."""
    operation: dict[str, str] = Field(default_factory=dict)
    """The ids of the span that the run was read from, as ``RecordedRun`` has them."""
    correct: bool | None = None
    """Whether the output is the known right answer of the case; None if the case states none."""

    @property
    def key(self) -> tuple[str, str, int]:
        """The name, the arm and the trial, which no other result of an evaluation has."""
        return self.name, self.arm, self.trial

    @property
    def verified(self) -> bool:
        """Whether it is a success, and a check, a trusted judge or a person vouches for the answer."""
        return self.accepted and self.basis != "unverified"

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found against a run whose answer nothing verifies."""
        return self.status == "passed" and self.basis == "unverified"

    @property
    def verdict(self) -> str:
        """The status for a reader, who takes "passed" for a word about the answer."""
        return UNVERIFIED if self.is_clean else self.status

    def without_run(self) -> CaseResult:
        """Return the verdict with its findings, which is all that a summary of many runs has to keep."""
        kept = {
            name: self.report[name] for name in ("audit_findings", "alerts", "judge") if name in self.report
        }
        return self.model_copy(update={"agent_run": {}, "expected": {}, "report": kept})


_OF_CASE: Final = frozenset({"agent_run", "case_id", "contract", "input"})


def describe_run(case: JsonObject) -> dict[str, Any]:
    """Return ``task``, ``agent_run`` and ``expected`` of a result: the parts of a case, redacted.

    Args:
        case: The fields of an ``EvaluationCase``.
    """
    run = as_object(case.get("agent_run"))
    expected = {name: value for name, value in case.items() if name not in _OF_CASE}
    task = run.get("input") or run.get("user_input") or case.get("input") or ""
    parts = {"task": str(task), "agent_run": run, "expected": expected}
    return Redactor.of([run, expected, task]).clean(parts)


Trials: TypeAlias = Mapping[str, Sequence[bool]]
"""Whether each run of a case is a success, by the name of the case."""
_MOST_K: Final = 8


def group_trials(results: Iterable[CaseResult]) -> dict[str, Trials]:
    """Group the successes of results by arm and case."""
    arms: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        arms[result.arm][result.name].append(result.accepted)
    return {arm: dict(trials) for arm, trials in arms.items()}


def list_pass_rates(trials: Trials) -> list[TrialRate]:
    """Compute pass^k for each k up to the number of runs of a case, and at most 8."""
    most = max(map(len, trials.values()), default=0)
    return [pass_hat_k(trials, k) for k in range(1, min(most, _MOST_K) + 1)]


_BASES: Final = {"approved": 0, "checked": 0, "judged": 1, "unverified": 2}


class BaselineCase(InputModel):
    """The results of a case: of the worst of its runs, and how many passed."""

    status: EvaluationStatus
    basis: ResultBasis
    passed: Count
    runs: Annotated[int, Field(ge=1)]


class Baseline(InputModel):
    """The results of each case by its name, in the order of the names."""

    version: VersionOne = 1
    cases: dict[str, BaselineCase]


def build_baseline(results: Iterable[CaseResult]) -> Baseline:
    """Summarise the results of each case; the name of an arm stands before the name of the case."""
    groups = group_by(results, lambda each: f"{each.arm}: {each.name}" if each.arm else each.name)
    return Baseline(cases={name: _summarise(groups[name]) for name in sorted(groups)})


def _summarise(results: list[CaseResult]) -> BaselineCase:
    worst = max(results, key=lambda each: (STRICTNESS.index(each.status), _BASES[each.basis]))
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


def compare_baselines(before: Baseline, now: Baseline) -> Changes:
    """Compare results with a baseline.

    A case that ran once in both is compared by its status, and if that is equal by what it rests on. Another
    one has changed if the share of its runs that pass is outside of the exact 95 % interval of this share in
    the baseline.

    Raises:
        ContractError: The two are of other cases.
    """
    check_same_cases(before, now.cases)
    changes = Changes([], [])
    for name, case in now.cases.items():
        was, change = before.cases[name], _compare(before.cases[name], case)
        text = f"{name}: {_describe(case)}, was {_describe(was)}"
        if change:
            (changes.worse if change < 0 else changes.better).append(text)
    return changes


def check_same_cases(before: Baseline, names: Iterable[str]) -> None:
    """Raise ContractError if a baseline has other cases than these names."""
    if others := sorted(before.cases.keys() ^ {*names}):
        shown = ", ".join(repr(shorten(name, 60)) for name in others[:3])
        raise ContractError(
            f"the baseline is of other cases: {len(others)} are only in one of both ({shown}); "
            "write it again with --save-baseline"
        )


def _compare(was: BaselineCase, now: BaselineCase) -> int:
    """Return -1 if a case is worse than it was, 1 if it is better, else 0."""
    if was.runs == now.runs == 1:
        ranks = [(STRICTNESS.index(each.status), _BASES[each.basis]) for each in (was, now)]
        return (ranks[0] > ranks[1]) - (ranks[0] < ranks[1])
    share, interval = now.passed / now.runs, proportion(was.passed, was.runs).interval
    return 0 if interval is None else (share > interval.high) - (share < interval.low)


def _describe(case: BaselineCase) -> str:
    counts = f" ({case.passed} of {case.runs} runs pass)" if case.runs > 1 else ""
    return f"{case.status}, {case.basis}{counts}"


FORMAT: Final = "plan-execute-monitor evaluation"
_LONGEST_HEADER: Final = 1_000_000
"""Bytes; a longer first line is that of another file."""
_END: Final = b'{"unread":'
_Line = TypeVar("_Line", bound=InputModel)


class EvaluationHeader(InputModel):
    """The first line: of which cases and with which options the results are."""

    format: Literal["plan-execute-monitor evaluation"] = FORMAT
    version: VersionOne = 1
    created: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    """When the evaluation began, in ISO 8601."""
    options: dict[str, object] = Field(default_factory=dict)
    """The options that the results depend on, such as the models, by name."""
    cases: str = ""
    """A digest of the cases; empty for recorded runs."""


class EvaluationEnd(InputModel):
    """The last line: the evaluation has ended."""

    unread: tuple[str, ...]
    """What could not be read, one sentence each."""


def is_stored_evaluation(path: Path) -> bool:
    """Return whether a file begins as a stored evaluation does; raises OSError if it cannot be read."""
    with path.open("rb") as file:
        return FORMAT.encode() in file.read(200)


def read_results(path: Path, *, is_continued: bool = False) -> Iterator[CaseResult]:
    """Yield the results of a stored evaluation.

    Args:
        path: The file.
        is_continued: Whether a last line that a crash has cut is left out; else it is an error.

    Raises:
        ContractError: It is no stored evaluation, of another version, or a line is wrong or behind the
            end; the sentence names the file and the line.
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        _read_header(file, path.name)
        has_ended = False
        for number, line in enumerate(file, 2):
            where = f"{path.name}:{number}"
            if not line.endswith(b"\n"):
                if is_continued:
                    return
                raise ContractError(f"{where}: the line is cut off; continue the command that wrote it")
            if has_ended:
                raise ContractError(f"{where}: the evaluation ended in the line before; leave this line out")
            if has_ended := line.startswith(_END):
                continue
            yield _read_line(line, where, CaseResult)


def read_end(path: Path) -> EvaluationEnd:
    """Read the end of a stored evaluation.

    Raises:
        ContractError: It has none, because the command that wrote it was interrupted.
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        last = b"".join(deque(file, 1))
    if not last.startswith(_END):
        raise ContractError(f"{path.name}: the evaluation has not ended; continue the command that wrote it")
    return _read_line(last, f"{path.name}, last line", EvaluationEnd)


@contextmanager
def append_results(
    path: Path, header: EvaluationHeader
) -> Iterator[tuple[list[CaseResult], Callable[[CaseResult | EvaluationEnd], None]]]:
    """Open a file that stores results as they come. A file with results of the same cases is continued.

    Yields:
        The results that the file has, and a function that appends one, or the end.

    Raises:
        ContractError: The file is no stored evaluation, or one of other cases or options.
        OSError: The file cannot be read or written.
    """
    with path.open("ab") as file:
        stored = []
        if path.stat().st_size:
            with path.open("rb") as written:
                _check_same(_read_header(written, path.name), header, path.name)
            stored = [*read_results(path, is_continued=True)]
            file.truncate(_measure_results(path.read_bytes()))
        else:
            _append(file, header)
        yield stored, lambda result: _append(file, result)


def _measure_results(data: bytes) -> int:
    """Return the size of the lines before the end, without a last line that a crash has cut."""
    size = data.rfind(b"\n") + 1
    last = data.rfind(b"\n", 0, size - 1) + 1
    return last if data.startswith(_END, last) else size


def _append(file: BinaryIO, line: InputModel) -> None:
    # One write and a flush, so that a crash cuts the last line at most.
    file.write(line.model_dump_json(exclude_defaults=isinstance(line, CaseResult)).encode() + b"\n")
    file.flush()


def _check_same(stored: EvaluationHeader, header: EvaluationHeader, name: str) -> None:
    options = {**stored.options, **header.options}
    changed = [each for each in options if stored.options.get(each) != header.options.get(each)]
    if stored.cases != header.cases or changed:
        what = f"other options ({', '.join(changed)})" if changed else "other cases"
        raise ContractError(f"{name} has results of {what}; give another file, or the command it began with")


def _read_header(file: BinaryIO, name: str) -> EvaluationHeader:
    line = file.readline(_LONGEST_HEADER)
    if FORMAT.encode() not in line:
        raise ContractError(f"{name}:1: this is no stored evaluation; give a file that --out wrote")
    return _read_line(line, f"{name}:1", EvaluationHeader)


def _read_line(line: bytes, where: str, model: type[_Line]) -> _Line:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        (problem, *_) = error.errors(include_url=False)
        place = ".".join(map(str, problem["loc"])) or "the line"
        raise ContractError(f"{where}: {place}: {problem['msg']}; give a file that --out wrote") from None
