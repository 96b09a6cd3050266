"""A store can hold anything: a state of another form is refused in one sentence, and hides no other run."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import BrokenRunError, LangGraphOrchestrator, OrchestratorError
from orchestrator.persistence import open_store
from tests.fakes.executor import FakeExecutor
from tests.fakes.interruption import interrupt_run
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner
from tests.fakes.supervision import SpeakingExecutor

THREAD = "thread"


def build(saver, executor=None, **options):
    agents = FakePlanner(["a", "b"]), executor or FakeExecutor(), FakeMonitor()
    return LangGraphOrchestrator(*agents, checkpointer=saver, **options)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A run that has ended, one that was cut off, and one that waits for a person."""
    folder = tmp_path_factory.mktemp("stored")
    with open_store(folder / "ended") as store:
        build(store.saver).run("x", THREAD)
    with open_store(folder / "cut off") as store:
        interrupt_run(lambda executor: build(store.saver, executor), "x", THREAD, "b")
    with open_store(folder / "waits") as store:
        build(store.saver, SpeakingExecutor(), supervision="human").run("x", THREAD)
    return {name: folder / name for name in ("ended", "cut off", "waits")}


def stored_values(file):
    """Every stored value, by its place: table, column and row."""
    with closing(sqlite3.connect(file)) as connection:
        for table, column in (("writes", "value"), ("checkpoints", "checkpoint")):
            query = f"SELECT rowid, {column} FROM {table} WHERE type = 'msgpack' ORDER BY rowid"
            for row, data in connection.execute(query):
                yield (table, column, row), ormsgpack.unpackb(data, ext_hook=ormsgpack.Ext)


def replace_stored(file, place, value):
    table, column, row = place
    with closing(sqlite3.connect(file)) as connection, connection:
        update = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
        connection.execute(update, (ormsgpack.packb(value), row))


def replace_latest(file, path, other):
    """Replace a value of the latest checkpoint."""
    *_, (place, latest) = (item for item in stored_values(file) if item[0][0] == "checkpoints")
    replace_stored(file, place, replace_part(latest, ("channel_values", *path), other))


def list_paths(value, path=()):
    """The path of every part of a value, beginning with itself."""
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield from list_paths(part, (*path, name))


def replace_part(value, path, other):
    """Replace the part at a path; ``...`` removes it."""
    if not path:
        return other
    name, *rest = path
    part = replace_part(value[name], rest, other)
    if isinstance(value, dict):
        others = {key: item for key, item in value.items() if key != name}
        return others if part is ... else {**others, name: part}
    return [*value[:name], *([] if part is ... else [part]), *value[name + 1 :]]


OTHERS = (None, 5, -1, 10**9, 1.5, True, "x", "", "2026-01-01", [], [None], ["x"], {}, {"a": 1}, ...)
READS = (
    lambda history: history.runs(),
    lambda history: history.find(THREAD),
    lambda history: history.show(THREAD),
    lambda history: history.command(THREAD),
    lambda history: history.prune(timedelta(0)),
    lambda history: history.delete(THREAD),
)


def error_of(read, history):
    try:
        read(history)
    except OrchestratorError as error:
        return str(error)
    return ""


@given(data=st.data())
def test_any_stored_value_is_read_or_refused(files, tmp_path_factory, data):
    name = data.draw(st.sampled_from(sorted(files)))
    file = shutil.copy(files[name], tmp_path_factory.mktemp("changed"))
    place, value = data.draw(st.sampled_from(list(stored_values(file))))
    path = data.draw(st.sampled_from(list(list_paths(value))))
    other = replace_part(value, path, data.draw(st.sampled_from(OTHERS)))
    replace_stored(file, place, None if other is ... else other)
    for read in READS:
        with open_store(file) as store:
            assert "\n" not in error_of(read, store.history)


@pytest.mark.parametrize(
    ("path", "other", "problem"),
    [
        (("usage", "model_calls"), "many", r"usage\.model_calls: "),
        (("current_step_index",), 7, "current_step_index: 7 in a plan of 2"),
        (("current_step_index",), -1, "current_step_index: -1 in a plan of 2"),
        (("current_step_index",), ..., "current_step_index: Field required"),
        (("failure",), {"kind": "bad luck"}, r"failure\.kind: "),
    ],
)
def test_a_state_of_another_form_is_refused_with_its_field(files, tmp_path, path, other, problem):
    file = shutil.copy(files["ended"], tmp_path)
    replace_latest(file, path, other)
    with open_store(file) as store, pytest.raises(BrokenRunError) as error:
        store.history.show(THREAD)

    assert error.match(f"thread 'thread' holds a state that is broken .*{problem}.*restore it, or delete")
