"""Evaluates recorded runs: ``orchestrator evaluate``."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, cast

from evaluation import EvaluationReport, evaluate_many, find_trust
from evaluation.inputs.intake import UnreadableCase
from evaluation.judges.model_judge import RubricJudge
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import ReadRun
from evaluation.reporting.result_files import RunResult
from evaluation.values import JsonObject, as_list, as_object
from orchestrator.judging.basis import find_basis, is_enough
from orchestrator.judging.evidence import read_evidence
from orchestrator.state.evaluation_report import Report
from orchestrator.state.records import Basis, PlainContract, Requirement

FailOn: TypeAlias = Literal["warning", "needs_review", "failed"]
_SEVERITY: Final = ("passed", "warning", "needs_review", "failed", "invalid")
MOST_REASONS: Final = 3
_OF_RUN: Final = frozenset({"case_id", "agent_run"})
_SOURCED: Final[JsonObject] = {"checks": [{"check": "sourced_facts"}]}
"""What is checked without a contract, besides credentials, cut replies and calls without an answer."""


@dataclass(slots=True)
class RecordedEvaluation:
    """Evaluates runs one after the other, and counts what could not be read.

    Attributes:
        contract: The fields of the contract, which hold for every run beside its own; None for what needs no
            contract.
        fail_on: The least severe status that is not accepted.
        require: What an accepted status has to rest on; None for anything.
        judge: Scores what no program can; None for none.
        unread: What could not be read, and what was ignored, one sentence each.
        problems: How many runs could not be read.
    """

    contract: JsonObject | None
    fail_on: FailOn = "failed"
    require: Requirement | None = None
    judge: RubricJudge | None = None
    unread: list[str] = field(default_factory=list)
    problems: int = 0

    def evaluate(self, runs: Iterable[ReadRun]) -> Iterator[tuple[RunResult, EvaluationReport]]:
        """Yields the result and the report of each run, in their order."""
        cases: deque[JsonObject] = deque()
        reports = evaluate_many(self._list_cases(runs, cases), judge=self.judge)
        for report in reports:
            yield self._judge_report(report, cases.popleft()), report

    def _list_cases(self, runs: Iterable[ReadRun], cases: deque[JsonObject]) -> Iterator[JsonObject]:
        for run in runs:
            if isinstance(run, UnreadableCase):
                self.problems += 1
                self.unread.append(f"{run.where}: {run.problem}")
                continue
            self.unread.extend(run.warnings)
            cases.append(self._add_contract(run))
            yield cases[-1]

    def _add_contract(self, run: RecordedRun) -> JsonObject:
        calls = as_list(as_object(run.case.get("agent_run")).get("tool_calls"))
        has_results = any(as_object(call).get("result") is not None for call in calls)
        contract = _SOURCED if has_results and run.case.keys() <= _OF_RUN else {}
        # The contract of the run itself is the closer one.
        return {**(contract if self.contract is None else self.contract), **run.case}

    def _judge_report(self, report: EvaluationReport, case: JsonObject) -> RunResult:
        basis = self._find_basis(report, case)
        is_low = _SEVERITY.index(report.status) < _SEVERITY.index(self.fail_on)
        is_accepted = is_low and is_enough(basis, self.require)
        reasons = tuple(str(alert["reason"]) for alert in report.alerts if alert["severity"] != "info")
        reasons = tuple(report.errors) or reasons
        if is_low and not is_accepted:
            reasons = (f"it rests on less than --require {self.require}: {basis}", *reasons)
        return RunResult(str(report.case_id), report.status, basis, reasons[:MOST_REASONS], is_accepted)

    def _find_basis(self, report: EvaluationReport, case: JsonObject) -> Basis:
        contract = cast("PlainContract", {name: case[name] for name in case if name != "agent_run"})
        evidence = read_evidence(cast("Report", report.model_dump(mode="json")), contract)
        if self.judge is not None and evidence.judge and not evidence.is_checked:
            evidence = replace(evidence, trust=find_trust(self.judge.identity))
        return find_basis(evidence)
