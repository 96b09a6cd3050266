import asyncio
import base64
import concurrent.futures
import json
from typing import Annotated

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphBubbleUp, ParentCommand
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from agents import ExecutionAgent, ModelRefusedError, ModelUnavailableError
from agents.errors import TextualCallError
from agents.testing import ScriptedChatModel
from tests.agents.agent_runs import run_bare
from tests.fakes.protocol_server import ModelReply, serve_model

CALL = '<tool_call>{"name": "note", "arguments": {"text": "a"}}</tool_call>'


@tool
def note(text: str) -> str:
    """Note a text."""
    return text


def ask(name: str, **args: object) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": "1"}])


def read_told(model: ScriptedChatModel) -> list[str]:
    return [message.text for message in model.prompts[-1] if isinstance(message, ToolMessage)]


async def test_a_call_as_text_is_told_to_the_model_which_then_makes_it(call_either):
    model = ScriptedChatModel([CALL, ask("note", text="a"), "done"])

    assert await call_either(ExecutionAgent(model, [note]), "execute_step", "s") == "done"
    assert "as text" in model.prompts[1][-1].text
    assert read_told(model) == ["a"]


DONE = ModelReply("done")
OLD_CALL = {"function_call": {"name": "note", "arguments": '{"text": "a"}'}}
UNMADE = {
    "a reason without a call": ModelReply("I note it.", reason="tool_calls"),
    "an old reason without a call": ModelReply("I note it.", reason="function_call"),
    "nothing but a reason": ModelReply(reason="tool_calls"),
    "an old call": ModelReply(reason="function_call", more=OLD_CALL),
    "an old call beside a text": ModelReply("I noted it.", reason="stop", more=OLD_CALL),
    "a call of no tool as text": ModelReply("Thought: I settle it.\nAction: settle[Ada]"),
    "a call as text": ModelReply('functions.note:0{"text": "a"}'),
}
BROKEN = {
    **UNMADE,
    "no object": ModelReply("I note it.", [("note", "[]")], "tool_calls"),
    "cut off": ModelReply("It is no", reason="length"),
}


