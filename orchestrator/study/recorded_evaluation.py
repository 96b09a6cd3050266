"""Evaluates recorded runs, decides which of them are accepted, and stores the results as they come."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from evaluation import ContractError, EvaluationContract, EvaluationReport, evaluate_many
from evaluation.cases.case_files import CaseSet
from evaluation.cases.case_result import (
    CaseResult,
    EvaluationEnd,
    EvaluationHeader,
    append_results,
    describe_run,
)
from evaluation.contract.intake import UnreadableCase, with_contract
from evaluation.contract.requirements import DEFAULT_CONTRACT, Contract, Origin
from evaluation.findings import STRICTNESS
from evaluation.measures.metric_table import find_threshold_problems
from evaluation.recordings.default_contract import hold_own_audit
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import ReadRun
from evaluation.sensitive.scanner import shorten
from evaluation.validation import limit_problems
from evaluation.values import JsonObject, as_object, group_by
from orchestrator.judging.evidence import find_unknown_check, is_enough, read_evidence
from orchestrator.state.records import Requirement

if TYPE_CHECKING:
    from evaluation.judges.model_judge import RubricJudge  # LangChain is slow to import

FailOn: TypeAlias = Literal["warning", "needs_review", "failed"]
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
        ignored: The parts that were ignored in the files that were read, one sentence each.
        next_trials: The number of the next run of each case and arm.
        cases: Contracts by the name or the task of a case, in place of ``contract``; a run of no such case
            counts as unread. The task and then the name of one case share one object.
        used: The names and tasks in ``cases`` that runs have.
    """

    contract: JsonObject | None
    fail_on: FailOn = "needs_review"
    require: Requirement | None = None
    judge: RubricJudge | None = None
    keeps_runs: bool = False
    unread: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    next_trials: dict[tuple[str, str], int] = field(default_factory=dict)
    cases: Mapping[str, JsonObject] | None = None
    used: set[str] = field(default_factory=set)

    @property
    def has_contract(self) -> bool:
        """Whether the user has named a contract."""
        return self.contract is not None or self.cases is not None

    def evaluate(self, runs: Iterable[ReadRun]) -> Iterator[CaseResult]:
        """Yields the result of each run, in their order."""
        waiting: deque[RecordedRun] = deque()
        for report in evaluate_many(self._list_cases(runs, waiting), judge=self.judge):
            yield self._number_trial(self.build_result(report, waiting.popleft()))

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
            waiting.append(judged)
            read = {} if judged.conversation is None else {"conversation": judged.conversation}
            yield {**judged.case, **read}

    def add_contract(self, run: RecordedRun) -> RecordedRun | None:
        """Returns a run with the contract that holds for it, and a warning if it is not the run's own.

        The contract of the user replaces every demand that the run has recorded, because the writer of
        the run may have written them, too. Without one, the run's own demands count beside the search for
        defects.

        Returns:
            None if no case of ``cases`` has the name or the task of the run.
        """
        recorded = as_object(run.case.get("agent_run"))
        own = [name for name, value in run.case.items() if name not in _OF_RUN and value not in _NOTHING]
        if not self.has_contract:
            case, left_out = hold_own_audit(run.case)
            own_words = (
                f"{case.get('case_id')}: {', '.join(left_out)} of the file, which is not its own judge"
            )
            return replace(run, case=case, warnings=(*run.warnings, *([own_words] if left_out else ())))
        stated = self.contract if self.cases is None else self._find_case(run.case, recorded)
        if stated is None:
            return None
        kept = {name: value for name, value in run.case.items() if name in _OF_RUN}
        ignored = f"{run.case.get('case_id')}: {', '.join(own)} of the run, which --contract replaces"
        judged = as_object(with_contract(kept, stated))
        return replace(run, case=judged, warnings=(*run.warnings, *([ignored] if own else ())))

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
        cases = self.cases or {}
        names = group_by(cases, lambda name: id(cases[name]))
        unused = sorted(each[-1] for each in names.values() if self.used.isdisjoint(each))
        self.unread += [f"{name}: {_NO_RUN}" for name in unused]

    def take_stored(self, result: CaseResult) -> CaseResult:
        """Returns a stored result under the gate; its case has a run."""
        self._find_case({"case_id": result.name}, result.agent_run)
        return self.apply_gate(result)

    def apply_gate(self, result: CaseResult) -> CaseResult:
        """Returns a result that is accepted if its status and its basis are enough."""
        is_low = STRICTNESS.index(result.status) < STRICTNESS.index(self.fail_on)
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
        origin: Origin = "caller",
    ) -> CaseResult:
        """Returns the result of a run.

        Args:
            report: Its report.
            run: The run with the contract that it was evaluated against.
            unchecked: Requirements that the contract does not check.
            origin: Who states its contract: the words of a task prove no content.
        """
        plain = report.model_dump(mode="json")
        # The contract of an invalid case may be what is wrong.
        contract = Contract() if report.status == "invalid" else read_contract(run.case, origin)
        evidence = read_evidence(plain, contract, unchecked).add_trust(self.judge)
        reasons = tuple(str(alert["reason"]) for alert in report.alerts if alert["severity"] != "info")
        result = CaseResult(
            name=str(report.case_id),
            arm=run.arm,
            trial=run.trial,
            status=report.status,
            basis=evidence.basis,
            accepted=False,
            reasons=tuple(report.errors) or reasons,
            report=plain,
            operation=dict(run.operation),
            **(describe_run(run.case) if self.keeps_runs else {}),
        )
        return self.apply_gate(result)

    def _number_trial(self, result: CaseResult) -> CaseResult:
        """Returns the result as a further trial of its case if another one has its name."""
        key = (result.name, result.arm)
        trial = max(result.trial, self.next_trials.get(key, 0))
        self.next_trials[key] = trial + 1
        return result if trial == result.trial else result.model_copy(update={"trial": trial})


