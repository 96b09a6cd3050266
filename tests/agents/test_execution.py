import asyncio
import sys

import pytest
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, InvalidToolCall, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.prebuilt import ToolRuntime
from langgraph.runtime import get_runtime
from langgraph.types import Command, interrupt

from agents import EffectsMiddleware, ExecutionAgent, ModelSetupError, Sampling, ToolLoopError, prompts
from agents.prompts import step_request
from agents.testing import ScriptedChatModel


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def broken(text: str) -> str:
    """Fail always."""
    raise RuntimeError(f"cannot do {text}")


@tool
def quit_at_once(code: int) -> str:
    """End as a command line does that was given odd arguments."""
    sys.exit(code)


@tool
async def awaited_add(a: int, b: int) -> int:
    """Add two numbers, slowly."""
    await asyncio.sleep(0)
    return a + b


@tool
def ask_human(question: str) -> str:
    """Ask a human."""
    return str(interrupt(question))


@tool
def forget(text: str) -> Command:
    """Forget everything."""
    return Command(update={"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]})


@tool
def misaddressed(text: str) -> ToolMessage:
    """Answer another call."""
    return ToolMessage(text, tool_call_id="another")


def subtract(a: int, b: int) -> int:
    """Subtract b from a."""
    return a - b


def calls(*wanted: tuple[str, dict[str, object]], text: str = "") -> AIMessage:
    asked = [{"name": name, "args": args, "id": str(at)} for at, (name, args) in enumerate(wanted)]
    return AIMessage(text, tool_calls=asked)


def unparsable(arguments: str) -> AIMessage:
    call = InvalidToolCall(type="invalid_tool_call", name="add", args=arguments, id="9", error=None)
    return AIMessage("", invalid_tool_calls=[call])


def mixed() -> AIMessage:
    return calls(("add", {"a": 1, "b": 1})).model_copy(
        update={"invalid_tool_calls": unparsable("{").invalid_tool_calls}
    )


def answers(model: ScriptedChatModel, at: int = -1) -> list[tuple[str, str, str]]:
    return [
        (message.tool_call_id, message.status, message.text)
        for message in model.prompts[at]
        if isinstance(message, ToolMessage)
    ]


def test_the_context_is_fenced_and_comes_before_the_step():
    prompt = step_request("do it", "Step 1: {done}")
    mark = prompt.split(" ", 1)[0]
    fence = f"{mark} results so far\nStep 1: {{done}}\n{mark} end of results so far"
    assert prompt == f"{fence}\n\nYour step now: do it"


def test_the_instructions_are_sent_with_a_context_or_a_task_and_can_be_replaced():
    model = ScriptedChatModel(["x", "x", "x"])
    ExecutionAgent(model).execute_step("s", context="Step 1: x")
    ExecutionAgent(model).execute_step("s", task="Name a fruit, then a tree.")
    ExecutionAgent(model, system_prompt="Do {it}.").execute_step("s")
    sent = [prompt[0].text for prompt in model.prompts]
    assert sent == [prompts.EXECUTION, prompts.EXECUTION, "Do {it}."]


WARM = Sampling(temperature=0.7, seed=5)


def test_a_call_may_have_its_own_temperature_and_seed():
    model = ScriptedChatModel(["a", "b", "c"])
    agent = ExecutionAgent(model)
    agent.execute_step("s", sampling=WARM)
    agent.correct_step("s", "o", "f", sampling=Sampling(seed=6))
    agent.execute_step("s")
    assert model.samplings == [(0.7, 5), (None, 6), (None, None)]


def test_a_call_may_have_another_model_with_the_same_tools():
    own, other = ScriptedChatModel([]), ScriptedChatModel(["x", "y"])
    assert ExecutionAgent(own, tools=[add]).execute_step("s", sampling=Sampling(model=other)) == "x"
    assert ExecutionAgent(own).synthesize("t", "r", sampling=Sampling(model=other)) == "y"
    assert other.tools == ["add"]


class RefusedError(Exception):
    status_code = 400


def test_a_model_that_refuses_them_keeps_its_own():
    model = ScriptedChatModel([RefusedError("'temperature' does not support 0.7 with this model"), "x"])
    assert ExecutionAgent(model).execute_step("s", sampling=WARM) == "x"
    assert model.samplings == [(0.7, 5), (None, None)]


def test_what_is_no_list_of_tools_is_refused_with_what_was_given(subtests):
    for tools, problem in [
        (add.func, "tools is a function; give a list of LangChain tools or functions"),
        (add, "tools is a StructuredTool; give a list"),
        ([add, 5], "tools contains a int; give LangChain tools or functions"),
        ([dict], "tools contains dict; give"),
        ([add, subtract, add], 'tools has "add" 2 times; give each tool another name'),
    ]:
        with subtests.test(tools=tools), pytest.raises((TypeError, ValueError), match=problem):
            ExecutionAgent(ScriptedChatModel(["x"]), tools=tools)


ONE = ("add", {"a": 1, "b": 1})
ADDED = ("success", "2")
QUESTION = ("ask_human", {"question": "may I?"})


ANSWERED = {
    "a result": (calls(("add", {"a": 2, "b": 3})), [("success", "5")]),
    "a tool and a function": (
        calls(ONE, ("subtract", {"a": 5, "b": 3})),
        [ADDED, ("success", "2")],
    ),
    "only awaited": (calls(("awaited_add", {"a": 2, "b": 3})), [("success", "5")]),
    "it raises": (calls(("broken", {"text": "it"})), [("error", "RuntimeError: cannot do it")]),
    "it ends the program": (calls(("quit_at_once", {"code": 3}), ONE), [("error", "SystemExit: 3"), ADDED]),
    "unknown": (calls(("divide", {"a": 1})), [("error", "divide is not a valid tool, try one of [add,")]),
    "wrong arguments": (calls(("add", {"a": "one"})), [("error", "add")]),
    "no JSON": (unparsable('{"a": 1,'), [("error", "The arguments are not valid JSON")]),
    "JSON and no JSON": (mixed(), [ADDED, ("error", "The arguments are not valid JSON")]),
    "a question outside of a graph": (calls(ONE, QUESTION), [ADDED, ("error", "")]),
    "it forgets its call": (calls(("forget", {"text": "it"})), [("error", "")]),
    "a message of its own": (calls(("misaddressed", {"text": "it"})), [("success", "it")]),
}


async def test_every_call_is_answered_in_order_and_the_last_reply_is_the_result(subtests, call_either):
    tools = [add, subtract, awaited_add, broken, quit_at_once, ask_human, forget, misaddressed]
    for label, (reply, expected) in ANSWERED.items():
        with subtests.test(label):
            model = ScriptedChatModel([reply, "done"])

            assert await call_either(ExecutionAgent(model, tools), "execute_step", "s") == "done"
            asked = [str(call["id"]) for call in (*reply.tool_calls, *reply.invalid_tool_calls)]
            told = sorted(answers(model), key=lambda each: asked.index(each[0]))
            assert {call for call, _, _ in told} == {*asked}
            for (_, status, text), (wanted, part) in zip(told, expected, strict=True):
                assert (status, part in text) == (wanted, True)
                assert status == "error" or text == part


class Counter(AgentMiddleware):
    def __init__(self):
        super().__init__()
        self.count = 0

    def note(self, request, handler):
        self.count += 1
        return handler(request)

    async def anote(self, request, handler):
        self.count += 1
        return await handler(request)


class Again(Counter):
    def note(self, request, handler):
        super().note(request, handler)
        return super().note(request, handler)


class Caught(Counter):
    def wrap_tool_call(self, request, handler):
        self.count += 1
        try:
            return handler(request)
        except SystemExit as error:
            return ToolMessage(f"code {error.code}", tool_call_id=request.tool_call["id"])


async def test_middleware_wraps_calls_in_either_entry_in_whichever_form_it_is_written(subtests, call_either):
    added = calls(("add", {"a": 1, "b": 1}))
    for kind, methods, reply, count, told in [
        (Counter, {"wrap_tool_call": Counter.note}, added, 1, "2"),
        (Counter, {"wrap_model_call": Counter.note}, added, 2, "2"),
        (Counter, {"awrap_tool_call": Counter.anote}, added, 1, "2"),
        (Counter, {"awrap_model_call": Counter.anote}, added, 2, "2"),
        (Again, {"wrap_tool_call": Again.note}, added, 2, "2"),
        (Caught, {}, calls(("quit_at_once", {"code": 3})), 1, "code 3"),
        (Counter, {"wrap_tool_call": Counter.note}, calls(("broken", {"text": "it"})), 1, "cannot do it"),
    ]:
        with subtests.test(kind=kind, methods=methods):
            middleware = type("Own", (kind,), methods)()
            model = ScriptedChatModel([reply, "done"])
            agent = ExecutionAgent(model, [add, broken, quit_at_once], middleware=[middleware])

            assert await call_either(agent, "execute_step", "s") == "done"
            assert middleware.count == count
            [(_, status, text)] = answers(model)
            assert (status, told in text) == ("error" if "cannot" in told else "success", True)


class Logged(ExecutionAgent):
    def invoke(self, user_input):
        return super().invoke(f"{user_input} Please.")


class AwaitedLogged(Logged):
    async def ainvoke(self, user_input):
        return await super().ainvoke(f"{user_input} Please.")


@pytest.mark.parametrize("kind", [ExecutionAgent, Logged, AwaitedLogged])
async def test_invoke_runs_the_agent_with_its_tools_also_below_an_override(kind, call_either):
    model = ScriptedChatModel([calls(("add", {"a": 2, "b": 3})), "5"])
    agent = kind(model, [add], "Be exact.")
    given = ("invoke", "s Please.") if kind is ExecutionAgent else ("execute_step", "s")

    assert await call_either(agent, *given) == "5"
    assert answers(model) == [("0", "success", "5")]
    assert model.prompts[0][0].text == "Be exact."
    assert model.prompts[0][1].text.endswith("Please.")


class Brings(AgentMiddleware):
    tools = (awaited_add,)


async def test_a_tool_that_middleware_brings_is_a_tool_of_the_agent(call_either):
    model = ScriptedChatModel([calls(("awaited_add", {"a": 2, "b": 3})), "5"])
    agent = ExecutionAgent(model, middleware=[Brings()])

    assert [tool.name for tool in agent.tools] == ["awaited_add"]
    assert await call_either(agent, "execute_step", "s") == "5"
    assert answers(model) == [("0", "success", "5")]


async def test_tools_and_middleware_see_no_context_of_ours(call_either):
    seen: list[object] = []

    @tool
    def look(runtime: ToolRuntime) -> str:
        """Look."""
        seen.extend([runtime.context, get_runtime().context])
        return "seen"

    class Looks(AgentMiddleware):
        def before_model(self, state, runtime):
            seen.append(runtime.context)

    agent = ExecutionAgent(ScriptedChatModel([calls(("look", {})), "done"]), [look], middleware=[Looks()])

    assert await call_either(agent, "execute_step", "s") == "done"
    assert seen == [None] * 4


def test_what_is_no_middleware_is_refused(subtests):
    for given, told in [
        (Counter(), "middleware is .*Counter object .*; give a list"),
        ("Counter", "middleware is 'Counter'; give a list"),
        ([Counter], "middleware is .*Counter.*; give a list of instances"),
        ([Counter(), EffectsMiddleware(["add"])], "an ExecutionAgent has one already; leave it out"),
    ]:
        with subtests.test(given=given), pytest.raises((TypeError, ValueError), match=told):
            ExecutionAgent(ScriptedChatModel(["done"]), middleware=given)


@pytest.mark.parametrize("rounds", [1, 2, 5])
async def test_a_loop_that_never_ends_hits_its_cap_with_that_many_rounds_of_tools(rounds, call_either):
    done: list[int] = []

    @tool
    def again(n: int) -> int:
        """Ask again."""
        done.append(n)
        return n

    model = ScriptedChatModel(lambda _: calls(("again", {"n": 1})))
    writer = ScriptedChatModel(lambda _: "a summary")
    short = SummarizationMiddleware(writer, trigger=("messages", 3), keep=("messages", 1))
    agent = ExecutionAgent(model, tools=[again], max_tool_rounds=rounds, middleware=[short])
    with pytest.raises(ToolLoopError, match=f"after {rounds} rounds") as caught:
        await call_either(agent, "execute_step", "s")
    assert (caught.value.rounds, len(done), len(model.prompts)) == (rounds, rounds, rounds + 1)
    assert writer.prompts


def test_a_model_that_cannot_call_tools_is_refused_before_anything_runs(subtests):
    for llm in [FakeListChatModel(responses=["x"]), RunnableLambda(lambda _: AIMessage("x"))]:
        with subtests.test(llm=llm):
            with pytest.raises(ModelSetupError, match=type(llm).__name__):
                ExecutionAgent(llm, tools=[add])
            assert ExecutionAgent(llm).execute_step("s") == "x"
