"""The runs of a worker that was killed go on elsewhere."""

from __future__ import annotations

from tests.orchestrator.queue.workers import fleet_on, is_each_effect_there_once

RUNS = 12


def test_the_runs_of_a_killed_worker_go_on_in_another_and_every_effect_happens_once(postgres_url, tmp_path):
    with fleet_on(postgres_url, tmp_path / "fleet") as fleet:
        fleet.submit(RUNS)
        killed = fleet.start("--concurrency", "6")
        fleet.wait(lambda: fleet.effects().total() >= 3)
        fleet.start("--concurrency", "6")
        killed.kill()
        fleet.wait_for_ends(RUNS)

        assert is_each_effect_there_once(fleet, RUNS)
