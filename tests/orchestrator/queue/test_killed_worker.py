"""Workers in processes: the runs of a killed one go on elsewhere."""

from __future__ import annotations

import signal

import pytest

from orchestrator.queue import open_queue
from tests.orchestrator.queue.workers import APP, fleet_on, is_each_effect_there_once

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


@pytest.mark.thorough
def test_a_run_that_is_cancelled_while_its_worker_hangs_is_ended_by_the_next_worker(postgres_url, tmp_path):
    with fleet_on(postgres_url, tmp_path / "fleet", effect_s=0.3) as fleet, open_queue(postgres_url) as queue:
        fleet.submit(1)
        hanging = fleet.start()
        fleet.wait(lambda: fleet.effects().total() == 1)
        hanging.send_signal(signal.SIGSTOP)
        effects = fleet.effects()
        assert queue.cancel("run0")
        hanging.kill()
        hanging.wait()

        assert queue.submit("Do all", app=APP, thread_id="run0").status == "being cancelled"
        fleet.start()
        fleet.wait(lambda: not fleet.jobs())

        assert queue.store.history.show("run0").state["failure"]["kind"] == "cancelled"
        assert fleet.effects() == effects
