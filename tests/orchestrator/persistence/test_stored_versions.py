"""Runs that were stored earlier go on; the file is as it was made."""

import shutil
from pathlib import Path

import pytest

from orchestrator.persistence import open_store
from orchestrator.state.graph_state import SCHEMA_VERSION
from tests.data.stored.make import SIDE_BY_SIDE
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


def build(store, executor, plan=("never", "planned"), **options):
    return build_run(executor, plan=plan, checkpointer=store.saver, **options)


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


def test_the_results_and_the_question_of_stored_parallel_steps_are_shown(store):
    state = store.history.show("waiting side by side").state

    assert results(state) == [("one", 1, "pending_validation"), ("two", 1, "pending_validation")]
    assert (state["question"]["step"], state["question"]["accepts"]) == (
        "one",
        ["approve", "correct", "deny"],
    )


@pytest.mark.parametrize(
    ("thread", "plan", "steps"),
    [
        ("waiting", ("never", "planned"), ["one", "two"]),
        ("waiting side by side", SIDE_BY_SIDE, ["one", "two", "end"]),
    ],
)
def test_a_stored_run_that_waits_is_answered(store, thread, plan, steps):
    orchestrator = build(store, SpeakingExecutor(), plan, supervision="human")
    while (state := orchestrator.resume(thread, APPROVE))["status"] == "executing":
        pass

    assert (state["status"], [record["step"] for record in state["results"]]) == ("success", steps)


def test_a_stored_run_that_was_cut_off_goes_on(store):
    executor = FakeExecutor()
    state = build(store, executor).resume("cut off")

    assert (state["status"], [call.step for call in executor.calls]) == ("success", ["two"])
    assert results(state) == [("one", 1, "failed"), ("one", 2, "validated"), ("two", 1, "validated")]