WAYS = {
    "ExecutionAgent": (lambda model: ExecutionAgent(model, [note]).execute_step("s"), UNMADE),
    "without its tools": (lambda model: ExecutionAgent(model, [note]).synthesize("t", "r"), UNMADE),
    "create_agent": (lambda model: run_bare(model, [note]), BROKEN),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("streams", [False, True])
def test_a_reply_whose_call_was_not_made_or_that_is_cut_off_is_told_and_is_no_answer(subtests, way, streams):
    run, replies = WAYS[way]
    for label, reply in replies.items():
        with subtests.test(label), serve_model(reply, DONE, streaming=streams) as (model, server):
            assert run(model) == "done"
            assert server.bodies[1]["messages"][-1]["role"] in ("user", "tool")


def test_a_bare_agent_ends_with_an_error_if_telling_does_not_help(subtests):
    for reply, error, words in [
        (UNMADE["a reason without a call"], TextualCallError, "so that it was not made"),
        (BROKEN["cut off"], ModelUnavailableError, "length.*more tokens"),
        (ModelReply("It is no", reason="content_filter"), ModelRefusedError, "content_filter"),
        (ModelReply(more={"refusal": "I may not"}), ModelRefusedError, "I may not"),
        (
            ModelReply("", [("note", {"text": "a"})], "tool_calls", more={"refusal": "I will not"}),
            ModelRefusedError,
            "refused to answer: I will not",
        ),
    ]:
        served = serve_model(reply)
        with subtests.test(words), served as (model, _), pytest.raises(error, match=words):
            run_bare(model, [note])


@pytest.mark.parametrize("arguments", ['"{}"', "[]", "5", "true", "null", '""', []])
def test_arguments_that_are_no_object_are_told_and_do_not_stand_for_defaults(arguments):
    made = []

    def delete(path: str = "/data") -> str:
        """Delete a path."""
        made.append(path)
        return "deleted"

    call = {"id": "1", "type": "function", "function": {"name": "delete", "arguments": arguments}}
    calling = ModelReply(reason="tool_calls", more={"tool_calls": [call]})
    with serve_model(calling, DONE) as (model, server):
        assert (ExecutionAgent(model, [delete]).execute_step("s"), made) == ("done", [])
    *_, reply, told = server.bodies[-1]["messages"]
    assert isinstance(json.loads(reply["tool_calls"][0]["function"]["arguments"]), dict)
    assert told["role"] == "tool"


def test_a_name_that_no_server_takes_back_is_told_and_sent_as_a_valid_one(subtests):
    for name in ["", "note<|channel|>commentary", "functions.note", "n" * 100]:
        calling = ModelReply(calls=[(name, "{")], reason="tool_calls")
        with subtests.test(name=name), serve_model(calling, DONE) as (model, server):
            assert ExecutionAgent(model, [note]).execute_step("s") == "done"
            sent = server.bodies[-1]["messages"][-2]["tool_calls"][0]["function"]["name"]
            assert 0 < len(sent) <= 64
            assert sent.replace("_", "").replace("-", "").isalnum()


class OwnError(BaseException):
    """An error outside of Exception."""


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


ERRORS = [
    asyncio.CancelledError(), concurrent.futures.CancelledError(), OwnError("x"), MuteError(),
    GraphBubbleUp("x"), ParentCommand(Command(goto="x")), ParentCommand(Command(goto="x", graph="x")),
    ParentCommand(Command(goto="x", graph=Command.PARENT)),
]  # fmt: skip


@pytest.mark.parametrize("is_async", [False, True], ids=["a function", "a coroutine"])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_an_error_of_any_class_inside_a_tool_is_told(error, is_async, call_either):
    async def raise_later() -> str:
        """Raise an error."""
        raise error

    def raise_now() -> str:
        """Raise an error."""
        raise error

    own = raise_later if is_async else raise_now
    model = ScriptedChatModel([ask(own.__name__), "done"])

    assert await call_either(ExecutionAgent(model, [own]), "execute_step", "s") == "done"
    assert type(error).__name__ in read_told(model)[0]


def test_the_end_of_a_generator_that_a_tool_raises_is_told():
    def close() -> str:
        """Close."""
        raise GeneratorExit

    model = ScriptedChatModel([ask("close"), "done"])

    assert ExecutionAgent(model, [close]).execute_step("s") == "done"
    assert "GeneratorExit" in read_told(model)[0]


@pytest.mark.parametrize("is_raised", [False, True], ids=["returned", "raised"])
@pytest.mark.parametrize("has_outer", [False, True], ids=["alone", "in a graph"])
def test_a_command_to_another_graph_is_told_unless_there_is_one(is_raised, has_outer):
    command = Command(goto="colleague", graph=Command.PARENT)

    @tool
    def hand_over() -> Command:
        """Hand over."""
        if is_raised:
            raise ParentCommand(command)
        return command

    model = ScriptedChatModel([ask("hand_over"), "done"])
    agent = ExecutionAgent(model, [hand_over])
    if not has_outer:
        assert agent.execute_step("s") == "done"
        assert read_told(model)
        return
    outer = StateGraph(MessagesState).add_node("agent", agent.graph).add_edge(START, "agent")
    outer.add_node("colleague", lambda _: {"messages": ["taken over"]})
    assert outer.compile().invoke({"messages": ["s"]})["messages"][-1].text == "taken over"


async def test_a_cancellation_from_outside_is_none_of_the_tool():
    begun = asyncio.Event()

    async def wait() -> str:
        """Wait."""
        begun.set()
        await asyncio.Event().wait()
        return "never"

    model = ScriptedChatModel([ask("wait"), "done"])
    running = asyncio.create_task(ExecutionAgent(model, [wait]).aexecute_step("s"))
    await begun.wait()
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(model.prompts) == 1


def encode_image(start: bytes) -> str:
    return base64.b64encode(start.ljust(3_750, b"a")).decode()


PNG = encode_image(b"\x89PNG\r\n")
IMAGE = {"type": "image", "base64": PNG, "mime_type": "image/png"}


def build_look(value: object) -> BaseTool:
    @tool
    def look() -> object:
        """Look."""
        return value

    return look


def tell(value: object) -> ToolMessage:
    model = ScriptedChatModel([ask("look"), "done"])
    ExecutionAgent(model, [build_look(value)]).execute_step("s")
    [told] = [message for message in model.prompts[-1] if isinstance(message, ToolMessage)]
    return told


def test_an_answer_that_resembles_content_is_sent_as_json(subtests):
    page = {"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "A"}}
    for value in [
        page,
        [page],
        [{"type": "resource_link", "uri": "file:///b.pdf", "name": "b"}, {"type": "text", "text": "a"}],
        [{"type": "image_url", "name": "x"}],
        [{"type": "text", "text": 5}],
        [{"type": "text", "text": "a", "author": "Ada"}],
        [{"type": "text", "text": "a", "id": 3, "annotations": "from Ada"}],
        [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "index": 1}],
        {"type": "text", "text": "a"},
        ["漢" * 2_000],
        [],
        None,
    ]:
        with subtests.test(value=value):
            assert json.loads(tell(value).content) == value


class Frame:
    """A table that has a text for a reader, and no JSON."""

    def __str__(self) -> str:
        return "   a\n0  1"


def test_a_table_and_bytes_are_told_as_text(subtests):
    for value, told in [(Frame(), "   a\n0  1"), (b"\x89PNG", "PNG")]:
        with subtests.test(value=value):
            assert told in tell(value).content


def test_an_image_is_a_placeholder_and_the_content_of_a_server_stays_content():
    for parts in [[IMAGE], [{"type": "text", "text": "a screenshot"}, IMAGE]]:
        shown = json.loads(tell(parts).content)[-1]["base64"]
        assert shown == "(5000 characters of data, which are not shown)"
    assert tell([{"type": "text", "text": "a", "id": "lc_1"}]).text == "a"


def tell_claude(parts: list[object]) -> list[dict[str, object]] | str:
    calling = ModelReply(calls=[("look", {})], reason="tool_calls")
    with serve_model(calling, DONE, protocol="anthropic") as (model, server):
        ExecutionAgent(model, [build_look(parts)]).execute_step("s")
    [told] = server.bodies[-1]["messages"][-1]["content"]
    return told["content"]


def test_an_image_or_file_in_an_answer_is_sent_to_a_model_that_takes_it(subtests):
    pdf = {"type": "file", "base64": encode_image(b"%PDF-1.7"), "mime_type": "application/pdf", "id": "lc_1"}
    for part, kind in [(IMAGE, "image"), (pdf, "document")]:
        with subtests.test(kind=kind):
            text, sent = tell_claude([{"type": "text", "text": "a screenshot"}, part])
            assert (text["type"], sent["type"]) == ("text", kind)
            assert sent["source"]["data"] == part["base64"]


def test_an_image_that_a_server_would_refuse_is_told_as_json(subtests):
    for part in [
        {"type": "image", "base64": PNG},
        {**IMAGE, "mime_type": "image/svg+xml"},
        {**IMAGE, "base64": 5},
        {**IMAGE, "type": "file"},
        {**IMAGE, "cache_control": "no"},
        {**IMAGE, "id": 3},
        {"type": "image"},
        {"type": "image", "url": "file:///a.png"},
        {"type": "file", "file_id": "a"},
    ]:
        with subtests.test(part=part):
            [told] = json.loads(tell_claude([part]))
            assert {**told, "base64": ""} == {**part, "base64": ""}


class Unstorable:
    def __reduce__(self) -> str:
        raise TypeError("it holds a connection")


async def test_an_artifact_that_no_store_takes_is_left_out_and_the_agent_goes_on(call_either):
    @tool(response_format="content_and_artifact")
    def look() -> tuple[str, object]:
        """Look."""
        return "seen", Unstorable()

    assert await run_stored(look, call_either) == "seen"


async def test_a_change_of_state_that_no_store_takes_is_told_and_the_agent_goes_on(call_either):
    @tool
    def look(call_id: Annotated[str, InjectedToolCallId]) -> Command:
        """Look."""
        return Command(
            update={"messages": [ToolMessage("seen", tool_call_id=call_id, artifact=Unstorable())]}
        )

    assert "was called, and its answer cannot be used" in await run_stored(look, call_either)


async def run_stored(look: BaseTool, call_either) -> str:
    model = ScriptedChatModel([ask("look"), "done"])
    agent = ExecutionAgent(model, [look])
    builder = StateGraph(MessagesState).add_node("agent", agent.graph).add_edge(START, "agent")
    graph = builder.compile(checkpointer=InMemorySaver())
    state = await call_either(graph, "invoke", {"messages": "s"}, {"configurable": {"thread_id": "1"}})
    assert state["messages"][-1].text == "done"
    [told] = read_told(model)
    return told
