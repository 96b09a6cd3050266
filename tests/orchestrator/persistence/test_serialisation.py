import os
import pickle
import sqlite3
import sys
from contextlib import suppress

import ormsgpack
import psycopg
import pytest

from orchestrator import BrokenRunError, ConfigurationError, OrchestratorError, StoreError
from orchestrator.persistence import open_store
from tests.fakes.executor import FakeExecutor
from tests.fakes.runs import build as build_run

KEY = "sixteen letters!"
OTHER = "another key, 16."
NEVER_IMPORTED = "this"


def build(saver, text="one"):
    return build_run(FakeExecutor(text), plan=[text], checkpointer=saver)


@pytest.fixture
def path(tmp_path):
    with open_store(tmp_path / "runs.sqlite") as store:
        build(store.saver).run("x", "thread")
    return tmp_path / "runs.sqlite"


def craft(path, kind, value):
    """Put a value in place of what a checkpoint, and every write, holds."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE writes SET type = ?, value = ?", (kind, value))
        connection.execute("UPDATE checkpoints SET type = ?, checkpoint = ?", (kind, value))
    connection.close()


def extension(code, *parts):
    """A value for which LangGraph's serialiser imports a module and calls what is named in it."""
    return ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(parts)))


def envelope(value):
    """The same within a checkpoint that is otherwise whole."""
    packed = {"v": 4, "ts": "2026-01-01T00:00:00+00:00", "id": "1f1e5ca1-83bc-6b48-80b5-15db79847b7d"}
    values = {"channel_values": {"task": value, "status": value}}
    return ormsgpack.packb({**packed, **values, "channel_versions": {}, "versions_seen": {}})


class Runs:
    """What a pickle makes of this runs a command."""

    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


def crafted(marker):
    command = f"touch {marker}"
    lc = f'{{"lc": 2, "type": "constructor", "id": ["os", "system"], "args": ["{command}"]}}'
    message = '"id": ["langchain_core", "messages", "HumanMessage"], "kwargs": {}'
    core = f'{{"lc": 1, "type": "constructor", {message}}}'
    single = ormsgpack.Ext(0, ormsgpack.packb(("os", "system", command)))
    return {
        "one argument": ("msgpack", extension(0, "os", "system", command)),
        "arguments": ("msgpack", extension(1, "subprocess", "Popen", [["touch", str(marker)]])),
        "named arguments": ("msgpack", extension(2, "subprocess", "run", {"args": ["touch", str(marker)]})),
        "a method": ("msgpack", extension(3, "os", "environ", command, "get")),
        "pydantic 1": ("msgpack", extension(4, "subprocess", "Popen", {"args": ["touch", str(marker)]})),
        "pydantic 2": ("msgpack", extension(5, "subprocess", "Popen", {"args": ["touch", str(marker)]}, "x")),
        "a module": ("msgpack", extension(0, NEVER_IMPORTED, "c", 1)),
        "within": ("msgpack", envelope(single)),
        "json": ("json", lc.encode()),
        "json of langchain": ("json", core.encode()),
        "a pickle": ("pickle", pickle.dumps(Runs(command))),
        "another cipher": ("msgpack+rot13", b"x"),
        "broken": ("msgpack", b"\xc1"),
        "nothing": ("msgpack", b""),
    }


REFUSALS = {
    "a pickle": r"the store holds a value of a kind that is not read \('pickle'\)",
    "json": r"the store holds a value of a kind that is not read \('json'\)",
    "another cipher": "the store is encrypted; give its key",
    "broken": "the store holds a value that is broken",
    "one argument": "thread 'thread' holds a state that is broken",
}


@pytest.mark.parametrize("name", crafted("x"))
def test_a_crafted_store_imports_and_calls_nothing_and_is_refused(tmp_path, path, name):
    marker = tmp_path / "marker"
    craft(path, *crafted(marker)[name])
    with open_store(path) as store:
        for read in (store.history.runs, lambda: build(store.saver).resume("thread")):
            with suppress(OrchestratorError):
                read()
        with pytest.raises(StoreError, match=REFUSALS.get(name)):
            store.history.show("thread")

    assert (marker.exists(), NEVER_IMPORTED in sys.modules) == (False, False)


