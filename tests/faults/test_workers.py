"""Whatever happens to workers and their database, no run is lost, and nothing is done twice."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.servers import Postgres
from tests.orchestrator.queue.worker_app import STEPS
from tests.orchestrator.queue.workers import APP, APP_ONCE, Fleet, fleet_on, is_each_effect_there_once

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]
RUNS = 12


@pytest.fixture
def fleet(postgres: Postgres, tmp_path: Path) -> Iterator[Fleet]:
    with fleet_on(postgres.place().store, tmp_path / "fleet", effect_s=0.2) as workers:
        yield workers


def wait_supervised(fleet: Fleet, ended: int = RUNS) -> None:
    def is_over() -> bool:
        fleet.supervise()
        return fleet.statuses().total() == ended and not fleet.jobs()

    fleet.wait(is_over, 240)


def wait_for_effects(fleet: Fleet, number: int) -> None:
    fleet.wait(lambda: fleet.effects().total() >= number, 120)


@pytest.mark.parametrize("app", [APP, APP_ONCE], ids=["tools with keys", "stated tools"])
def test_workers_that_are_killed_again_and_again_lose_nothing(fleet, app):
    fleet.submit(RUNS, app)
    for number in range(1, 5):
        victim = fleet.start("--concurrency", "4", app=app)
        # Calls that a kill cut off wait for a person, so that fewer effects may follow.
        fleet.wait(lambda number=number: fleet.effects().total() >= number * 5 or not fleet.jobs())
        victim.kill()
        victim.wait()
        fleet.processes.remove(victim)
    fleet.start(app=app)
    fleet.wait(lambda: not fleet.jobs(), 240)

    # A person is asked about a call that a kill cut off.
    assert set(fleet.statuses()) <= ({"success"} if app == APP else {"success", "waiting"})
    assert fleet.statuses().total() == RUNS
    assert set(fleet.effects().values()) == {1}
    assert app == APP_ONCE or is_each_effect_there_once(fleet, RUNS)


def test_a_worker_that_hangs_goes_on_alone_with_its_runs(fleet):
    fleet.submit(RUNS)
    stopped = fleet.start("--concurrency", "4")
    wait_for_effects(fleet, 4)
    stopped.send_signal(signal.SIGSTOP)
    fleet.start("--concurrency", "4")
    fleet.wait(lambda: "is being run elsewhere" in fleet.logs())
    stopped.send_signal(signal.SIGCONT)
    fleet.wait_for_ends(RUNS, 240)

    assert is_each_effect_there_once(fleet, RUNS)
    assert fleet.verdicts() == RUNS * STEPS


def test_workers_whose_connections_are_cut_go_on_or_are_started_again(fleet, postgres):
    fleet.submit(RUNS)
    for _ in range(2):
        fleet.start("--concurrency", "4")
    fleet.wait(lambda: fleet.logs().count("until SIGTERM") == 2)  # a slow one would connect after the cut
    wait_for_effects(fleet, 4)
    postgres.cut()

    wait_supervised(fleet)
    assert is_each_effect_there_once(fleet, RUNS)


@pytest.mark.parametrize("how", ["stopped", "crashed"])
def test_a_database_that_is_started_again_finds_its_workers_and_their_runs(fleet, postgres, how):
    fleet.submit(RUNS)
    for _ in range(2):
        fleet.start("--concurrency", "4")
    wait_for_effects(fleet, 4)
    (postgres.stop if how == "stopped" else postgres.crash)()
    time.sleep(2)
    postgres.start()
    wait_supervised(fleet)

    assert is_each_effect_there_once(fleet, RUNS)
