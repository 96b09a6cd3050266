"""Evaluates recorded runs, and decides which of them are accepted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

from evaluation import EvaluationReport, evaluate_many, find_trust
from evaluation.evalset.case_result import CaseResult, describe_run
from evaluation.inputs.intake import UnreadableCase
from evaluation.recordings.default_contract import build_default_contract
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import ReadRun
from evaluation.values import JsonObject, as_object
from orchestrator.judging.basis import find_basis, is_enough
from orchestrator.judging.evidence import read_evidence
from orchestrator.judging.plain_contracts import has_checks, list_checks
from orchestrator.state.evaluation_report import Report
from orchestrator.state.records import Basis, PlainContract, Requirement

if TYPE_CHECKING:
    from evaluation.judges.model_judge import RubricJudge  # LangChain is slow to import

FailOn: TypeAlias = Literal["warning", "needs_review", "failed"]
_SEVERITY: Final = ("passed", "warning", "needs_review", "failed", "invalid")
MOST_REASONS: Final = 3
_TOO_LITTLE: Final = "it rests on less than"
NO_CASE: Final = "no case of --contract has this name or task"
_NO_RUN: Final = "no run has the name or the task of this case of --contract"
_OF_RUN: Final = frozenset({"case_id", "agent_run", "input", "run_metadata"})
_NOTHING: Final[Sequence[object]] = (None, [], {}, "")


@dataclass(slots=True)
class RecordedEvaluation:
    """Evaluates runs one after the other, and counts what could not be read.

    Attributes:
        contract: The fields of the contract, which hold for every run in place of its own; None for its own,
            or for what needs no contract.
        fail_on: The least severe status that is not accepted.
        require: The least that an accepted status has to rest on; None for anything.
        judge: Scores what no program can; None for none.
        keeps_runs: Whether a result has the run and its contract, which costs a search for sensitive data.
        unread: The runs and cases that could not be read, one sentence each.
        ignored: What was ignored in those that were read, one sentence each.
        next_trials: The number of the next run of each case and arm.
        skipped: How many of the next runs are left out, because they were evaluated before.
        cases: Contracts by the name or the task of a case, in place of ``contract``; a run of no such case
            counts as unread. The task and then the name of one case share one object.
        used: The names and tasks in ``cases`` that runs have.
    """

    contract: JsonObject | None
    fail_on: FailOn = "failed"
    require: Requirement | None = None
    judge: RubricJudge | None = None
    keeps_runs: bool = False
    unread: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    next_trials: dict[tuple[str, str], int] = field(default_factory=dict)
    skipped: int = 0
    cases: Mapping[str, JsonObject] | None = None
    used: set[str] = field(default_factory=set)

    @property
    def has_contract(self) -> bool:
        """Whether the user has named a contract."""
        return self.contract is not None or self.cases is not None

    def evaluate(self, runs: Iterable[ReadRun]) -> Iterator[CaseResult]:
        """Yields the result of each run, in their order."""
        return map(self.number_trial, self.evaluate_unnumbered(runs))

    def evaluate_unnumbered(self, runs: Iterable[ReadRun]) -> Iterator[CaseResult]:
        """Yields the results with the numbers of their trials as the files have them."""
        waiting: deque[RecordedRun] = deque()
        for report in evaluate_many(self._list_cases(runs, waiting), judge=self.judge):
            yield self.build_result(report, waiting.popleft())

    def _list_cases(self, runs: Iterable[ReadRun], waiting: deque[RecordedRun]) -> Iterator[JsonObject]:
        for run in runs:
            if isinstance(run, UnreadableCase):
                self.unread.append(f"{run.where}: {run.problem}")
                continue
            judged = self.add_contract(run)
            if judged is None:
                self.ignored += run.warnings
                self.unread.append(f"{run.case.get('case_id')}: {NO_CASE}")
                continue
            self.ignored += judged.warnings
            if self.skipped > 0:
                self.skipped -= 1
                continue
            waiting.append(judged)
            yield judged.case

    def add_contract(self, run: RecordedRun) -> RecordedRun | None:
        """Returns a run with the contract that holds for it, and a warning if it is not the run's own.

        The contract of the user replaces every demand that the run has recorded, because whoever wrote the
        run may have written them, too. Without one, a run without demands has the default contract.

        Returns:
            None if no case of ``cases`` has the name or the task of the run.
        """
        recorded = as_object(run.case.get("agent_run"))
        own = [name for name, value in run.case.items() if name not in _OF_RUN and value not in _NOTHING]
        if not self.has_contract:
            default = {} if has_checks(cast("PlainContract", run.case)) else build_default_contract(recorded)
            return replace(run, case={**run.case, **default})
        stated = self.contract if self.cases is None else self._find_case(run.case, recorded)
        if stated is None:
            return None
        kept = {name: value for name, value in run.case.items() if name in _OF_RUN}
        ignored = f"{run.case.get('case_id')}: {', '.join(own)} of the run, which --contract replaces"
        return replace(run, case={**kept, **stated}, warnings=(*run.warnings, *([ignored] if own else ())))

    def _find_case(self, case: JsonObject, recorded: JsonObject) -> JsonObject | None:
        task = " ".join(str(recorded.get("input", "")).split())
        cases = self.cases or {}
        name = next((each for each in (str(case.get("case_id")), task) if each in cases), None)
        if name is None:
            return None
        self.used.add(name)
        return cases[name]

    def report_unused_cases(self) -> None:
        """Counts each case of ``cases`` that no run belongs to as unread."""
        names: dict[int, list[str]] = {}
        for name, contract in (self.cases or {}).items():
            names.setdefault(id(contract), []).append(name)
        unused = sorted(each[-1] for each in names.values() if self.used.isdisjoint(each))
        self.unread += [f"{name}: {_NO_RUN}" for name in unused]

    def take_stored(self, result: CaseResult) -> CaseResult:
        """Returns a stored result under the gate; its case has a run."""
        self._find_case({"case_id": result.name}, result.agent_run)
        return self.apply_gate(result)

    def apply_gate(self, result: CaseResult) -> CaseResult:
        """Returns a result that is accepted if its status and its basis are enough."""
        is_low = _SEVERITY.index(result.status) < _SEVERITY.index(self.fail_on)
        accepted = is_low and is_enough(result.basis, self.require)
        reasons = tuple(reason for reason in result.reasons if not reason.startswith(_TOO_LITTLE))
        if is_low and not accepted:
            reasons = (f"{_TOO_LITTLE} is required ({self.require}): {result.basis}", *reasons)
        return result.model_copy(update={"accepted": accepted, "reasons": reasons[:MOST_REASONS]})

    def build_result(
        self,
        report: EvaluationReport,
        run: RecordedRun,
        unchecked: Sequence[str] = (),
        *,
        is_derived: bool = False,
    ) -> CaseResult:
        """Returns the result of a run.

        Args:
            report: Its report.
            run: The run with the contract that it was evaluated against.
            unchecked: Requirements that the contract does not check.
            is_derived: Whether its checks follow from the words of the task, which proves no content.
        """
        plain = report.model_dump(mode="json")
        reasons = tuple(str(alert["reason"]) for alert in report.alerts if alert["severity"] != "info")
        result = CaseResult(
            name=str(report.case_id),
            arm=run.arm,
            trial=run.trial,
            status=report.status,
            basis=self._find_basis(plain, run, unchecked, is_derived=is_derived),
            accepted=False,
            reasons=tuple(report.errors) or reasons,
            report=plain,
            score=run.score,
            **(describe_run(run.case) if self.keeps_runs else {}),
        )
        return self.apply_gate(result)

    def number_trial(self, result: CaseResult) -> CaseResult:
        """Returns the result as a further trial of its case if another one has its name."""
        key = (result.name, result.arm)
        trial = max(result.trial, self.next_trials.get(key, 0))
        self.next_trials[key] = trial + 1
        return result if trial == result.trial else result.model_copy(update={"trial": trial})

    def _find_basis(
        self, report: dict[str, object], run: RecordedRun, unchecked: Sequence[str], *, is_derived: bool
    ) -> Basis:
        contract = cast("PlainContract", {name: run.case[name] for name in run.case if name != "agent_run"})
        derived = list_checks(contract) if is_derived else ()
        evidence = read_evidence(cast("Report", report), contract, unchecked, derived=derived)
        if self.judge is not None and evidence.judge and not evidence.is_checked:
            evidence = replace(evidence, trust=find_trust(self.judge.identity))
        return find_basis(replace(evidence, person=run.approved_by))
