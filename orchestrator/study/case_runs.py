"""Executes cases, several at once, and evaluates their runs as they end; the assertion about one run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from pydantic import BaseModel

from agents import load_model
from evaluation import EvaluationContract, EvaluationReport, evaluate
from evaluation.cases.case_files import FROM_TASK, YAML_SUFFIXES, CaseSet, TaskCase
from evaluation.cases.case_result import CaseResult, EvaluationHeader
from evaluation.contract.intake import UnreadableCase, to_plain_case, with_contract
from evaluation.contract.requirements import Origin
from evaluation.contract.run import AgentRun
from evaluation.judges.model_judge import RubricJudge
from evaluation.plugins import PluginOptions
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.reporting.summaries import describe_failure
from evaluation.values import JsonObject, as_object
from orchestrator.errors import ConfigurationError
from orchestrator.judging.contract_options import derive_contract, read_case
from orchestrator.state.records import Requirement
from orchestrator.study.recorded_evaluation import (
    NO_CASE,
    FailOn,
    RecordedEvaluation,
    Source,
    check_cases,
    read_contract,
)
from orchestrator.study.targets import Target, build_target, execute_case, import_name, read_output, run_case


def find_correct(run: JsonObject, case: TaskCase) -> bool | None:
    """Returns whether the output of a run is the known right answer; None if the case states none."""
    if case.answer is None:
        return None
    rule = case.answer.model_dump(exclude_unset=True)
    report = evaluate({"agent_run": run["agent_run"], "required_content": [rule]})
    return report.metrics.response.get("required_content") == 1.0


Job: TypeAlias = tuple[TaskCase, int]
"""A case and the number of its run, from 0."""


@dataclass(frozen=True, slots=True)
class CaseRunner:
    """Executes cases and evaluates their runs; recorded ones are evaluated as they are.

    Attributes:
        target: Executes a case.
        evaluation: Has the gate, the judge, and the contract that holds for every run.
        arm: The model or the policy under comparison.
    """

    target: Target
    evaluation: RecordedEvaluation
    arm: str = ""

    def run(self, job: Job) -> CaseResult:
        """Returns the result of a run.

        The contract of the case is stated, or follows from the words of its task.
        """
        case, trial = job
        recorded = execute_case(self.target, case, trial) if case.agent_run is None else case.agent_run
        run = RecordedRun({"case_id": case.title, "agent_run": recorded}, trial=trial, arm=self.arm)
        contract = read_case(case, case.task) or derive_contract(case.task)
        is_derived = case.contract == FROM_TASK and not self.evaluation.has_contract
        origin: Origin = "task" if is_derived else "caller"
        # A stated contract that is empty demands nothing, and has no default in its place.
        is_own = case.contract != FROM_TASK and not self.evaluation.has_contract
        fields = contract["contract"]
        # One that follows from the task and is empty is none.
        own = replace(run, case=as_object(with_contract(run.case, fields))) if fields or is_own else run
        judged = own if is_own else self.evaluation.add_contract(own)
        given: Any = UnreadableCase(case.title, NO_CASE)
        if judged is not None:
            given = {**run.case, "contract": read_contract(judged.case, origin)}
        report = evaluate(given, judge=self.evaluation.judge)
        result = self.evaluation.build_result(report, judged or own, contract["unchecked"], origin)
        # The name of a case is the user's own, and tells the results apart.
        return result.model_copy(update={"name": case.title, "correct": find_correct(run.case, case)})


def read_target(cases: CaseSet, file: Path, name: str | None, model: str) -> Target:
    """Returns what executes the cases of a file. This imports the function that is named.

    Args:
        cases: The cases, whose contracts are checked.
        file: Their file: modules are found in its folder and in the current one.
        name: The name of the target; None for the orchestrator of the model.
        model: The specification of the model, which is loaded if a case has to be executed.

    Raises:
        ContractError: A metric or a check of a contract does not exist.
        ConfigurationError: The name cannot be imported, or names no target; or a file that is not YAML names
            code.
        ModelSpecError: The specification names no model.
        ModelSetupError: The model cannot be loaded.
    """
    if file.suffix.lower() not in YAML_SUFFIXES and cases.target is not None:
        raise ConfigurationError(
            f"{file.name} names code to run, which only a file of cases in YAML may; write it in YAML"
        )
    check_cases(cases, file)
    try:
        if name is not None:
            return build_target(import_name(name, file.parent, Path.cwd()))
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{file.name}: {error}") from None
    if all(case.agent_run is not None for case in cases.cases):
        return build_target(str)  # nothing is executed
    loaded = load_model(model)
    return lambda case, _: run_case(loaded, case)


def list_jobs(cases: CaseSet, repeat: int | None) -> list[Job]:
    """Returns the runs of all cases: ``repeat`` of each, by default as often as the case says, or once.

    A recorded run is evaluated once.
    """
    return [
        (case, trial)
        for case in cases.cases
        for trial in range(1 if case.agent_run is not None else repeat or case.repeat or 1)
    ]


def name_jobs(jobs: Sequence[Job]) -> list[str]:
    """Returns the name of each run in reports; the runs of a case with several have numbers, from 1."""
    repeated = {case.title for case, trial in jobs if trial}
    return [f"{case.title}[{trial + 1}]" if case.title in repeated else case.title for case, trial in jobs]


def run_jobs(jobs: Iterable[tuple[CaseRunner, Job]], concurrency: int) -> Iterator[CaseResult]:
    """Yields the results as the runs end, at most ``concurrency`` of them at once."""
    with ThreadPoolExecutor(concurrency, thread_name_prefix="case") as pool:
        try:
            ended = as_completed([pool.submit(runner.run, job) for runner, job in jobs])
            yield from (future.result() for future in ended)
        finally:
            pool.shutdown(cancel_futures=True)


def build_case_source(
    runners: Sequence[CaseRunner],
    cases: CaseSet,
    repeat: int | None,
    concurrency: int,
    options: Mapping[str, object],
) -> Source:
    """Builds the source of the results of all cases by all runners, which share their evaluation.

    Args:
        runners: One for each arm.
        cases: The cases.
        repeat: The number of runs of each case; None for the one of the case.
        concurrency: Executions at once.
        options: What else decides the results, for the header of a file of results.
    """
    jobs = {
        (case.title, runner.arm, trial): (runner, (case, trial))
        for case, trial in list_jobs(cases, repeat)
        for runner in runners
    }

    def evaluate_rest(stored: Sequence[CaseResult]) -> Iterator[CaseResult]:
        done = {result.key for result in stored}
        return run_jobs([job for key, job in jobs.items() if key not in done], concurrency)

    # By the digest, a file of results is known to be of these cases.
    digest = hashlib.sha256(cases.model_dump_json(exclude_unset=True).encode()).hexdigest()
    header = EvaluationHeader(cases=digest, options=dict(options))
    return Source(runners[0].evaluation, evaluate_rest, header, [*jobs])


def assert_evaluation(
    run: object,
    *,
    contract: EvaluationContract | Mapping[str, object] | None = None,
    require: Requirement | None = None,
    fail_on: FailOn = "needs_review",
    judge: RubricJudge | None = None,
    **options: Unpack[PluginOptions],
) -> EvaluationReport:
    """Evaluate a run and raise AssertionError if it is not accepted.

    Args:
        run: A case for ``evaluate``; or an ``agent_run``, the state of a run, messages, LangChain's
            ``{"messages": [...]}``, or the answer as a text.
        contract: The demands, in place of the contract of a case. Without any contract: that no fact
            and no action is without a source, and the other checks that need none.
        require: The least basis of a success: "checked", "judged" or "approved"; None for anything.
        fail_on: The least severe status that is not accepted: "warning", "needs_review" or "failed".
        judge: Scores what no program can.
        options: The plug-ins of ``evaluate``.

    Returns:
        The report of an accepted run.

    Raises:
        AssertionError: The run is not accepted. The text has the reasons, the calls, and the answer.
        ContractError: The contract is wrong.
        TypeError: The run is none of these.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    if isinstance(contract, Mapping):
        given: dict[str, Any] = dict(contract)
        contract = EvaluationContract(**given)
    fields = None if contract is None else contract.model_dump(mode="json", exclude_unset=True)
    evaluation = RecordedEvaluation(fields, fail_on, require, judge, keeps_runs=True)
    recorded = RecordedRun(_read_case(run))
    judged = evaluation.add_contract(recorded) or recorded
    report = evaluate(judged.case, judge=judge, **options)
    result = evaluation.build_result(report, judged)
    if not result.accepted:
        raise AssertionError(describe_failure(result))
    return report


def _read_case(run: object) -> JsonObject:
    value = run.model_dump(mode="json", exclude_unset=True) if isinstance(run, BaseModel) else run
    is_run = isinstance(value, Mapping) and value.keys() <= AgentRun.model_fields.keys()
    case = value if is_run else to_plain_case(value)
    return case if isinstance(case, Mapping) and "agent_run" in case else {"agent_run": read_output(value)}
