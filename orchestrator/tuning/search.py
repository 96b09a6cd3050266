"""Searches the space: tries candidates on the same tasks, and ends those early that are clearly worse."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Final

from evaluation.errors import MissingExtraError
from evaluation.statistics.two_sample import sequential_test
from orchestrator.tuning.candidates import Candidate, Space
from orchestrator.tuning.run_log import BudgetSpentError
from orchestrator.tuning.trials import Trial, Values, choose_best
from orchestrator.tuning.tune_spec import TuneSpec

Progress = Callable[[Sequence[Trial]], None]
_ASKED_PER_TRIAL: Final = 20
"""Proposals for each trial, because the sampler may propose a policy again."""
_ALPHA: Final = 0.05


def build_trial(
    candidate: Candidate, measured: Iterable[tuple[str, Values]], best: Trial | None = None
) -> Trial:
    """Measures a candidate task by task, until it is clearly worse than the best one so far.

    The test is paired by task and stays valid although it is read after every task (``sequential_test``).
    """
    by_task: dict[str, Values] = {}
    pairs: list[tuple[float, float]] = []
    for task, values in measured:
        by_task[task] = values
        if best is not None and task in best.by_task:
            pairs.append((best.by_task[task]["success"], values["success"]))
            if sequential_test(pairs, _ALPHA).verdict == "treatment_lower":
                reason = f"clearly worse than {best.candidate.name} after {len(pairs)} tasks"
                return Trial(candidate, by_task, stopped=reason)
    return Trial(candidate, by_task)


def search(
    spec: TuneSpec,
    space: Space,
    try_candidate: Callable[[Candidate, Trial | None], Trial],
    report: Progress,
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


def _propose(spec: TuneSpec, space: Space, trials: Sequence[Trial]) -> Iterator[Candidate]:
    """Yields the candidates to try; reads the results of those before."""
    yield space.default
    everything = space.everything
    if len(everything) <= spec.budget.trials:
        yield from everything
        return
    named = [candidate for candidate in everything if candidate in space.named]
    yield from named[: spec.budget.trials]
    yield from _propose_by_optuna(spec, space, trials)


def _propose_by_optuna(spec: TuneSpec, space: Space, trials: Sequence[Trial]) -> Iterator[Candidate]:
    optuna = _import_optuna()
    startup = min(10, spec.budget.trials)
    sampler = optuna.samplers.TPESampler(seed=spec.seed, n_startup_trials=startup)
    study = optuna.create_study(directions=["maximize", "minimize"], sampler=sampler)
    for _ in range(spec.budget.trials * _ASKED_PER_TRIAL):
        if len(trials) > spec.budget.trials:
            return
        proposal = study.ask()
        sizes = space.dimensions.items()
        choices = [proposal.suggest_categorical(name, list(range(size))) for name, size in sizes]
        candidate = space.combinations[tuple(choices)]
        if candidate.digest not in {trial.candidate.digest for trial in trials}:
            yield candidate
        # A policy that was ended early keeps the value of its tasks so far, which is low enough.
        trial = next(each for each in trials if each.candidate.digest == candidate.digest)
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
