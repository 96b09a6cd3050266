"""tune: searches for the retry policy that pays, and checks it on tasks that the search did not see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from agents import load_model
from evaluation.evalset.task_case import TaskCase
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import open_store
from orchestrator.state.plain_values import format_repr
from orchestrator.tuning.candidates import Candidate, Space, build_space, digest_value
from orchestrator.tuning.recommendation import TuneResult, recommend
from orchestrator.tuning.replay import RecordedRun, read_run
from orchestrator.tuning.run_log import BudgetSpentError, RunLog, open_study
from orchestrator.tuning.search import Progress, build_trial, search
from orchestrator.tuning.study_tasks import read_tasks, split_tasks
from orchestrator.tuning.trials import TaskRunner, Trial, Values, choose_best, find_front, join_values
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
    is repeated. If there are too few tasks for a recommendation, a warning is logged before the first run.

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
    space, cases = build_space(checked), read_tasks(checked)
    searched, held_out = split_tasks([*cases], checked)
    with open_study(checked, Path(folder)) as home:
        run_tasks = runner or _load_runner(checked, space, home, load)
        prices = checked.model_dump(mode="json", include={"prices"})
        origin = [getattr(run_tasks, "identity", ""), prices, version("plan-execute-monitor")]
        log = RunLog(home, checked.budget, digest_value(origin))
        study = _Study(checked, cases, log, run_tasks)
        trials, stopped = study.search(space, searched, on_trial or (lambda _: None))
        return study.conclude(trials, held_out, stopped)


@dataclass(frozen=True, slots=True)
class _Study:
    spec: TuneSpec
    cases: Mapping[str, TaskCase]
    log: RunLog
    runner: TaskRunner

    def search(self, space: Space, tasks: Sequence[str], report: Progress) -> tuple[list[Trial], str | None]:
        """Tries the candidates of the space on these tasks; see ``search``."""

        def try_candidate(candidate: Candidate, best: Trial | None) -> Trial:
            trial = build_trial(candidate, self._measure(candidate, tasks), best)
            self._check_quantities(trial)
            return trial

        try:
            return search(self.spec, space, try_candidate, report)
        except BudgetSpentError as error:
            raise ConfigurationError(
                f"{error} before the default policy had run on all {len(tasks)} tasks; "
                "raise it, or give fewer tasks"
            ) from None

    def conclude(self, trials: Sequence[Trial], held_out: Sequence[str], stopped: str | None) -> TuneResult:
        """Compares the best candidate with the default on the held-out tasks, and recommends one."""
        objective, default = self.spec.objective, trials[0]
        best, compared = choose_best(trials, objective), None
        if best is not None and best is not default:
            pair = best.candidate, default.candidate
            try:
                after, before = (build_trial(each, self._measure(each, held_out)) for each in pair)
                compared = after, before
            except BudgetSpentError as error:
                stopped = f"{error}, so the best policy was not checked on held-out tasks"
        recommendation = recommend(default, best, compared, objective)
        return TuneResult(self.spec, trials, find_front(trials, objective), recommendation, stopped)

    def _measure(self, candidate: Candidate, tasks: Sequence[str]) -> Iterator[tuple[str, Values]]:
        """Yields each task with the means over its runs."""
        for task in tasks:
            repeats = range(self.spec.repeats)
            yield (
                task,
                join_values(
                    [self.log.measure(self.runner, self.cases[task], candidate, each) for each in repeats]
                ),
            )

    def _check_quantities(self, trial: Trial) -> None:
        for quantity in self.spec.objective.quantities:
            if trial.mean(quantity) is None:
                raise ConfigurationError(
                    f"the objective needs {quantity}, which the runs do not report; "
                    "leave it out of the objective"
                )


def load_recorded_runs(spec: TuneSpec, folder: str | Path = ".") -> list[RecordedRun]:
    """Load the attempts of all finished runs of a study, for ``replay``, of its tasks as they are now.

    Args:
        spec: The specification of the study.
        folder: Where the folder of the study is kept.

    Raises:
        ConfigurationError: The tasks cannot be read, or a line of the study's file is broken.
    """
    return RunLog(Path(folder) / spec.name, spec.budget).find_runs(read_tasks(spec))


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
