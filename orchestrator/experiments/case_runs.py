"""Executes cases, several at once, and evaluates their runs as they end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from evaluation import evaluate
from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.files import FROM_TASK, CaseSet, TaskCase
from evaluation.evalset.value_files import YAML_SUFFIXES
from evaluation.inputs.intake import UnreadableCase
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.values import JsonObject
from orchestrator.errors import ConfigurationError
from orchestrator.experiments.named_functions import import_name, run_hook
from orchestrator.experiments.recorded_evaluation import NO_CASE, RecordedEvaluation
from orchestrator.experiments.stated_names import check_cases
from orchestrator.experiments.targets import Target, build_model_target, build_target, execute_case
from orchestrator.task_contracts.source import derive_contract, read_case


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
