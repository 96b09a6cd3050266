import asyncio

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolCallLimitMiddleware, wrap_model_call, wrap_tool_call
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from agents import ActingTool, EffectsMiddleware, ExecutionAgent
from agents.testing import ScriptedChatModel
from tests.fakes.acting import Office, ask
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.runs import build
from tests.fakes.runs import run as run_agents


def run(executor, **options):
    return run_agents(executor, plan=["one"], **options)


@tool
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@tool
def divide(a: int, b: int) -> str:
    """Divide two numbers."""
    return str(a / b)


def tool_calls(*replies):
    state = run(ExecutionAgent(ScriptedChatModel(list(replies), usage=(3, 2)), [add, divide]))
    keys = ("name", "args", "result", "error")
    return [{key: call[key] for key in keys} for call in state["results"][0]["tool_calls"]]


def test_tool_calls_are_recorded_with_arguments_and_results_or_errors_in_order():
    divisions = ask(("divide", {"a": 6, "b": 3})), ask(("divide", {"a": 1, "b": 0}))
    calls = tool_calls(ask(("add", {"a": 1, "b": 2})), *divisions, "done")

    error = "ZeroDivisionError: division by zero"
    assert calls == [
        {"name": "add", "args": {"a": 1, "b": 2}, "result": "3", "error": None},
        {"name": "divide", "args": {"a": 6, "b": 3}, "result": "2.0", "error": None},
        {"name": "divide", "args": {"a": 1, "b": 0}, "result": None, "error": error},
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (["Curie", "Noether"], '["Curie", "Noether"]'),
        ([], "[]"),
        ([{"room": "Curie"}], '[{"room": "Curie"}]'),
        ([{"type": "text", "text": "Curie"}], "Curie"),
    ],
)
def test_a_list_is_recorded_as_the_model_reads_it(value, text):
    def find_rooms() -> object:
        """Find free rooms."""
        return value

    model = ScriptedChatModel([ask(("find_rooms", {})), "done"])
    [record] = run(ExecutionAgent(model, [find_rooms]))["results"]

    assert record["tool_calls"][0]["result"] == text
    assert model.prompts[-1][-1].text == text


BROKEN = AIMessage("", invalid_tool_calls=[{"name": "add", "args": "{a", "id": "1", "error": None}])


def test_a_call_that_cannot_be_made_is_recorded_as_refused(subtests):
    unknown = "nonsense is not a valid tool, try one of [add, divide]"
    for reply, name, args, error in [
        (ask(("nonsense", {"a": 1})), "nonsense", {"a": 1}, unknown),
        (BROKEN, "add", {"arguments": "{a"}, "not valid JSON"),
    ]:
        with subtests.test(reply=reply):
            [call] = tool_calls(reply, "done")

            assert (call["name"], call["args"], call["result"]) == (name, args, None)
            assert error in call["error"]


def test_calls_that_a_middleware_answers_at_its_limit_did_not_act():
    office, model = Office(), ScriptedChatModel([ask(("pay", "Ada"), ("pay", "Bob"))])
    limit = ToolCallLimitMiddleware(run_limit=1, exit_behavior="end")
    state = run(ExecutionAgent(model, office.tools(), middleware=[limit]), acting_tools=["pay"])

    assert ([each["outcome"] for each in state["effects"]], office.done) == (["denied", "denied"], [])


