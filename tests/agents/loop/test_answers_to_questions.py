import subprocess
import sys
from contextlib import suppress
from threading import Event

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from agents import EffectsMiddleware
from agents.testing import ScriptedChatModel
from tests.agents.loop.shop import APPROVED, TASK, Shop, ask, build, decide
from tests.fakes.acting import Crash


def list_orders(state):
    return [each.value["action_requests"][0]["args"]["order"] for each in state.get("__interrupt__", [])]


def test_an_approval_without_the_id_of_its_question_approves_no_other_call(invoke):
    shop = Shop()
    script = [ask(7, 8), "done"]
    agent = build(shop, APPROVED, script=script)
    asked = [list_orders(invoke(agent, given)) for given in (TASK, decide("approve"), None)]
    done = list(shop.refunds)
    invoke(agent, decide("reject", "too late"))

    assert asked == [[7], [8], [8]]
    assert (done, shop.refunds) == ([], [7])


def test_an_approval_before_a_crash_approves_no_later_call_of_an_agent_in_a_graph(invoke):
    shop, crashes = Shop(), [Crash()]

    def reply_in_order(messages):
        answered = sum(message.type == "tool" for message in messages)
        if answered == 1 and crashes:
            raise crashes.pop()
        return [ask(7), ask(8), "done"][answered]

    agent = create_agent(
        ScriptedChatModel(reply_in_order), shop.tools(), middleware=[EffectsMiddleware(APPROVED)]
    )
    graph = StateGraph(MessagesState).add_node("agent", agent).add_edge(START, "agent")
    compiled = graph.compile(checkpointer=InMemorySaver())
    invoke(compiled, TASK)
    with pytest.raises(KeyboardInterrupt):
        invoke(compiled, decide("approve"), durability="sync")
    asked = invoke(compiled, None)

    assert (list_orders(asked), shop.refunds) == ([8], [7])


def test_an_approval_of_a_start_in_which_the_process_died_approves_no_further_one(invoke):
    shop, saver = Shop(Crash(), Crash()), InMemorySaver()
    for given in (TASK, None, decide("approve"), None, None):
        with suppress(KeyboardInterrupt):
            asked = invoke(build(shop, ["refund"], saver=saver), given)
    done = list(shop.refunds)
    state = invoke(build(shop, ["refund"], saver=saver), decide("respond", "receipt 7"))

    assert "2 times" in str(asked["__interrupt__"])
    assert (done, shop.refunds, state["messages"][-1].text) == ([7, 7], [7, 7], "done")
    # The person knows of the last start, and nobody of the first.
    assert [effect["outcome"] for effect in state["effects"].values()] == ["unknown", "stated"]


def test_an_approval_before_the_question_of_a_tool_approves_no_further_start(invoke):
    begun, saver = [], InMemorySaver()

    def transfer(order: int) -> str:
        """Transfer after a question."""
        begun.append(order)
        raise Crash(len(begun) == 1 or interrupt("Which account?"))

    call = AIMessage("", tool_calls=[{"name": "transfer", "args": {"order": 7}, "id": "c7"}])
    starts = []
    for given in (TASK, None, decide("approve"), Command(resume="first"), None, decide("respond", "paid")):
        model = ScriptedChatModel(lambda messages: "done" if messages[-1].type == "tool" else call)
        with suppress(KeyboardInterrupt):
            state = invoke(build(None, ["transfer"], script=model, saver=saver, tools=[transfer]), given)
        starts.append(len(begun))

    assert (starts, state["messages"][-1].text) == ([1, 1, 2, 3, 3, 3], "done")


class AskingSaver(InMemorySaver):
    """Tells when the question of a tool is stored."""

    def __init__(self):
        super().__init__()
        self.has_asked = Event()

    def put_writes(self, config, writes, *names):
        super().put_writes(config, writes, *names)
        if any(channel == "__interrupt__" for channel, _ in writes):
            self.has_asked.set()


class SlowShop(Shop):
    """A shop that refunds after the question of another tool is stored."""

    def __init__(self, has_asked, *answers):
        super().__init__(*answers)
        self.has_asked = has_asked

    def refund(self, order: int) -> str:
        """Refund an order."""
        self.has_asked.wait(60)
        return super().refund(order)


def test_the_answer_to_the_question_of_a_tool_approves_no_other_call_that_was_cut_off(invoke):
    saver = AskingSaver()
    shop = SlowShop(saver.has_asked, Crash())

    def transfer(order: int) -> str:
        """Transfer after a question."""
        return f"transfer {order}: {interrupt('Which account?')}"

    def agent_of(*script):
        tools = [*shop.tools(), transfer]
        return build(shop, ["refund", "transfer"], script=[*script, "done"], saver=saver, tools=tools)

    calls = [{"name": name, "args": {"order": 7}, "id": name} for name in ("transfer", "refund")]
    with pytest.raises(KeyboardInterrupt):
        invoke(agent_of(AIMessage("", tool_calls=calls)), TASK)
    state = invoke(agent_of(), decide("approve"))

    assert (shop.refunds, len(state["__interrupt__"])) == ([7], 1)


