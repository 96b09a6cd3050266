from datetime import UTC, datetime
from typing import TypedDict

import pytest
from langgraph.graph import START, StateGraph

from orchestrator import ConfigurationError, ResumeError, StoreError
from orchestrator.persistence import open_store
from tests.fakes.executor import FakeExecutor
from tests.orchestrator.runs.test_runs import APPROVE, asking, build, cut_off_at


def threads(runs):
    return [run.thread_id for run in runs]


@pytest.fixture
def several(opened):
    build(opened).run("bake bread", "good")
    build(opened, executor=FakeExecutor("out", ValueError("no"))).run("bake cake", "bad")
    asking(opened).run("Sell Bread", "asking")
    return opened


def test_a_summary_says_how_far_a_run_is(opened):
    before = datetime.now(UTC)
    asking(opened, plan=["one", "two", "three"]).run("x", "thread")
    asking(opened).resume("thread", APPROVE)
    (run,) = opened.history.runs()

    assert (run.thread_id, run.status, run.task) == ("thread", "waiting", "x")
    assert (run.steps_done, run.steps_planned, run.question["step"]) == (1, 3, "two")
    assert before <= run.started <= run.updated <= datetime.now(UTC)
    assert run.usage == opened.history.show("thread").state["usage"]


BAD_ARGUMENTS = [
    ("runs", {"status": "done"}, "status is 'done'; give one of planning,"),
    ("runs", {"limit": -1}, "limit is -1"),
    ("runs", {"cursor": 3}, "cursor is 3; give `next` of the page before, or None"),
    ("runs", {"basis": "luck"}, "basis is 'luck'; give"),
    ("runs", {"task": 3}, "task is 3; give a part of the text, or None"),
    *(
        (read, {"thread_id": 3}, r"^thread_id is 3; give a text that is not blank, without")
        for read in ("find", "show", "command", "delete")
    ),
]


def test_an_argument_that_is_none_is_refused(several, subtests):
    for action, arguments, sentence in BAD_ARGUMENTS:
        with (
            subtests.test(action, arguments=str(arguments)),
            pytest.raises(ConfigurationError, match=sentence),
        ):
            getattr(several.history, action)(**arguments)

    assert len(several.history.runs()) == 3


@pytest.mark.parametrize(("at", "status", "planned"), [("x", "planning", 0), ("step 2", "executing", 3)])
async def test_a_run_that_was_cut_off_is_as_far_as_it_came(opened, at, status, planned):
    await cut_off_at(opened, at)
    (run,) = opened.history.runs(status="interrupted")

    assert (run.status, run.task, run.steps_planned) == ("interrupted", "x", planned)
    assert opened.history.show(run.thread_id).state["status"] == status


def test_a_deleted_run_is_gone_and_no_other(several):
    others = {name: several.history.show(name) for name in ("asking", "bad")}
    several.history.delete("good")

    assert {name: several.history.show(name) for name in ("asking", "bad")} == others
    assert threads(several.history.runs()) == ["asking", "bad"]
    with pytest.raises(ResumeError, match="'good' is not in this store"):
        build(several).resume("good")


def test_a_run_that_is_under_way_is_not_deleted(backend, opened):
    refused = []

    def deletes(step, context):
        with pytest.raises(StoreError) as raised:
            opened.history.delete("thread")
        refused.append(str(raised.value))
        return "done"

    state = build(opened, executor=FakeExecutor("done", deletes)).run("x", "thread")

    assert refused == [
        "thread 'thread' is being run, by this process or another; stop it or wait for its end"
    ]
    assert opened.history.show("thread").state == state
    opened.history.delete("thread")
    assert opened.history.runs() == []


class Notes(TypedDict):
    text: str


def test_what_another_program_keeps_in_the_store_is_no_run(several):
    graph = StateGraph(Notes)
    graph.add_node("note", lambda state: {"text": "noted"})
    graph.add_edge(START, "note")
    compiled = graph.compile(checkpointer=several.saver)
    compiled.invoke({"text": ""}, {"configurable": {"thread_id": "notes"}})

    assert threads(several.history.runs()) == ["asking", "bad", "good"]
    assert several.history.find("notes") is None
    for action in (several.history.show, several.history.delete):
        with pytest.raises(StoreError, match="'notes' is not in "):
            action("notes")


@pytest.fixture
async def newer(opened):
    graph = asking(opened).graph.with_config(metadata={"orchestrator_schema": 3})
    await graph.ainvoke({"task": "x"}, {"configurable": {"thread_id": "newer"}})
    return opened


def test_a_run_of_another_version_is_listed_and_refused_and_can_be_deleted(newer):
    sentence = r"thread 'newer' was stored by another version of this program \(form 3, this one reads 2\)"
    (run,) = newer.history.runs()
    with pytest.raises(StoreError, match=sentence):
        newer.history.show("newer")
    with pytest.raises(ResumeError, match=sentence):
        asking(newer).resume("newer", APPROVE)
    assert (run.thread_id, run.status, run.task) == ("newer", "unreadable", "")

    newer.history.delete("newer")
    assert newer.history.runs() == []


def test_a_step_takes_at_most_15_kilobytes_of_a_file(tmp_path):
    sizes = []
    for count in (4, 12):
        file = tmp_path / f"{count}.sqlite"
        with open_store(file) as store:
            build(store, plan=[f"step {number}" for number in range(count)]).run("x", "thread")
        sizes.append(file.stat().st_size)

    assert (sizes[1] - sizes[0]) / 8 <= 15_000