def test_a_call_that_cannot_be_read_back_is_warned_of():
    def look(to: str) -> str:
        raise ConnectionError("the database is away")

    model = ScriptedChatModel([ask(("pay", "Ada")), "done"])
    state = run(ExecutionAgent(model, Office().tools()), acting_tools={"pay": ActingTool(read_back=look)})

    told = "step 1: pay was not read back, since look failed: ConnectionError: the database is away"
    assert state["warnings"] == [told]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_blocking_middleware_wraps_the_calls_of_a_run_in_either_way(is_async):
    @wrap_tool_call
    def trace(request, handler):
        seen.append(request.tool_call["name"])
        return handler(request)

    @wrap_model_call
    def look_on(request, handler):
        seen.append(len(request.messages))
        return handler(request)

    seen = list[object]()
    model = ScriptedChatModel([ask(("pay", "Ada")), "done"])
    executor = ExecutionAgent(model, Office().tools(), middleware=[trace, look_on])
    orchestrator = build(executor, plan=["one"], acting_tools=["pay"])
    state = asyncio.run(orchestrator.arun("x")) if is_async else orchestrator.run("x")

    assert [(each["outcome"], each["answer"]) for each in state["effects"]] == [("acted", "paid 1.0 to Ada")]
    assert (state["status"], seen) == ("success", [1, "pay", 3])


def keys_of(plan, monitor, *threads, crash=False, replies=None):
    """The keys that a tool is given over runs on these threads; the process may die in the first call."""
    keys = []

    @tool
    def pay(config: RunnableConfig, to: str = "Ada") -> str:
        """Pay."""
        keys.append(config["configurable"]["idempotency_key"])
        if crash and len(keys) == 1:
            raise KeyboardInterrupt
        return "paid"

    def reply(messages):
        return "done" if messages[-1].type == "tool" else ask(("pay", "Ada"))

    model = ScriptedChatModel(reply if replies is None else replies)
    executor = ExecutionAgent(model, [pay])
    orchestrator = build(executor, monitor, plan, checkpointer=InMemorySaver())
    for thread in threads:
        if crash:
            with pytest.raises(KeyboardInterrupt):
                orchestrator.run("x", thread, replace=True)
            orchestrator.resume(thread)
            orchestrator.resume(thread, {"answer": "approve"})
        else:
            orchestrator.run("x", thread, replace=True)
    return keys


def test_each_call_retry_and_run_has_a_key_of_its_own_and_a_repetition_after_a_crash_the_same():
    replies = [ask(*[("pay", to) for to in ("Ada", "Bob", "Ada")]), ask(("pay", "Ada")), "done"]
    crashed = keys_of(["a"], FakeMonitor(), "thread", crash=True)
    retried = keys_of(["a"], FakeMonitor(refuse(), accept()), "thread")
    renewed = keys_of(["a"], FakeMonitor(), "thread", "thread")

    assert len(set(keys_of(["a"], FakeMonitor(), "thread", replies=replies))) == 4
    assert [(len(keys), len(set(keys))) for keys in (crashed, retried, renewed)] == [(2, 1), (2, 2), (2, 2)]


def test_an_outage_is_told_as_that_of_the_tool_or_of_the_server_of_the_model(subtests):
    late = "tool 'pay' raised TimeoutError: late; `resume` goes on with the step"
    away = "ConnectionError: away; `resume` goes on when the server is back"
    for fault, reply, told in [(TimeoutError("late"), "done", late), (None, ConnectionError("away"), away)]:
        with subtests.test(told=told):
            model, tools = ScriptedChatModel([ask(("pay", "Ada")), *[reply] * 9]), Office(fault).tools()
            graph = create_agent(model, tools, middleware=[EffectsMiddleware(["pay"])])
            options = {"plan": ["act"], "acting_tools": ["pay"], "checkpointer": InMemorySaver()}
            state = build(graph, FakeMonitor(accept()), **options).run("x", "thread")
            assert (state["status"], state["failure"]["message"]) == ("executing", told)


class Loud(ExecutionAgent):
    async def ainvoke(self, user_input):
        return (await super().ainvoke(user_input)).upper()


def test_an_override_that_calls_the_agent_has_its_tools_in_a_run():
    executor = Loud(ScriptedChatModel([ask(("pay", "Ada")), "paid"]), Office().tools())
    options = {"acting_tools": ["pay"], "checkpointer": InMemorySaver(), "synthesis": False}
    state = build(executor, plan=["one"], **options).run("x", "thread")

    assert (state["output"], [each["outcome"] for each in state["effects"]]) == ("PAID", ["acted"])
