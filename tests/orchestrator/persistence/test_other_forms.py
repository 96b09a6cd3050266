"""What is stored may have any form, whoever stored it: a run of another form is refused in a sentence."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import ormsgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from orchestrator import BrokenRunError, LangGraphOrchestrator, OrchestratorError
from orchestrator.cli.view.history import draw_run, draw_runs
from orchestrator.persistence import open_store
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner
from tests.faults.story import SHORT, Log, build

THREAD = "story"
APPROVE = {"answer": "approve"}


def plain(saver, executor=None):
    agents = FakePlanner(["a", "b"]), executor or FakeExecutor("a", "b"), FakeMonitor()
    return LangGraphOrchestrator(*agents, checkpointer=saver)


class Cut:
    """Is killed at the second step."""

    async def execute_step(self, step, context=""):
        if step == "b":
            raise KeyboardInterrupt
        return step


@dataclass(frozen=True)
class Stored:
    """The file of a run, who goes on with it, and what that is told."""

    file: str
    orchestrator: Callable
    answer: object = None


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A run that has ended, one that was cut off, and one that waits for a person."""
    folder = tmp_path_factory.mktemp("stored")
    log = Log(folder / "log")
    with open_store(folder / "ended") as store:
        plain(store.saver).run("x", THREAD)
    with open_store(folder / "cut off") as store, pytest.raises(KeyboardInterrupt):
        plain(store.saver, Cut()).run("x", THREAD)
    with open_store(folder / "waits") as store:
        asked = build(SHORT, log, store.saver).run(SHORT.task, THREAD)
    assert asked["question"] is not None
    return {
        "ended": Stored(folder / "ended", plain),
        "cut off": Stored(folder / "cut off", plain),
        "waits": Stored(folder / "waits", lambda saver: build(SHORT, log, saver), APPROVE),
    }


def values(file):
    """What can be changed: the place of every value that is stored, with the value."""
    with closing(sqlite3.connect(file)) as connection:
        for table, column in (("writes", "value"), ("checkpoints", "checkpoint")):
            query = f"SELECT rowid, {column} FROM {table} WHERE type = 'msgpack' ORDER BY rowid"
            for row, data in connection.execute(query):
                yield (table, column, row), ormsgpack.unpackb(data, ext_hook=ormsgpack.Ext)
        for row, data in connection.execute("SELECT rowid, metadata FROM checkpoints ORDER BY rowid"):
            yield ("checkpoints", "metadata", row), json.loads(data)


def store(file, place, value):
    table, column, row = place
    data = json.dumps(value) if column == "metadata" else ormsgpack.packb(value)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (data, row))


