"""Searches the space: tries candidates on the same tasks, and ends those early that are clearly worse."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Final, Protocol

from evaluation.errors import MissingExtraError
from evaluation.statistics.sequential import sequential_test
from orchestrator.tuning.candidates import Candidate, Space
from orchestrator.tuning.run_log import BudgetSpentError
from orchestrator.tuning.trials import Trial, Values
from orchestrator.tuning.tune_spec import Objective, TuneSpec

_ASKED_PER_TRIAL: Final = 20
"""Proposals for each trial: the sampler may propose a policy again, or one that RetryPolicy refuses."""
_ALPHA: Final = 0.05


class Measure(Protocol):
    """Gives the quantities of tasks under a candidate."""

    def __call__(self, candidate: Candidate, tasks: Sequence[str]) -> Iterator[tuple[str, Values]]:
        """Yields each task with its quantities, in this order."""
        ...


def run_trial(
    candidate: Candidate, tasks: Sequence[str], measure: Measure, best: Trial | None = None
) -> Trial:
    """Measures a candidate task by task, until it is clearly worse than the best one so far.

    The test is paired by task and stays valid although it is read after every task (``sequential_test``).

    Raises:
        BudgetSpentError: The budget does not allow all runs.
    """
    by_task: dict[str, Values] = {}
    pairs: list[tuple[float, float]] = []
    for task, values in measure(candidate, tasks):
        by_task[task] = values
        if best is not None and task in best.by_task:
            pairs.append((best.by_task[task]["success"], values["success"]))
            if sequential_test(pairs, _ALPHA).verdict == "treatment_lower":
                reason = f"clearly worse than {best.candidate.name} after {len(pairs)} tasks"
                return Trial(candidate, by_task, stopped=reason)
    return Trial(candidate, by_task)


def choose_best(trials: Sequence[Trial], objective: Objective) -> Trial | None:
    """Returns the trial on all tasks with the most success; of equal ones, the cheapest.

    Returns None if every one breaks a limit.
    """
    allowed = [trial for trial in trials if trial.stopped is None and trial.broken_limit(objective) is None]

    def rank(trial: Trial) -> tuple[float, float]:
        return trial.success, -(trial.mean(objective.against) or 0.0)

    return max(allowed, key=rank, default=None)


def search(
    spec: TuneSpec,
    space: Space,
    try_candidate: Callable[[Candidate, Trial | None], Trial],
    report: Callable[[Sequence[Trial]], None],
) -> tuple[list[Trial], str | None]:
    """Tries the default, the policies with names, and as many of the space as the budget allows.

    Args:
        spec: The specification.
        space: The candidates.
        try_candidate: Measures a candidate, next to the best one so far.
        report: Is called with all trials after each one.

    Returns:
        The trials, the default's first, and why the search ended early; None if it did not.

    Raises:
        BudgetSpentError: The budget does not suffice for the default.
        MissingExtraError: Optuna is not installed, and the space is too large to try all of it.
    """
    trials = [try_candidate(space.default, None)]
    report(trials)

    def attempt(candidate: Candidate) -> Trial:
        trial = try_candidate(candidate, choose_best(trials, spec.objective))
        trials.append(trial)
        report(trials)
        return trial

    try:
        everything = space.everything
        if len(everything) <= spec.budget.trials:
            for candidate in everything:
                attempt(candidate)
        else:
            for candidate in space.named[: spec.budget.trials]:
                attempt(candidate)
            _search_by_optuna(spec, space, attempt, trials)
    except BudgetSpentError as error:
        return trials, str(error)
    return trials, None


def _search_by_optuna(
    spec: TuneSpec, space: Space, attempt: Callable[[Candidate], Trial], trials: Sequence[Trial]
) -> None:
    optuna = _import_optuna()
    study = optuna.create_study(
        directions=["maximize", "minimize"],
        sampler=optuna.samplers.TPESampler(seed=spec.seed, n_startup_trials=min(10, spec.budget.trials)),
    )
    known = {trial.candidate.digest: trial for trial in trials}
    for _ in range(spec.budget.trials * _ASKED_PER_TRIAL):
        if len(known) > spec.budget.trials:
            return
        proposal = study.ask()
        choices = {
            name: proposal.suggest_categorical(name, list(range(size)))
            for name, size in space.dimensions.items()
        }
        candidate = space.find(choices)
        if candidate is None:
            study.tell(proposal, state=optuna.trial.TrialState.FAIL)
            continue
        if candidate.digest not in known:
            known[candidate.digest] = attempt(candidate)
        # A policy that was ended early keeps the value of its tasks so far, which is low enough.
        trial = known[candidate.digest]
        study.tell(proposal, [trial.success, trial.mean(spec.objective.against) or 0.0])


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
