"""Executes cases, several at once, and evaluates their runs as they end; the assertion about one run."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Unpack

from pydantic import BaseModel

from evaluation import EvaluationContract, EvaluationReport, evaluate
from evaluation.cases.case_files import FROM_TASK, CaseSet, TaskCase
from evaluation.cases.case_result import CaseResult
from evaluation.cases.stored_evaluation import EvaluationHeader
from evaluation.cases.value_files import YAML_SUFFIXES
from evaluation.contract.intake import UnreadableCase
from evaluation.plugins import PluginOptions
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.reporting.action_pairs import describe_failure
from evaluation.values import JsonObject
from orchestrator.errors import ConfigurationError
from orchestrator.state.records import Requirement
from orchestrator.study.named_functions import import_name, run_hook
from orchestrator.study.recorded_evaluation import (
    NO_CASE,
    FailOn,
    Key,
    RecordedEvaluation,
    Source,
    check_cases,
)
from orchestrator.study.targets import Target, build_model_target, build_target, execute_case, read_output
from orchestrator.task_contracts.source import derive_contract, read_case

if TYPE_CHECKING:
    from evaluation.judges.model_judge import RubricJudge  # LangChain is slow to import


def score_case(
    evaluation: RecordedEvaluation, run: RecordedRun, case: TaskCase, problem: str | None = None
) -> CaseResult:
    """Returns the result of a run of a case.

    Args:
        evaluation: The gate, the judge, and the contract that holds for every run.
        run: The run, with ``case_id`` and ``agent_run`` alone.
        case: The case, whose contract is stated, or follows from the words of its task.
        problem: Why the run cannot be judged, which makes it invalid; None if it can.
    """
    contract = read_case(case, case.task) or derive_contract(case.task)
    own = replace(run, case={**run.case, **contract["contract"]})
    # A stated contract that is empty demands nothing, and has no default in its place.
    is_own = case.contract != FROM_TASK and not evaluation.has_contract
    judged = own if is_own else evaluation.add_contract(own)
    problem = problem or (NO_CASE if judged is None else None)
    judged = judged or own
    given: Any = judged.case if problem is None else UnreadableCase(case.title, problem)
    report = evaluate(given, judge=evaluation.judge)
    is_derived = case.contract == FROM_TASK and not evaluation.has_contract
    result = evaluation.build_result(report, judged, contract["unchecked"], is_derived=is_derived)
    correct = None if problem else find_correct(run.case, case)
    # The name of a case is the user's own, and tells the results apart.
    return result.model_copy(update={"name": case.title, "correct": correct})


def find_correct(run: JsonObject, case: TaskCase) -> bool | None:
    """Returns whether the output of a run is the known right answer; None if the case states none."""
    if case.answer is None:
        return None
    rule = case.answer.model_dump(exclude_unset=True)
    report = evaluate({"agent_run": run["agent_run"], "required_content": [rule]})
    return report.metrics.response.get("required_content") == 1.0


J = TypeVar("J")
Job: TypeAlias = tuple[TaskCase, int]
"""A case and the number of its run, from 0."""


@dataclass(frozen=True, slots=True)
class CaseRunner:
    """Executes cases and evaluates their runs; recorded ones are evaluated as they are.

    Attributes:
        target: Executes a case.
        evaluation: Evaluates the run.
        folder: The working directory of the commands before and after an execution.
        functions: The functions before and after an execution, by name.
        arm: The model or the policy under comparison.
    """

    target: Target
    evaluation: RecordedEvaluation
    folder: Path
    functions: Mapping[str, Callable[[TaskCase], object]] = field(default_factory=dict)
    arm: str = ""

    def run(self, job: Job) -> CaseResult:
        """Returns the result of a run. If a hook before or after it fails, it is invalid."""
        case, trial = job
        problem, recorded = None, case.agent_run
        if recorded is None:
            problem, recorded = self._execute(case)
        run = RecordedRun({"case_id": case.title, "agent_run": recorded}, trial=trial, arm=self.arm)
        return score_case(self.evaluation, run, case, problem)

    def _execute(self, case: TaskCase) -> tuple[str | None, dict[str, object]]:
        run: dict[str, object] = {}
        problems = [self._run_hook(case, "before")]
        if problems == [None]:
            run = execute_case(self.target, case)
        problems.append(self._run_hook(case, "after"))
        return "; ".join(filter(None, problems)) or None, run

    def _run_hook(self, case: TaskCase, when: str) -> str | None:
        problem = run_hook(getattr(case, when), case, self.folder, self.functions)
        return problem and f"{when}: {problem}"


def build_runner(  # noqa: PLR0917
    cases: CaseSet,
    file: Path,
    evaluation: RecordedEvaluation,
    target: str | None,
    model: str,
    calls_per_second: float | None = None,
) -> CaseRunner:
    """Builds the runner of a file of cases. This imports the functions that it names.

    Args:
        cases: The cases.
        file: Their file: commands run in its folder, and modules are found there and in the current folder.
        evaluation: Evaluates the runs.
        target: The name of what executes the cases; None for the orchestrator of the model.
        model: The specification of the model, which is loaded if a case has to be executed.
        calls_per_second: The greatest rate of calls of the model, or of the target; None for any.

    Raises:
        ContractError: A metric or a check of a contract does not exist.
        ConfigurationError: A name cannot be imported, or names no target; or a file that is not YAML names
            code.
        ModelSpecError: The specification names no model.
        ModelSetupError: The model cannot be loaded.
    """
    if file.suffix.lower() not in YAML_SUFFIXES and cases.names_code:
        raise ConfigurationError(
            f"{file.name} names code to run, which only a file of cases in YAML may; write it in YAML"
        )
    check_cases(cases, file)
    folders = (file.parent, Path.cwd())
    names = {name for case in cases.cases for name in (case.before, case.after) if isinstance(name, str)}
    try:
        functions = {name: import_name(name, *folders) for name in names}
        if target is not None:
            execute = build_target(import_name(target, *folders), calls_per_second)
        elif all(case.agent_run is not None for case in cases.cases):
            execute = build_target(str)  # nothing is executed
        else:
            execute = build_model_target(model, calls_per_second)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{file.name}: {error}") from None
    return CaseRunner(execute, evaluation, file.parent, functions)


def list_jobs(cases: CaseSet, repeat: int | None) -> list[Job]:
    """Returns the runs of all cases: ``repeat`` of each, by default as often as the case says, or once.

    Raises:
        ConfigurationError: A case with a recorded run is repeated, or two runs have one name.
    """
    for case in cases.cases:
        if case.agent_run is not None and case.repeat not in {None, 1, cases.defaults.repeat}:
            raise ConfigurationError(
                f"the case {case.title!r:.80} has an agent_run, which is evaluated once; leave out its repeat"
            )
    jobs = [
        (case, trial)
        for case in cases.cases
        for trial in range(1 if case.agent_run is not None else repeat or case.repeat or 1)
    ]
    [(name, count)] = Counter(name_jobs(jobs)).most_common(1)
    if count > 1:
        raise ConfigurationError(
            f"two runs have the name {name!r:.80}; give the case with this name another one"
        )
    return jobs


def name_jobs(jobs: Sequence[Job]) -> list[str]:
    """Returns the name of each run in reports; those of a case with several have numbers, from 1."""
    repeated = {case.title for case, trial in jobs if trial}
    return [f"{case.title}[{trial + 1}]" if case.title in repeated else case.title for case, trial in jobs]


def run_jobs(run: Callable[[J], CaseResult], jobs: Iterable[J], concurrency: int) -> Iterator[CaseResult]:
    """Yields the results as the runs end, at most ``concurrency`` of them at once."""
    with ThreadPoolExecutor(concurrency, thread_name_prefix="case") as pool:
        waiting: set[Future[CaseResult]] = set()
        try:
            for job in jobs:
                waiting.add(pool.submit(run, job))
                if len(waiting) >= concurrency:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        finally:
            for future in waiting:
                future.cancel()


def build_job_source(
    evaluation: RecordedEvaluation,
    jobs: Mapping[Key, J],
    run: Callable[[J], CaseResult],
    header: EvaluationHeader,
    concurrency: int,
) -> Source:
    """Builds the source of the results of executions, at most ``concurrency`` of them at once."""

    def evaluate(stored: Sequence[CaseResult]) -> Iterator[CaseResult]:
        done = {result.key for result in stored}
        left = [job for key, job in jobs.items() if key not in done]
        return run_jobs(run, left, concurrency)

    return Source(evaluation, evaluate, header, [*jobs])


def digest_cases(cases: CaseSet) -> str:
    """Returns a digest of cases, by which a file of results is known to be theirs."""
    return hashlib.sha256(cases.model_dump_json(exclude_unset=True).encode()).hexdigest()


def assert_evaluation(
    run: object,
    *,
    contract: EvaluationContract | Mapping[str, object] | None = None,
    require: Requirement | None = None,
    fail_on: FailOn = "failed",
    judge: RubricJudge | None = None,
    **options: Unpack[PluginOptions],
) -> EvaluationReport:
    """Evaluate a run and raise AssertionError if it is not accepted.

    Args:
        run: A case for ``evaluate``; or an ``agent_run``, the state of a run, LangChain's ``{"messages":
            [...]}``, or the answer as a text.
        contract: What is required, in place of the contract of a case. Without any contract: that no fact
            and no action is without a source, and the other checks that need none.
        require: What a success has to rest on: "checked", "judged" or "approved"; None for anything.
        fail_on: The least severe status that is not accepted: "warning", "needs_review" or "failed".
        judge: Scores what no program can.
        options: The plug-ins of ``evaluate``.

    Returns:
        The report of an accepted run.

    Raises:
        AssertionError: The run is not accepted. The text has the reasons, the expected calls beside the
            actual ones, and the answer.
        ContractError: The contract is wrong.
        TypeError: The run is none of these.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    fields = _read_contract(contract)
    evaluation = RecordedEvaluation(fields, fail_on, require, judge, keeps_runs=True)
    recorded = RecordedRun(_read_case(run))
    judged = evaluation.add_contract(recorded) or recorded
    report = evaluate(judged.case, judge=judge, **options)
    result = evaluation.build_result(report, judged)
    if not result.accepted:
        raise AssertionError(describe_failure(result))
    return report


def _read_contract(contract: EvaluationContract | Mapping[str, object] | None) -> JsonObject | None:
    if contract is None:
        return None
    if not isinstance(contract, EvaluationContract):
        fields: dict[str, Any] = dict(contract)
        contract = EvaluationContract(**fields)
    return contract.model_dump(mode="json", exclude_unset=True)


def _read_case(run: object) -> JsonObject:
    value = run.model_dump(mode="json", exclude_unset=True) if isinstance(run, BaseModel) else run
    if isinstance(value, Mapping) and "agent_run" in value:
        return value
    return {"agent_run": read_output(value)}
