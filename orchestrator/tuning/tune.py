"""tune: searches for the retry policy that pays, and checks it on tasks that the search did not see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from agents import load_model
from evaluation.errors import ContractError
from evaluation.evalset.files import read_case_set
from evaluation.evalset.task_case import TaskCase
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import open_store
from orchestrator.state.plain_values import format_repr
from orchestrator.tuning.candidates import Candidate, Space, build_space
from orchestrator.tuning.measured_runs import (
    TaskRunner,
    check_cases,
    join_values,
    name_task,
)
from orchestrator.tuning.replay import RecordedRun, read_run
from orchestrator.tuning.run_log import BudgetSpentError, RunLog, digest_values, open_study
from orchestrator.tuning.search import choose_best, run_trial, search
from orchestrator.tuning.trials import Trial, Values
from orchestrator.tuning.tune_result import FEWEST_TASKS, Progress, TuneResult, build_result, split_tasks
from orchestrator.tuning.tune_spec import TuneSpec, read_spec


def tune(
    spec: TuneSpec | str | Path,
    *,
    folder: str | Path = ".",
    runner: TaskRunner | None = None,
    load: Callable[[str], object] = load_model,
    on_trial: Progress | None = None,
) -> TuneResult:
    """Search for a retry policy on tasks that are run.

    Every policy is run on the same tasks with the same seeds, and equal requests to a model get equal,
    recorded replies. A policy that is clearly worse ends early. The best one is compared with the default on
    held-out tasks. A search that was interrupted goes on where it was if it is started again: no finished run
    is repeated.

    Args:
        spec: The specification, or the path of its YAML file.
        folder: Where the folder of the study is kept.
        runner: Runs a task in place of the models of the specification.
        load: Loads a model by its specification.
        on_trial: Is called with all trials after each one.

    Raises:
        ConfigurationError: The specification or the tasks are not accepted, or another process has the study
            open; nothing was spent.
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded.
        MissingExtraError: Optuna is not installed.
        RunFailedError: A run failed for a reason that says nothing about its policy; the others are kept.
    """
    if not isinstance(spec, TuneSpec | str | Path):
        raise ConfigurationError(
            f"spec is {format_repr(spec, 80)}; give TuneSpec(**spec), or the path of a YAML file"
        )
    checked = spec if isinstance(spec, TuneSpec) else read_spec(spec)
    space = build_space(checked)
    report = on_trial or (lambda _: None)
    cases = _read_tasks(checked.tasks)
    with open_study(checked, Path(folder)) as home:
        run_tasks = runner or _load_runner(checked, space, home, load)
        prices = checked.model_dump(mode="json", include={"prices"})
        identity = digest_values(getattr(run_tasks, "identity", ""), prices, version("plan-execute-monitor"))
        study = _Study(RunLog(home / "runs.jsonl", checked.budget, identity), run_tasks)
        return _tune_tasks(checked, space, cases, study, report)


@dataclass(frozen=True, slots=True)
class _Study:
    log: RunLog
    runner: TaskRunner

    def measure(
        self, cases: Mapping[str, TaskCase], repeats: int, candidate: Candidate, tasks: Sequence[str]
    ) -> Iterator[tuple[str, Values]]:
        """Yields each task with the means over its runs."""
        for task in tasks:
            runs = [
                self.log.measure(self.runner, cases[task], candidate, repeat) for repeat in range(repeats)
            ]
            yield task, join_values(runs)


def _tune_tasks(
    spec: TuneSpec, space: Space, cases: Sequence[TaskCase], study: _Study, report: Progress
) -> TuneResult:
    by_name = {name_task(case): case for case in cases}
    searched, held_out = split_tasks(list(by_name), spec)
    measure = partial(study.measure, by_name, spec.repeats)

    def try_candidate(candidate: Candidate, best: Trial | None) -> Trial:
        trial = run_trial(candidate, searched, measure, best)
        _check_quantities(trial, spec)
        return trial

    try:
        trials, stopped = search(spec, space, try_candidate, report)
    except BudgetSpentError as error:
        raise ConfigurationError(
            f"{error} before the default policy had run on all {len(searched)} tasks; "
            "raise it, or give fewer tasks"
        ) from None
    best = choose_best(trials, spec.objective)
    checked = None
    if best is not None and best.candidate.digest != space.default.digest:
        try:
            checked = (
                run_trial(best.candidate, held_out, measure),
                run_trial(space.default, held_out, measure),
            )
        except BudgetSpentError as error:
            stopped = f"{error}, so the best policy was not checked on held-out tasks"
    return build_result(spec, trials, checked, stopped)


def _read_tasks(path: str) -> list[TaskCase]:
    try:
        cases = list(read_case_set(path).cases)
    except ContractError as error:
        raise ConfigurationError(f"tasks: {error}") from None
    except OSError as error:
        raise ConfigurationError(f"tasks: {path!r} cannot be read ({error.strerror})") from None
    check_cases(cases)
    if len(cases) < FEWEST_TASKS:
        raise ConfigurationError(
            f"tasks: {path!r} has {len(cases)} task; give at least {FEWEST_TASKS}, and better 50"
        )
    return cases


def load_recorded_runs(spec: TuneSpec, folder: str | Path = ".") -> list[RecordedRun]:
    """Load the attempts of all finished runs of a study, for ``replay``, of its tasks as they are now.

    Args:
        spec: The specification of the study.
        folder: Where the folder of the study is kept.

    Raises:
        ConfigurationError: The tasks cannot be read, or a line of the study's file is broken.
    """
    log = RunLog(Path(folder) / spec.name / "runs.jsonl", spec.budget)
    return log.find_runs(_read_tasks(spec.tasks))


def read_stored_runs(where: str) -> list[RecordedRun]:
    """Reads the finished runs of a store, by its path or URL.

    Raises:
        StoreError: The store cannot be read.
        ConfigurationError: The records of a run have gaps.
    """
    with open_store(where, make=False) as store:
        ended = [run for run in store.history.runs() if run.status in {"success", "failed"}]
        runs = [read_run(store.history.show(run.thread_id).state) for run in ended]
    return [run for run in runs if run.steps]


def _load_runner(spec: TuneSpec, space: Space, home: Path, load: Callable[[str], object]) -> TaskRunner:
    from orchestrator.tuning.model_runs import ModelRunner  # noqa: PLC0415 - imports LangGraph

    return ModelRunner(spec, home / "replies.sqlite", load, space.escalations)


def _check_quantities(trial: Trial, spec: TuneSpec) -> None:
    for quantity in spec.objective.quantities:
        if trial.mean(quantity) is None:
            raise ConfigurationError(
                f"the objective needs {quantity}, which the runs do not report; leave it out of the objective"
            )