def read_contract(case: JsonObject, origin: Origin) -> Contract:
    """Returns the contract that a valid case states; the default one, if it states none."""
    fields = {name: case[name] for name in EvaluationContract.model_fields if name in case}
    is_stated = fields or "contract" in case
    return Contract.read(fields, origin) if is_stated else DEFAULT_CONTRACT


Key: TypeAlias = tuple[str, str, int]
"""The name of a case, its arm, and the number of its run."""
ShowProgress: TypeAlias = Callable[[Iterator[CaseResult], int, int], Iterator[CaseResult]]
"""Gets the results, the number of those that were stored before, and of all, 0 if it is unknown."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where results come from.

    Attributes:
        evaluation: Has the gate, which holds for results that were stored, too.
        evaluate: Yields the results that are not among the given ones, which an interrupted command stored.
        header: Describes the cases and the options in a file of results.
        keys: The keys of the results in their order; empty if they are unknown, and come in order.
    """

    evaluation: RecordedEvaluation
    evaluate: Callable[[Sequence[CaseResult]], Iterator[CaseResult]]
    header: EvaluationHeader
    keys: Sequence[Key] = ()

    def take(self, out: Path | None, show: ShowProgress) -> Iterator[CaseResult]:
        """Yields the results that ``out`` has, and then the others, each stored in ``out`` as it comes.

        Args:
            out: The file; None to store nothing.
            show: Yields the results again, and shows the progress.

        Raises:
            ContractError: ``out`` has results of other cases or options, or another command writes to it.
            OSError: ``out`` cannot be used.
        """
        with nullcontext() if out is None else append_results(out, self.header) as file:
            read, append = ([], None) if file is None else file
            # An earlier command may have repeated the cases more often.
            asked = {*self.keys}
            stored = [result for result in read if not asked or result.key in asked]
            yield from map(self.evaluation.take_stored, stored)
            for result in show(self.evaluate(stored), len(stored), len(self.keys)):
                if append is not None:
                    append(result)
                yield result
            self.evaluation.report_unused_cases()
            if append is not None:
                append(EvaluationEnd(unread=tuple(self.evaluation.unread)))

    def sort(self, results: Sequence[CaseResult]) -> list[CaseResult]:
        """Returns the results in the order of the keys, because cases end in any order."""
        by_key = {result.key: result for result in results}
        return [by_key[key] for key in self.keys if key in by_key] if self.keys else [*results]


def check_cases(cases: CaseSet, file: Path) -> None:
    """Checks the contracts of the cases; raises as ``check_names`` does."""
    stated = {f"the case {shorten(case.title, 80)!r}: ": case.contract for case in cases.cases}
    check_names({where: each for where, each in stated.items() if not isinstance(each, str)}, file)


def check_names(contracts: Mapping[str, EvaluationContract], file: Path) -> None:
    """Checks that each metric of a threshold, and each check by name, exists.

    Args:
        contracts: The contracts by their places in the file.
        file: The file.

    Raises:
        ContractError: One does not; a sentence for each, with the file, the case, and the nearest name.
    """
    problems = [
        f"{file.name}: {where}{problem}"
        for where, contract in contracts.items()
        for problem in (*find_threshold_problems(contract), find_unknown_check(Contract.of(contract), ()))
        if problem is not None
    ]
    if problems:
        raise ContractError("; ".join(limit_problems(problems)))
