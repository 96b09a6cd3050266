"""Tunes by replay: the finished runs of a store are the evidence, and no model is called."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

from orchestrator.errors import ConfigurationError
from orchestrator.persistence import open_store
from orchestrator.tuning.candidates import Candidate, Space
from orchestrator.tuning.replay.attempts import RecordedRun
from orchestrator.tuning.replay.policies import NamedPolicy, read_run
from orchestrator.tuning.replay.replaying import Replayed, replay
from orchestrator.tuning.replay.table import RESOURCES
from orchestrator.tuning.search import choose_best
from orchestrator.tuning.spec import TuneSpec
from orchestrator.tuning.trials import Trial, Values
from orchestrator.tuning.tune_result import Progress, TuneResult, build_result, split_tasks

_MOST: Final = 2000
"""Policies of a large space that are replayed: the first ones of their order."""


def read_stored_runs(where: str) -> list[RecordedRun]:
    """Reads the finished runs of a store.

    Raises:
        StoreError: The store cannot be read.
    """
    with open_store(where, make=False) as store:
        ended = [run for run in store.history.runs() if run.status in {"success", "failed"}]
        runs = [read_run(store.history.show(run.thread_id).state) for run in ended]
    return [run for run in runs if run.steps]


def tune_stored_runs(spec: TuneSpec, space: Space, report: Progress) -> TuneResult:
    """Replays every candidate on stored runs.

    Raises:
        ConfigurationError: There are no finished runs, or they do not report what the objective needs.
        StoreError: The store cannot be read.
    """
    return tune_runs(spec, space, read_stored_runs(spec.runs or ""), report)


def tune_runs(spec: TuneSpec, space: Space, runs: Sequence[RecordedRun], report: Progress) -> TuneResult:
    """Replays every candidate on recorded runs."""
    if not runs:
        raise ConfigurationError(
            f"runs: {spec.runs!r} has no finished run; run some tasks with that store first"
        )
    if len(spec.models) > 1:
        raise ConfigurationError(
            "runs cannot be replayed with another model; leave models out, or give tasks"
        )
    searched, held_out = split_tasks(sorted({run.task for run in runs}), spec)
    candidates = [space.default, *islice(space.everything, _MOST)]
    trials = _replay(spec, candidates, [run for run in runs if run.task in set(searched)])
    report(trials)
    best = choose_best(trials, spec.objective)
    checked = None
    if best is not None and best.candidate.digest != space.default.digest:
        unseen = [run for run in runs if run.task in set(held_out)]
        after, before = _replay(spec, [best.candidate, space.default], unseen)
        checked = (after, before)
    return build_result(spec, trials, checked, None, runs)


def _replay(spec: TuneSpec, candidates: Sequence[Candidate], runs: Sequence[RecordedRun]) -> list[Trial]:
    policies = [NamedPolicy(candidate.name, candidate.policy) for candidate in candidates]
    trials = [
        _build_trial(candidate, replayed, runs)
        for candidate, replayed in zip(candidates, replay(runs, policies, spec.seed), strict=True)
    ]
    for quantity in spec.objective.quantities:
        if trials[0].mean(quantity) is None:
            raise ConfigurationError(
                f"the objective needs {quantity}, which the recorded runs do not report; leave it out"
            )
    return trials


def _build_trial(candidate: Candidate, replayed: Replayed, runs: Sequence[RecordedRun]) -> Trial:
    rows: dict[str, list[int]] = {}
    for index, run in enumerate(runs):
        rows.setdefault(run.task, []).append(index)
    by_task = {task: _join(replayed, indices) for task, indices in rows.items()}
    return Trial(candidate, by_task, None, replayed.is_exact, replayed.success.interval)


def _join(replayed: Replayed, rows: Sequence[int]) -> Values:
    means = replayed.resources_by_run[rows].mean(axis=0).tolist()
    known = {name: value for name, value in zip(RESOURCES, means, strict=True) if value == value}  # noqa: PLR0124
    return {"success": float(replayed.by_run[rows].mean()), **known}
