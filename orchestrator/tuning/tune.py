"""tune: searches for the retry policy that pays, and checks it on tasks that the search did not see."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

from langchain_core.language_models import BaseChatModel

from agents import load_model
from evaluation.errors import MissingExtraError
from evaluation.evalset.task_case import TaskCase
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import open_store
from orchestrator.tuning.model_runs import ModelRunner
from orchestrator.tuning.recorded_replies import SqliteReplies
from orchestrator.tuning.replay import NamedPolicy, RecordedRun, read_run
from orchestrator.tuning.study_tasks import read_tasks, split_tasks
from orchestrator.tuning.trials import (
    BudgetSpentError,
    TaskRunner,
    Trial,
    TrialRunner,
    TuneResult,
    choose_best,
    recommend,
)
from orchestrator.tuning.tune_spec import DEFAULT, Space, TuneSpec, build_space, read_spec


def tune(
    spec: TuneSpec | str | Path,
    *,
    folder: str | Path = ".",
    runner: TaskRunner | TrialRunner | None = None,
    load: Callable[[str], BaseChatModel] = load_model,
    on_trial: Progress | None = None,
) -> TuneResult:
    """Search for a retry policy on tasks that are run.

    Every policy is run on the same tasks with the same seeds, and equal requests to a model get equal,
    recorded replies. The best one is compared with the default on held-out tasks. A search that was
    interrupted goes on where it was if it is started again: no model is asked twice. If there are too few
    tasks for a recommendation, a warning is logged before the first run.

    Args:
        spec: The specification, or the path of its YAML file.
        folder: Where the folder of the study is kept, with the recorded replies.
        runner: Runs a task, or all tasks of a trial, in place of the model of the specification.
        load: Loads a model by its specification.
        on_trial: Is called with all trials after each one.

    Raises:
        ConfigurationError: The specification or the tasks are not accepted, or another process has the study
            open; nothing was spent.
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded.
        MissingExtraError: Optuna is not installed.
        RunFailedError: A run failed for a reason that says nothing about its policy; the replies are kept.
    """
    checked = spec if isinstance(spec, TuneSpec) else read_spec(spec)
    space, cases = build_space(checked), read_tasks(checked)
    report = on_trial or (lambda _: None)
    if runner is not None:
        return _Study(checked, cases, runner).find_best(space, report)
    file = Path(folder) / checked.name / "replies.sqlite"
    with closing(SqliteReplies(file)) as replies:
        models = ModelRunner(checked, replies, load, space.escalations)
        return _Study(checked, cases, models).find_best(space, report)


@dataclass(frozen=True, slots=True)
class _Study:
    spec: TuneSpec
    cases: Mapping[str, TaskCase]
    runner: TaskRunner | TrialRunner

    def find_best(self, space: Space, report: Progress) -> TuneResult:
        """Tries the policies of the space, and recommends one."""
        searched, held_out = split_tasks([*self.cases], self.spec)

        try:
            trials, stopped = search(self.spec, space, lambda each: self._measure(each, searched), report)
        except BudgetSpentError as error:
            raise ConfigurationError(
                f"{error} before the default policy had run on all {len(searched)} tasks; "
                "raise it, or give fewer tasks"
            ) from None
        return self._conclude(trials, held_out, stopped)

    def _conclude(self, trials: Sequence[Trial], held_out: Sequence[str], stopped: str | None) -> TuneResult:
        """Compares the best policy with the default on the held-out tasks, and recommends one."""
        best, compared = choose_best(trials), None
        if best is not None and best.candidate != DEFAULT:
            try:
                compared = self._measure(best.candidate, held_out), self._measure(DEFAULT, held_out)
            except BudgetSpentError as error:
                stopped = f"{error}, so the best policy was not checked on held-out tasks"
        return TuneResult(self.spec, trials, recommend(best, compared), stopped)

    def _measure(self, candidate: NamedPolicy, tasks: Sequence[str]) -> Trial:
        cases = [self.cases[task] for task in tasks]
        if isinstance(self.runner, TrialRunner):
            runs = self.runner.run_all(cases, candidate.policy)
        else:
            runs = [self.runner.run(case, candidate.policy) for case in cases]
        return Trial(candidate, dict(zip(tasks, runs, strict=True)))


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


Progress = Callable[[Sequence[Trial]], None]
_ASKED_PER_TRIAL: Final = 20
"""Proposals for each trial, because the sampler may propose a policy again."""


def search(
    spec: TuneSpec,
    space: Space,
    measure: Callable[[NamedPolicy], Trial],
    report: Progress,
) -> tuple[list[Trial], str | None]:
    """Tries the default, and as many of the space as the budget allows.

    Args:
        spec: The specification.
        space: The policies.
        measure: Measures a policy.
        report: Is called with all trials after each one.

    Returns:
        The trials, the default's first, and why the search ended early; None if it did not.

    Raises:
        BudgetSpentError: The budget does not suffice for the default.
        MissingExtraError: Optuna is not installed, and the space is too large to try all of it.
    """
    trials: list[Trial] = []
    try:
        for candidate in _propose(spec, space, trials):
            trials.append(measure(candidate))
            report(trials)
    except BudgetSpentError as error:
        if not trials:
            raise
        return trials, str(error)
    return trials, None


def _propose(spec: TuneSpec, space: Space, trials: Sequence[Trial]) -> Iterator[NamedPolicy]:
    """Yields the policies to try; reads the results of those before."""
    yield DEFAULT
    if len(space.everything) <= spec.budget.trials:
        yield from space.everything
        return
    optuna = _import_optuna()
    sampler = optuna.samplers.TPESampler(seed=spec.seed, n_startup_trials=min(10, spec.budget.trials))
    study = optuna.create_study(directions=["maximize", "minimize"], sampler=sampler)
    for _ in range(spec.budget.trials * _ASKED_PER_TRIAL):
        if len(trials) > spec.budget.trials:
            return
        proposal = study.ask()
        choices = [proposal.suggest_categorical(name, [*range(size)]) for name, size in space.sizes.items()]
        candidate = space.combinations[tuple(choices)]
        if candidate.policy not in {trial.candidate.policy for trial in trials}:
            yield candidate
        trial = next(each for each in trials if each.candidate.policy == candidate.policy)
        study.tell(proposal, [trial.success, trial.tokens])


def _import_optuna() -> ModuleType:
    try:
        import optuna  # noqa: PLC0415 - takes seconds
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "the search of a large space needs optuna, which is not installed; "
            "run: pip install optuna, or raise budget.trials to try all of the space"
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna
