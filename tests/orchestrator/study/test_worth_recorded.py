"""The worth of retries in worlds with known values, and on the public runs of tau-bench, which are apart."""

import json
import os
from pathlib import Path
from statistics import fmean

import pytest

from benchmarks.worth import enumerate_orders, estimate, measure_halves, measure_world, read_recorded
from orchestrator.study.trial_outcomes import TriedAttempt

DATA = Path(os.environ.get("EVALUATION_DATA", Path(__file__).parents[4] / "shared" / "data"))
AIRLINE = DATA / "tau-bench" / "gpt-4o-airline-tasks-00-24.json"
needs_runs = pytest.mark.skipif(
    not AIRLINE.is_file(), reason="needs the runs of tau-bench in $EVALUATION_DATA/tau-bench"
)


@needs_runs
def test_rates_of_the_recorded_rewards_are_the_published_ones():
    tasks = {}
    for run in json.loads(AIRLINE.read_text(encoding="utf-8")):
        tasks.setdefault(str(run["task_id"]), []).append(TriedAttempt(True, run["reward"] == 1.0))
    points = estimate(tasks).points

    assert [f"{point.pass_at_k:.4f}" for point in points] == ["0.3100", "0.4267", "0.5200", "0.6000"]
    assert [f"{point.pass_hat_k:.4f}" for point in points] == ["0.3100", "0.1933", "0.1700", "0.1600"]


@needs_runs
@pytest.mark.soak
def test_with_our_verdicts_the_shares_are_those_of_all_orders_and_hold_on_the_other_half():
    tasks = read_recorded(AIRLINE)

    for point, hits in zip(estimate(tasks).points, measure_halves(tasks), strict=True):
        ends = [enumerate_orders(attempts, point.k) for attempts in tasks.values()]
        shares = [fmean(each) for each in zip(*ends, strict=True)]
        assert (point.right.value, point.wrong.value) == pytest.approx(shares)
        assert 0.75 <= fmean(hits) <= 0.9


@pytest.mark.soak
def test_in_worlds_with_known_values_the_figures_hold():
    worlds = [measure_world(seed) for seed in range(60)]

    assert fmean(flag for world in worlds for flag in world.covered) >= 0.9
    assert all(world.sign * world.difference > 0 for world in worlds if world.sign)
    assert fmean(world.regret for world in worlds) <= 0.02
    assert sum(world.violated is True for world in worlds) <= 3
