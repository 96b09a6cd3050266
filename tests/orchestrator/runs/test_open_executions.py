import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from langgraph.graph import START, MessagesState, StateGraph

from agents import ActingTool, EffectsMiddleware, ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import ConfigurationError
from tests.fakes.acting import ask, list_effects
from tests.fakes.interruption import cut_off
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.runs import delegate_to
from tests.orchestrator.runs.test_runs import build

ACTING = {"refund": ActingTool(repeat="allow"), "send": ActingTool(approve=True, repeat="allow")}


def refund(order: str) -> str:
    """Refund an order."""
    return f"refunded {order}"


def get_order(order: str) -> str:
    """Read an order."""
    return f"order {order} is open"


def send(to: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


def model(*replies):
    """A model whose reply follows from the number of answers of tools, in each of its conversations."""
    return ScriptedChatModel(
        lambda messages: replies[sum(message.type == "tool" for message in messages)], usage=(3, 2)
    )


def cancelled(opened, orchestrator):
    orchestrator.cancel("thread", "enough")
    state = opened.history.show("thread").state
    assert (state["status"], state["failure"]["kind"], state["question"]) == ("failed", "cancelled", None)
    assert all(each["report"] and each["verdict"]["success"] is False for each in state["results"])
    return state


def check_refused(orchestrator):
    with pytest.raises(ConfigurationError, match="whose tool 'refund' acted"):
        orchestrator.run("x", "thread")


REFUND, SEND = ("refund", {"order": "7"}), ("send", {"to": "Ada"})


def test_what_acted_before_an_open_question_is_known_when_the_run_is_cancelled_or_forked(opened):
    executor = ExecutionAgent(model(ask(REFUND), ask(SEND), "done"), [refund, send])
    orchestrator = build(opened, ["one"], executor, acting_tools=ACTING)
    waiting = orchestrator.run("x", "thread")
    assert waiting["question"]["text"] == "May the tool send run?"
    made = [(0, "refund", "acted")]
    assert list_effects(waiting) == list_effects(opened.history.show("thread").state) == made

    forked = orchestrator.fork("thread", 0, "new")
    assert [each for each in forked["warnings"] if "was copied" in each] == [
        "the run that was copied called refund in step 1 (acted); this run may call it again"
    ]
    state = cancelled(opened, orchestrator)
    assert list_effects(state) == made
    check_refused(orchestrator)


async def test_a_call_that_was_cut_off_is_an_unknown_effect_beside_one_that_was_answered(opened):
    begun = asyncio.Event()

    async def hang(order: str) -> str:
        """Book an order."""
        begun.set()
        await asyncio.sleep(3600)
        return "booked"

    executor = ExecutionAgent(model(ask(REFUND, ("hang", {"order": "7"})), "done"), [refund, hang])
    orchestrator = build(opened, ["one"], executor, acting_tools=["refund", "hang"])
    running = asyncio.ensure_future(orchestrator.arun("x", "thread"))
    await asyncio.wait_for(begun.wait(), 20)
    known = [(0, "refund", "acted"), (0, "hang", "unknown")]
    async with asyncio.timeout(20):
        while list_effects((await asyncio.to_thread(opened.history.show, "thread")).state) != known:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.wait([running])

    shown = await asyncio.to_thread(opened.history.show, "thread")
    assert list_effects(shown.state) == known
    state = await asyncio.to_thread(cancelled, opened, orchestrator)
    assert list_effects(state) == known
    await asyncio.to_thread(check_refused, orchestrator)


@pytest.mark.parametrize("place", ["agent", "node"])
async def test_each_start_that_was_cut_off_is_an_effect_of_a_run_that_waits_or_is_cancelled(opened, place):
    begun = asyncio.Event()

    async def pay(order: str) -> str:
        """Pay an order."""
        begun.set()
        await asyncio.sleep(3600)
        return "paid"

    agent = create_agent(model(ask(("pay", {"order": "7"})), "done"), [pay], middleware=[EffectsMiddleware()])
    graph = StateGraph(MessagesState).add_node("desk", agent).add_edge(START, "desk").compile()
    orchestrator = build(opened, ["one"], agent if place == "agent" else graph, acting_tools=["pay"])
    await cut_off(orchestrator.arun("x", "thread"), begun.wait())
    await orchestrator.aresume("thread")
    begun.clear()
    await cut_off(orchestrator.aresume("thread", {"answer": "approve"}), begun.wait())

    made = [(0, "pay", "unknown")] * 2
    shown = await asyncio.to_thread(opened.history.show, "thread")
    waiting = await orchestrator.aresume("thread")
    state = await asyncio.to_thread(cancelled, opened, orchestrator)
    assert list_effects(shown.state) == list_effects(waiting) == list_effects(state) == made


# --------------------------------------------------------------------------- agents within the executor


STRICT = {"refund": ActingTool(), "send": ActingTool(approve=True)}


def lead(place, asks):
    """A graph whose agent reads and refunds an order within a tool or a node, and that asks then."""
    own = [ask(("get_order", {"order": "7"})), ask(REFUND), *[ask(SEND)] * (asks == "inside"), "done"]
    inner = create_agent(model(*own), [get_order, refund, send], middleware=[EffectsMiddleware(STRICT)])
    delegate = delegate_to(inner)

    def help_first(state):
        return {"messages": [("user", delegate("refund"))]}

    tools = [delegate, send] if place == "tool" else [send]
    asked = [ask(("delegate", "refund"))] if place == "tool" else []
    replies = [*asked, *([ask(SEND)] if asks == "afterwards" else []), "done"]
    outer = create_agent(model(*replies), tools, middleware=[EffectsMiddleware({"send": STRICT["send"]})])
    if place == "tool":
        return outer
    graph = StateGraph(MessagesState).add_sequence([("help", help_first), ("answer", outer)])
    return graph.add_edge(START, "help").compile()


@pytest.mark.parametrize("asks", ["inside", "afterwards"])
@pytest.mark.parametrize("place", ["tool", "node"])
def test_the_effects_of_an_agent_within_the_executor_outlive_the_process(backend, place, asks):
    with backend.open() as opened:
        waiting, made = build(opened, ["one"], lead(place, asks)).run("x", "thread"), [(0, "refund", "acted")]
        assert list_effects(waiting) == list_effects(opened.history.show("thread").state) == made
    with backend.open() as opened:
        orchestrator = build(opened, ["one"], lead(place, asks), FakeMonitor(refuse(), accept()))
        state = orchestrator.resume("thread", {"answer": "approve"})

    assert list_effects(state) == [(0, "refund", "acted"), (0, "send", "acted")]
    # The retry asks, because another call has acted since.
    assert [call["name"] for call in state["question"]["tool_calls"]] == ["refund"]


def test_an_agent_beside_the_one_that_asks_keeps_its_effects_when_it_has_ended(backend):
    def build_beside(opened):
        middleware = [EffectsMiddleware(STRICT)]
        desk, post = (
            create_agent(model(ask(call), "done"), [refund, send], middleware=middleware)
            for call in (REFUND, SEND)
        )
        graph = StateGraph(MessagesState).add_node("desk", desk).add_node("post", post)
        return build(opened, ["one"], graph.add_edge(START, "desk").add_edge(START, "post").compile())

    with backend.open() as opened:
        waiting = build_beside(opened).run("x", "thread")
        assert list_effects(waiting) == [(0, "refund", "acted")]
    with backend.open() as opened:
        state = build_beside(opened).resume("thread", {"answer": "approve"})

    assert {*list_effects(state)} == {(0, "refund", "acted"), (0, "send", "acted")}


@pytest.mark.parametrize("place", ["tool", "node"])
def test_a_run_is_cancelled_with_the_effects_of_an_agent_within_the_executor(opened, place):
    orchestrator = build(opened, ["one"], lead(place, "inside"))
    orchestrator.run("x", "thread")

    assert list_effects(cancelled(opened, orchestrator)) == [(0, "refund", "acted")]
    check_refused(orchestrator)


class Writer(ExecutionAgent):
    """An executor whose answer is written by a program that sends it."""

    def synthesize(self, task, results):
        return StructuredTool.from_function(send).invoke({"to": "Ada"})


def test_the_effects_of_a_program_that_writes_the_answer_are_among_those_of_the_run(opened):
    executor, acting = Writer(model(ask(REFUND), "done"), [refund]), {"refund": ActingTool(repeat="allow")}
    orchestrator = build(opened, ["one", "two"], executor, acting_tools=acting)
    state = orchestrator.run("x", "thread")

    assert list_effects(state) == [(0, "refund", "acted"), (1, "refund", "acted"), (2, "send", "acted")]
    assert list_effects(opened.history.show("thread").state) == list_effects(state)


def test_agents_whose_models_number_their_calls_alike_keep_their_effects(backend):
    def build_lead(opened):
        inner = create_agent(model(ask(REFUND), "done"), [refund], middleware=[EffectsMiddleware(["refund"])])
        tools, asked = [delegate_to(inner), send], [ask(("delegate", task)) for task in ("first", "second")]
        middleware = [EffectsMiddleware({"send": ActingTool(approve=True)})]
        outer = create_agent(model(*asked, ask(SEND), "done"), tools, middleware=middleware)
        return build(opened, ["one"], outer)

    with backend.open() as opened:
        build_lead(opened).run("x", "thread")
    with backend.open() as opened:
        state = build_lead(opened).resume("thread", {"answer": "approve"})

    assert list_effects(state) == [(0, "refund", "acted"), (0, "refund", "acted"), (0, "send", "acted")]