def test_two_calls_with_one_id_are_two_effects(invoke):
    shop = Shop()
    calls = [{**call, "id": "same"} for call in ask(7, 8).tool_calls]
    state = invoke(build(shop, ["refund"], script=[AIMessage("", tool_calls=calls), "done"]), TASK)

    assert sorted(shop.refunds) == [7, 8]
    answers = sorted(effect["answer"] for effect in state["effects"].values())
    assert answers == ["refunded order 7", "refunded order 8"]


def run_script(script, *arguments):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)


CHILD = """
import asyncio, multiprocessing, os, signal, sys
from pathlib import Path
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command, interrupt
from agents import EffectsMiddleware
from agents.testing import ScriptedChatModel

folder, mode, actions = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]

def write(line):
    with (folder / "done").open("a") as file:
        file.write(line + "\\n")

def note(text: str) -> str:
    \"\"\"Write a note.\"\"\"
    write(f"note {text}")
    return "noted"

def reply(messages):
    write("reply")
    done = sum(message.type == "tool" for message in messages)
    calls = [("note", {"text": "a"}), ("refund", {"order": 7})]
    if done == 2:
        return "done"
    name, args = calls[done]
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"c{done}"}])

def go_on(action):
    def refund(order: int) -> str:
        \"\"\"Refund an order, and die at once the first time.\"\"\"
        if mode == "question":
            interrupt("Is it right?")
        write(f"refund {order}")
        if action == "run":
            os.kill(os.getpid(), signal.SIGKILL)
        return "refunded"

    def build(saver):
        middleware = [EffectsMiddleware(["refund"])]
        return create_agent(
            ScriptedChatModel(reply), [note, refund], middleware=middleware, checkpointer=saver
        )

    thread = {"configurable": {"thread_id": "t"}}
    given = {"run": {"messages": [("user", "x")]}, "resume": None}.get(
        action, Command(resume={"decisions": [{"type": action, "message": "it is done"}]})
    )
    db = str(folder / "agent.sqlite")
    if mode != "async":
        with SqliteSaver.from_conn_string(db) as saver:
            state = build(saver).invoke(given, thread, durability="sync")
            if (mode, action) == ("question", "run"):
                state = build(saver).invoke(Command(resume="yes"), thread, durability="sync")
    else:
        async def main():
            async with AsyncSqliteSaver.from_conn_string(db) as saver:
                return await build(saver).ainvoke(given, thread, durability="sync")
        state = asyncio.run(main())
    questions = [each.value["action_requests"] for each in state.get("__interrupt__", [])]
    asked = [action["name"] for actions in questions for action in actions]
    print(*(asked or [state["messages"][-1].text, *(each["outcome"] for each in state["effects"].values())]))

if len(actions) == 1:
    go_on(*actions)
else:
    for action in actions:
        worker = multiprocessing.get_context("fork").Process(target=go_on, args=(action,))
        worker.start()
        worker.join()
"""


def list_times(folder):
    done = (folder / "done").read_text().split("\n")
    return [done.count(line) for line in ("note a", "refund 7", "reply")]


def test_a_worker_asks_about_a_call_of_another_worker_of_one_server(tmp_path):
    ended = run_script(CHILD, tmp_path, "sync", "run", "resume")

    assert (ended.stdout, ended.stderr[-500:]) == ("refund\n", "")
    assert list_times(tmp_path) == [1, 1, 2]


WAYS = [
    ("question", "reject", "unknown", 1),
    *((mode, "reject", "unknown", 1) for mode in ("sync", "async")),
    *((mode, "approve", "unknown acted", 2) for mode in ("sync", "async")),
    *((mode, "respond", "stated", 1) for mode in ("sync", "async")),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("mode", "decision", "outcome", "times"), WAYS)
def test_another_process_asks_before_it_makes_the_call_again(tmp_path, mode, decision, outcome, times):
    killed, resumed, answered = (
        run_script(CHILD, tmp_path, mode, action) for action in ("run", "resume", decision)
    )

    assert killed.returncode == -9
    assert (resumed.stdout, resumed.stderr[-300:]) == ("refund\n", "")
    assert (answered.stdout, answered.stderr[-300:]) == (f"done acted {outcome}\n", "")
    assert list_times(tmp_path) == [1, times, 3]