def parts(value, at=()):
    """The path of every part of a value, beginning with itself."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inner:
        yield from parts(part, (*at, name))


def changed(value, path, other):
    """A value in which the part at a path is another one, or is not there."""
    if not path:
        return other
    name, *rest = path
    part = changed(value[name], rest, other)
    if isinstance(value, dict):
        kept = {one: held for one, held in value.items() if one != name}
        return kept if part is ... else {**kept, name: part}
    return [*value[:name], *([] if part is ... else [part]), *value[name + 1 :]]


OTHERS = (None, 5, -1, 10**9, 1.5, True, "x", "", "2026-01-01", [], [None], ["x"], {}, {"a": 1}, ...)


def reads(file, run):
    """Everything that reads a store, one after the other."""
    yield lambda saved: saved.history.runs()
    yield lambda saved: saved.history.find(THREAD)
    yield lambda saved: drawn(saved.history)
    yield lambda saved: run.orchestrator(saved.saver).fork(THREAD, 1, "another")
    yield lambda saved: run.orchestrator(saved.saver).resume(THREAD, run.answer)
    yield lambda saved: saved.history.prune(keep_last=0)
    yield lambda saved: saved.history.delete(THREAD)


def drawn(history):
    console = Console(file=io.StringIO())
    console.print(draw_runs(history.runs()))
    console.print(draw_run(history.show(THREAD)))


def refusal(read, saved):
    """What is said in place of a result."""
    try:
        read(saved)
    except OrchestratorError as refused:
        return str(refused)
    return ""


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_is_stored_in_place_of_a_value_is_read_or_refused(stored, tmp_path_factory, data):
    run = stored[data.draw(st.sampled_from(sorted(stored)))]
    place, value = data.draw(st.sampled_from(list(values(run.file))))
    other = changed(value, data.draw(st.sampled_from(list(parts(value)))), data.draw(st.sampled_from(OTHERS)))
    file = shutil.copy(run.file, tmp_path_factory.mktemp("changed"))
    store(file, place, None if other is ... else other)
    for read in reads(file, run):
        with open_store(file) as saved:
            assert "\n" not in refusal(read, saved)


@pytest.mark.parametrize(
    ("path", "other", "said"),
    [
        (("usage", "model_calls"), "many", r"usage\.model_calls: "),
        (("current_step_index",), 7, "current_step_index: 7 in a plan of 2"),
        (("current_step_index",), -1, "current_step_index: -1 in a plan of 2"),
        (("current_step_index",), ..., "current_step_index: Field required"),
        (("failure",), {"kind": "bad luck"}, r"failure\.kind: "),
        (("underway",), None, "underway: "),
    ],
)
def test_a_state_of_another_form_is_refused_with_the_field(stored, tmp_path, path, other, said):
    file = shutil.copy(stored["ended"].file, tmp_path)
    *_, (place, head) = (one for one in values(file) if one[0][:2] == ("checkpoints", "checkpoint"))
    store(file, place, changed(head, ("channel_values", *path), other))
    with open_store(file) as saved, pytest.raises(BrokenRunError) as refused:
        saved.history.show(THREAD)

    assert refused.match(
        f"thread 'story' holds a state that is broken \\({said}.*restore it, or delete the run"
    )


@pytest.mark.parametrize(
    ("path", "other", "said"),
    [
        ((0, "started_at"), "yesterday", r"results\.\d\.started_at: no time"),
        ((0, "usage"), {}, r"results\.\d\.usage\.model_calls: Field required"),
        ((0, "report"), {"status": "failed", "alerts": [{}]}, r"\d\.alerts\.0\.severity: Field required"),
        ((0, "report"), {}, r"\d\.status: Field required"),
        ((0, "started_at"), "2026-01-01T00:00:00", r"results\.\d\.started_at: no time"),
        ((0,), 5, "TypeError: "),
        ((0, "step_index"), ..., "KeyError: 'step_index'"),
    ],
)
def test_a_record_of_another_form_is_refused_with_the_field(stored, tmp_path, path, other, said):
    file = shutil.copy(stored["ended"].file, tmp_path)
    with closing(sqlite3.connect(file)) as connection:
        [(last,)] = connection.execute("SELECT max(rowid) FROM writes WHERE channel = 'results'")
    [records] = [value for place, value in values(file) if place == ("writes", "value", last)]
    store(file, ("writes", "value", last), changed(records, path, other))
    with open_store(file) as saved, pytest.raises(BrokenRunError) as refused:
        saved.history.show(THREAD)

    assert refused.match(f"thread 'story' holds a state that is broken \\({said}")


@pytest.mark.parametrize(
    ("path", "other"),
    [
        (("channel_versions", "usage"), 5),
        (("channel_versions", "usage"), "newest"),
        (("versions_seen", "planner_node"), []),
        (("updated_channels",), [{}]),
        (("channel_values",), -1),
        (("ts",), "yesterday"),
        (("ts",), "0001-01-01T00:00:00+23:59"),
        (("id",), "newest"),
    ],
)
def test_a_checkpoint_of_another_form_is_refused(stored, tmp_path, path, other):
    file = shutil.copy(stored["cut off"].file, tmp_path)
    *_, (place, head) = (one for one in values(file) if one[0][:2] == ("checkpoints", "checkpoint"))
    store(file, place, changed(head, path, other))
    with (
        open_store(file) as saved,
        pytest.raises(BrokenRunError, match="holds a checkpoint of 'story' that is br"),
    ):
        plain(saved.saver).resume(THREAD)


def test_a_question_beside_a_run_that_has_ended_is_none(stored, tmp_path):
    file = shutil.copy(stored["waits"].file, tmp_path)
    *_, (place, head) = (one for one in values(file) if one[0][:2] == ("checkpoints", "checkpoint"))
    ended = changed(
        changed(head, ("channel_values", "status"), "success"), ("channel_values", "question"), None
    )
    store(file, place, ended)
    with open_store(file) as saved:
        assert (saved.history.find(THREAD).status, saved.history.find(THREAD).question) == ("success", None)


def test_an_interrupt_of_another_form_asks_nothing(stored, tmp_path):
    run = stored["waits"]
    file = shutil.copy(run.file, tmp_path)
    for place, value in list(values(file)):
        if place[0] == "writes" and isinstance(value, list) and value and isinstance(value[0], ormsgpack.Ext):
            store(file, place, [5])
    with open_store(file) as saved:
        assert saved.history.find(THREAD).status == "executing"
