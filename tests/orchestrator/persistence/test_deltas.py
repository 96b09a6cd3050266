"""What was added to a run is read as LangGraph's own saver reads it, in one search."""

from __future__ import annotations

import gc
import operator
from typing import Annotated, TypedDict

import pytest
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from orchestrator.persistence import open_store
from orchestrator.persistence.deltas import uncollected

CONFIG = {"configurable": {"thread_id": "thread", "checkpoint_ns": ""}}
CHANNELS = ["often", "rarely", "never"]


def joined(items, writes):
    return [*items, *(item for write in writes for item in write)]


class State(TypedDict):
    turn: Annotated[int, operator.add]
    often: Annotated[list[str], DeltaChannel(joined, list, snapshot_frequency=3)]
    rarely: Annotated[list[str], DeltaChannel(joined, list, snapshot_frequency=7)]
    never: Annotated[list[str], DeltaChannel(joined, list, snapshot_frequency=1000)]


def says(who):
    def node(state):
        said = [f"{who} in turn {state['turn']}"]
        return {"often": said, "rarely": said, "never": said} | ({"turn": 1} if who == "a" else {})

    return node


def told(saver):
    """A run of ten turns, in each of which two speak at once."""
    graph = StateGraph(State)
    for who in "ab":
        graph.add_node(who, says(who))
        graph.add_edge(START, who)
    graph.add_node("again", lambda state: {})
    graph.add_edge(["a", "b"], "again")
    graph.add_conditional_edges("again", lambda state: ["a", "b"] if state["turn"] < 10 else END)
    compiled = graph.compile(checkpointer=saver)
    compiled.invoke({"turn": 0}, CONFIG)
    return compiled


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    """A store of each kind."""
    postgres = request.param == "postgres"
    where = request.getfixturevalue("postgres_url") if postgres else tmp_path / "runs.sqlite"
    with open_store(where) as store:
        yield store


@pytest.fixture
def in_a_file(tmp_path):
    with open_store(tmp_path / "runs.sqlite") as store:
        yield store


def both(store, config):
    """As it is read here, and by LangGraph's own saver."""
    own = store.saver
    kind = SqliteSaver if isinstance(own, SqliteSaver) else PostgresSaver
    langgraphs = kind(own.conn, serde=own.serde)
    return [saver.get_delta_channel_history(config=config, channels=CHANNELS) for saver in (own, langgraphs)]


def test_a_run_is_read_from_every_one_of_its_checkpoints_as_langgraphs_own_saver_reads_it(store):
    told(store.saver)
    for found in list(store.saver.list(CONFIG)):
        here, there = both(store, found.config)
        assert here == there


def test_what_is_read_ends_at_the_latest_whole_value(store):
    told(store.saver)
    here, _ = both(store, CONFIG)

    assert [("seed" in here[name], len(here[name]["writes"]) < 20) for name in CHANNELS] == [
        (True, True),
        (True, True),
        (False, False),
    ]


def test_a_run_that_was_gone_on_with_from_an_earlier_checkpoint_has_nothing_of_the_rest(store):
    compiled = told(store.saver)
    earlier = [found.config for found in store.saver.list(CONFIG)][20]
    compiled.update_state(earlier, {"never": ["otherwise"]}, as_node="again")
    here, there = both(store, CONFIG)

    assert (here, compiled.get_state(CONFIG).values["never"][-1]) == (there, "otherwise")


def test_without_a_count_every_checkpoint_is_looked_at_for_whole_values(in_a_file):
    told(in_a_file.saver)
    counted, _ = both(in_a_file, CONFIG)
    in_a_file.saver.conn.execute("UPDATE checkpoints SET metadata = '{}'")

    assert both(in_a_file, CONFIG) == [counted, counted]


def test_checkpoints_in_a_circle_are_read_once(in_a_file):
    told(in_a_file.saver)
    saver = in_a_file.saver
    newest, *_, oldest = [found.config["configurable"]["checkpoint_id"] for found in saver.list(CONFIG)]
    saver.conn.execute(
        "UPDATE checkpoints SET parent_checkpoint_id = ? WHERE checkpoint_id = ?", (newest, oldest)
    )
    here, there = both(in_a_file, CONFIG)

    assert here == there


def test_of_a_thread_that_is_not_there_nothing_is_read(store):
    here, there = both(store, CONFIG)

    assert here == there == {name: {"writes": []} for name in CHANNELS}


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_paused_and_then_as_it_was(enabled):
    try:
        (gc.enable if enabled else gc.disable)()
        with uncollected():
            paused = not gc.isenabled()
        assert (paused, gc.isenabled()) == (True, enabled)
    finally:
        gc.enable()
