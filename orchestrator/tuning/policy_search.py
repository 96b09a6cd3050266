"""Searches the space: tries policies on the same tasks, and ends those early that are clearly worse."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Final

from evaluation.errors import MissingExtraError
from evaluation.statistics.two_sample import sequential_test
from orchestrator.tuning.candidates import DEFAULT, Space
from orchestrator.tuning.replay import NamedPolicy
from orchestrator.tuning.trials import BudgetSpentError, MeasuredRun, Trial, choose_best
from orchestrator.tuning.tune_spec import TuneSpec

Progress = Callable[[Sequence[Trial]], None]
_ASKED_PER_TRIAL: Final = 20
"""Proposals for each trial, because the sampler may propose a policy again."""
_ALPHA: Final = 0.05


def build_trial(
    candidate: NamedPolicy, measured: Iterable[tuple[str, MeasuredRun]], best: Trial | None = None
) -> Trial:
    """Measures a policy task by task, until it is clearly worse than the best one so far.

    The test is paired by task and stays valid although it is read after every task (``sequential_test``).
    """
    by_task: dict[str, MeasuredRun] = {}
    pairs: list[tuple[float, float]] = []
    for task, run in measured:
        by_task[task] = run
        if best is not None:
            pairs.append((float(best.by_task[task].success), float(run.success)))
            if sequential_test(pairs, _ALPHA).verdict == "treatment_lower":
                reason = f"clearly worse than {best.candidate.name} after {len(pairs)} tasks"
                return Trial(candidate, by_task, stopped=reason)
    return Trial(candidate, by_task)


def search(
    spec: TuneSpec,
    space: Space,
    try_candidate: Callable[[NamedPolicy, Trial | None], Trial],
    report: Progress,
) -> tuple[list[Trial], str | None]:
    """Tries the default, and as many of the space as the budget allows.

    Args:
        spec: The specification.
        space: The policies.
        try_candidate: Measures a policy, next to the best one so far.
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
            trials.append(try_candidate(candidate, choose_best(trials, spec.objective)))
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
        # A policy that was ended early keeps the value of its tasks so far, which is low enough.
        trial = next(each for each in trials if each.candidate.policy == candidate.policy)
        study.tell(proposal, [trial.success, trial.cost(spec.objective)])


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