# Encryption


SECRET = "a secret that nobody else reads"


def encrypted(path, key=KEY):
    return open_store(path, encryption_key=key)


@pytest.fixture(
    params=[("metadata", "dear diary"), ("metadata", "[1]"), ("metadata", b"\xff"), ("type", None)]
)
def beside_a_whole_one(request, path):
    """A store with a run that has something else in place of a part of it, and with another run."""
    column, value = request.param
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"UPDATE checkpoints SET {column} = ?", (value,))
        connection.execute("UPDATE orchestrator_runs SET mark = 'changed'")
    connection.close()
    with open_store(path) as store:
        build(store.saver).run("x", "whole")
        yield store


def test_a_broken_run_hides_no_other_and_can_be_deleted(beside_a_whole_one):
    history = beside_a_whole_one.history
    listed = {run.thread_id: run.status for run in history.runs()}
    with pytest.raises(BrokenRunError, match=r" holds .*; restore it, or delete the run"):
        history.show("thread")
    history.delete("thread")

    assert listed == {"thread": "unreadable", "whole": "success"}
    assert [run.thread_id for run in history.runs()] == ["whole"]


def test_nothing_of_an_encrypted_run_is_in_its_database(postgres_url):
    with encrypted(postgres_url) as store:
        state = build(store.saver, SECRET).run(SECRET, "thread")
        assert store.history.show("thread").state == state
    with psycopg.connect(postgres_url) as connection:
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            rows = connection.execute(f"SELECT t.* FROM {table} t").fetchall()
            assert (bool(rows), SECRET.encode() in pickle.dumps(rows)) == (True, False)


def test_a_run_that_began_without_a_key_goes_on_with_one(tmp_path):
    with open_store(tmp_path / "runs") as store:
        first = build(store.saver).run("x", "first")
    with encrypted(tmp_path / "runs") as store:
        second = build(store.saver).run("y", "second")
        assert store.history.show("first").state == first
        assert store.history.show("second").state == second


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        (OTHER, "the key is another one, or what is stored was changed"),
        (None, "is encrypted; give its key in PEM_"),
    ],
)
def test_without_the_right_key_nothing_is_read(tmp_path, key, sentence):
    with encrypted(tmp_path / "runs") as store:
        build(store.saver).run("x", "thread")
    before = (tmp_path / "runs").read_bytes()
    with encrypted(tmp_path / "runs", key) as store:
        for read in (store.history.runs, lambda: store.history.show("thread")):
            with pytest.raises(StoreError, match=sentence):
                read()
        with pytest.raises(StoreError, match=sentence):
            build(store.saver).resume("thread")

    assert (tmp_path / "runs").read_bytes() == before


def test_an_encrypted_value_that_was_changed_is_refused(tmp_path):
    with encrypted(tmp_path / "runs") as store:
        build(store.saver).run("x", "thread")
    cut = "CAST(substr(checkpoint, 1, 40) || x'00' AS BLOB)"
    with sqlite3.connect(tmp_path / "runs") as connection:
        connection.execute(f"UPDATE checkpoints SET checkpoint = {cut}")
    connection.close()
    with encrypted(tmp_path / "runs") as store, pytest.raises(StoreError, match="what is stored was changed"):
        store.history.show("thread")


def test_the_key_comes_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("PEM_ENCRYPTION_KEY", KEY)
    with open_store(tmp_path / "runs") as store:
        build(store.saver, SECRET).run(SECRET, "thread")

    assert SECRET.encode() not in (tmp_path / "runs").read_bytes()


@pytest.mark.parametrize("key", ["", "short", "x" * 33, "ü" * 16 + "x"])
def test_a_key_of_another_length_is_refused_before_a_store_is_made(tmp_path, key):
    sentence = f"encryption_key has {len(key.encode())} bytes; give 16, 24 or 32"
    with pytest.raises(ConfigurationError, match=sentence), encrypted(tmp_path / "runs", key):
        pass

    assert list(tmp_path.iterdir()) == []
