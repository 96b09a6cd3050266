"""Runs that were stored earlier go on; the file is as it was made."""

import shutil
from pathlib import Path

import pytest

from orchestrator import BrokenRunError
from orchestrator.persistence import open_store
from orchestrator.state.graph_state import SCHEMA_VERSION
from tests.fakes.executor import FakeExecutor
from tests.fakes.runs import build as build_run
from tests.fakes.supervision import SpeakingExecutor

FOLDER = Path(__file__).parents[2] / "data" / "stored"
APPROVE = {"answer": "approve"}


@pytest.fixture
def store(tmp_path):
    """A copy of the file of this version's form."""
    path = shutil.copy(FOLDER / f"version_{SCHEMA_VERSION}.sqlite", tmp_path)
    with open_store(path, make=False) as opened:
        yield opened


def build(store, executor, **options):
    return build_run(executor, plan=("never", "planned"), checkpointer=store.saver, **options)


def results(state):
    return [(record["step"], record["attempt"], record["status"]) for record in state["results"]]


def test_stored_runs_are_listed(store):
    assert {run.thread_id: (run.status, run.task, run.steps_planned) for run in store.history.runs()} == {
        "finished": ("success", "bake bread", 2),
        "waiting": ("waiting", "bake cake", 2),
        "waiting side by side": ("waiting", "bake both", 3),
        "cut off": ("interrupted", "bake pie", 2),
    }


def test_a_stored_run_is_shown(store):
    state = store.history.show("finished").state

    assert results(state) == [("one", 1, "failed"), ("one", 2, "validated"), ("two", 1, "validated")]
    assert state["context"] == "Step 1: one\nResult: one done\n\nStep 2: two\nResult: two done"


def test_a_stored_run_that_waits_is_answered(store):
    orchestrator = build(store, SpeakingExecutor(), supervision="human")
    while (state := orchestrator.resume("waiting", APPROVE))["status"] == "executing":
        pass

    assert (state["status"], [record["step"] for record in state["results"]]) == ("success", ["one", "two"])


def test_a_stored_run_whose_steps_an_earlier_version_executes_side_by_side_is_refused(store, subtests):
    thread, orchestrator = "waiting side by side", build(store, SpeakingExecutor(), supervision="human")
    for refused in (
        lambda: store.history.show(thread),
        lambda: orchestrator.resume(thread, APPROVE),
        lambda: orchestrator.fork(thread, 0, "new"),
        lambda: orchestrator.cancel(thread),
    ):
        with (
            subtests.test(refused=refused),
            pytest.raises(BrokenRunError, match=r"side by side.*use the version that began the run"),
        ):
            refused()


def test_a_stored_run_that_was_cut_off_goes_on(store):
    executor = FakeExecutor()
    state = build(store, executor).resume("cut off")

    assert (state["status"], [call.step for call in executor.calls]) == ("success", ["two"])
    assert results(state) == [("one", 1, "failed"), ("one", 2, "validated"), ("two", 1, "validated")]
