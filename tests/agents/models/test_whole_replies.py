from __future__ import annotations

import json

import pytest
from langchain.agents import create_agent
from langchain_core.exceptions import ModelConnectionError
from langchain_core.language_models import LanguageModelInput
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI

from agents import (
    BaseAgent,
    EffectsMiddleware,
    ExecutionAgent,
    ModelRefusedError,
    ModelUnavailableError,
    TransportRetry,
)
from agents.models.server_errors import is_transient
from agents.models.whole_replies import check_replies
from agents.parsing.end_reasons import find_message_cut_off, is_token_limit
from tests.fakes.protocol_server import (
    PROTOCOLS,
    ModelReply,
    Protocol,
    encode,
    serve_model,
    serve_protocol,
    write_body,
    write_error_event,
    write_stream,
)

AT_ONCE = TransportRetry(max_attempts=3, initial_seconds=0)
CALL = ModelReply("I remove it.", [("remove", {"path": "/data/old/cache", "n": 12})], "tool_calls")
TWO_CALLS = ModelReply("", [("remove", {"path": "/data/old"}), ("remove", {"path": "/tmp"})], "tool_calls")
PLAIN = ModelReply("The colours are red, white and blue.")


def remove(path: str, n: int = 0) -> str:
    """Remove a directory."""
    return f"removed {path}"


def ask(model: Runnable[LanguageModelInput, AIMessage]) -> AIMessage | Exception:
    try:
        return model.invoke("x")
    except Exception as error:  # noqa: BLE001 - each kind is looked at by the test
        return error


def list_calls(reply: AIMessage) -> list[tuple[str, dict[str, object]]]:
    return [(call["name"], call["args"]) for call in reply.tool_calls]


def is_sound(damaged: AIMessage | Exception, whole: AIMessage) -> bool:
    if isinstance(damaged, Exception):
        return is_transient(damaged)
    is_same = damaged.text == whole.text and list_calls(damaged) == list_calls(whole)
    return is_same or (find_message_cut_off(damaged) is not None and not damaged.tool_calls)


def record(protocol: Protocol, reply: ModelReply, form: str) -> tuple[bytes, bytes]:
    """The head of an answer, and its body as the framing of HTTP has it."""
    parts = write_stream(protocol, reply)
    bodies = {"chunks": parts, "until the end": b"".join(parts), "body": None}
    head, separator, content = encode(bodies[form] or write_body(protocol, reply)).partition(b"\r\n\r\n")
    return head + separator, content


EXCHANGES = [
    (protocol, reply, form)
    for protocol in PROTOCOLS
    for reply in (CALL, TWO_CALLS, PLAIN)
    for form in ("chunks", "until the end", "body")
    if (protocol, form) != ("ollama", "body")  # its client always streams
]


def find_unsound(protocol: Protocol, reply: ModelReply, form: str, cuts: int) -> list[tuple[bytes, object]]:
    """Finds the cuts, so many over the body, that give what the whole one did not have."""
    head, body = record(protocol, reply, form)
    sent, unsound = [head + body], list[tuple[bytes, object]]()
    with serve_protocol(lambda _: sent[0]) as server:
        bound = server.model(protocol, streaming=form != "body").bind_tools([remove])
        whole = ask(bound)
        assert isinstance(whole, AIMessage), whole
        for end in range(0, len(body), max(1, len(body) // cuts)):
            sent[0] = head + body[:end]
            if not is_sound(seen := ask(bound), whole):
                unsound.append((body[:end][-60:], seen))
    return unsound


EACH_BYTE = pytest.param(10**6, marks=[pytest.mark.soak, pytest.mark.timeout(1200)])


@pytest.mark.parametrize("cuts", [8, EACH_BYTE])
def test_an_exchange_that_is_cut_gives_nothing_that_the_whole_one_did_not_have(subtests, cuts):
    for protocol, reply, form in EXCHANGES:
        with subtests.test(protocol=protocol, reply=reply, form=form):
            assert find_unsound(protocol, reply, form, cuts) == []


def broken_streams(protocol: Protocol) -> dict[str, bytes]:
    """Streams that begin as PLAIN does and end in a fault that may pass."""
    parts = write_stream(protocol, PLAIN)
    return {
        "within an HTTP chunk": encode(parts)[:-60],
        "after a piece": encode(parts[:3]),
        "before the first piece": encode(b""),
        "an error event": encode([*parts[:3], write_error_event(protocol, "the upstream is gone")]),
        "an odd header": encode(parts[:3], headers={"X-Accel": "é", "Retry-After": "soon"}),
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_stream_that_breaks_off_is_asked_for_again(subtests, protocol):
    for label, broken in broken_streams(protocol).items():
        served = serve_model(broken, PLAIN, protocol=protocol, streaming=True)
        with subtests.test(label), served as (model, server):
            assert BaseAgent(model, transport_retry=AT_ONCE).invoke("x") == PLAIN.text
            assert len(server.bodies) == 2


def test_a_stream_for_a_schema_that_is_cut_is_asked_for_again(subtests):
    answer = '{"a": "red, white and blue"}'
    schema = {"title": "t", "type": "object", "properties": {"a": {"type": "string"}}}
    whole = b"".join(write_stream("openai", ModelReply(answer)))
    for cut in range(0, len(whole), 97):
        cut_then_whole = serve_model(encode(whole[:cut]), encode(whole), streaming=True)
        with subtests.test(str(cut)), cut_then_whole as (model, _):
            agent = ExecutionAgent(model, transport_retry=AT_ONCE)
            assert agent.execute_step("x", schema=schema) == answer


def write_event(text: str, reason: str | None) -> bytes:
    choice = {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": reason}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


DONE = b"data: [DONE]\n\n"
FIRST, SECOND = write_event("red, ", "stop"), write_event("white and blue", "stop")
IN_EACH = {
    "one piece": (FIRST, 2),
    "two pieces": (FIRST + SECOND, 2),
    "within the second piece": (FIRST + SECOND[:-20], 2),
    "a comment behind it": (FIRST + b": ping\n\n", 2),
    "a reason that changes": (write_event("red", "length") + SECOND, 2),
    "its mark": (FIRST + SECOND + DONE, 1),
    "its mark without an empty line": (FIRST + SECOND + DONE.strip(), 1),
    "an empty piece": (write_event("red", None) + write_event("", "stop"), 1),
    "an empty piece behind reasons": (FIRST + write_event("", "stop"), 1),
}


async def test_a_reason_beside_a_text_ends_no_stream_of_openai_without_its_mark(subtests, call_either):
    for label, (stream, requests) in IN_EACH.items():
        served = serve_model(encode([stream]), PLAIN, streaming=True)
        with subtests.test(label), served as (model, server):
            reply = await call_either(BaseAgent(model, transport_retry=AT_ONCE), "invoke", "x")
            assert len(server.bodies) == requests
            assert (reply == PLAIN.text) is (requests == 2)


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
async def test_an_error_event_that_would_come_again_is_told_at_once(protocol):
    refusal = write_error_event(protocol, "no such voice", "invalid_request_error")
    with serve_model(encode([refusal]), protocol=protocol, streaming=True) as (model, server):
        with pytest.raises(ModelRefusedError, match="no such voice"):
            await BaseAgent(model, transport_retry=AT_ONCE).ainvoke("x")
        assert len(server.bodies) == 1


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_a_reply_with_a_reason_that_no_provider_has_for_a_whole_one_is_asked_for_again(subtests, protocol):
    again = ["engine_overloaded", "network_error", "OTHER", "unknown", "error", "lengthstop", "user_cancel"]
    for reason, requests in [*((each, 2) for each in again), ("STOP", 1), ("eos_token", 1)]:
        for streaming in (True, False):
            ended = ModelReply(PLAIN.text, reason=reason)
            served = serve_model(ended, PLAIN, protocol=protocol, streaming=streaming)
            with subtests.test(reason=reason, streaming=streaming), served as (model, server):
                assert BaseAgent(model, transport_retry=AT_ONCE).invoke("x") == PLAIN.text
                assert len(server.bodies) == requests


INCOMPLETE = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


def test_the_end_of_a_reply_is_read_where_each_provider_reports_it_and_in_its_words(subtests):
    whole = ["stop", "end_turn", "eos_token", "toolUse", "FinishReason.STOP", "stopstop", "null"]
    limits = ["length", "MAX_TOKENS", "model_context_window_exceeded", "FinishReason.MAX_TOKENS"]
    repeated = ["lengthlength", "STOPMAX_TOKENS"]  # the pieces of a stream repeat the reason
    for report, cut_off in [
        *(({"finish_reason": reason}, None) for reason in whole),
        *(({"finish_reason": reason}, reason) for reason in (*limits, *repeated)),
        *(({name: "length"}, "length") for name in ("stopReason", "finishReason", "done_reason")),
        (INCOMPLETE, "max_output_tokens"),
        ({"finish_reason": "stop", "stop_reason": "Observation:"}, None),
        ({"stop_reason": "length", "finish_reason": "stop"}, "length"),
        ({"finish_reason": "stop", "status": "failed"}, "failed"),
        ({"status": "sent"}, None),
    ]:
        with subtests.test(report=report):
            found = find_message_cut_off(AIMessage("x", response_metadata=report))
            assert (found, is_token_limit(found or "")) == (cut_off, cut_off not in {None, "failed"})


PASSING = {
    "an error object": {"error": {"message": "Provider returned error", "code": 502}},
    "an error as a text": {"error": "overloaded"},
    "a code in words": {"error": {"message": "slow down", "code": "rate_limit_exceeded"}},
    "choices is null": {**write_body("openai", PLAIN), "choices": None},
    "choices is empty": {**write_body("openai", PLAIN), "choices": []},
    "an end with an error": write_body("openai", ModelReply("Hel", reason="error")),
    "no choices": {"id": "x", "object": "chat.completion"},
    "nothing": b"",
    "a list": [{"error": {"message": "Provider returned error"}}],
}


@pytest.mark.parametrize("schema", [None, {"title": "t", "type": "object"}], ids=["plain", "schema"])
def test_an_error_in_a_success_is_asked_for_again(subtests, schema):
    for label, body in PASSING.items():
        with subtests.test(label), serve_model(encode(body), ModelReply('{"a": 1}')) as (model, _):
            agent = ExecutionAgent(model, transport_retry=AT_ONCE)
            assert agent.execute_step("x", schema=schema) == '{"a": 1}'


def test_a_lasting_error_in_a_success_is_told_at_once(subtests):
    for kind in [{"code": 401}, {"type": "authentication_error"}]:
        served = serve_model(encode({"error": {"message": "wrong key", **kind}}))
        with subtests.test(kind=kind), served as (model, server):
            with pytest.raises(ModelRefusedError, match="wrong key"):
                BaseAgent(model, transport_retry=AT_ONCE).invoke("x")
            assert len(server.bodies) == 1


async def test_the_model_of_somebody_elses_agent_is_checked(call_either):
    with serve_protocol(lambda _: encode(write_stream("openai", CALL)[:-4])) as server:
        llm = ChatOpenAI(
            model="m", base_url=f"{server.url}/v1", api_key="none", max_retries=0, streaming=True
        )
        agent = create_agent(llm, [remove], middleware=[EffectsMiddleware(acting_tools=[])])
        with pytest.raises(ModelConnectionError, match="ended before the server said"):
            await call_either(agent, "invoke", {"messages": [("user", "x")]})
        assert server.bodies[0]["stream_options"] == {"include_usage": True}


def test_a_stream_of_a_provider_that_need_not_say_its_end_is_whole():
    model = GenericFakeChatModel(messages=iter([AIMessage("a whole reply")]))
    assert "".join(chunk.text for chunk in check_replies(model).stream("x")) == "a whole reply"
    assert BaseAgent(GenericFakeChatModel(messages=iter([AIMessage("whole")]))).invoke("x") == "whole"


class LenientModel(GenericFakeChatModel):
    """A model of a provider that gives no reason for the end."""

    def _stream(self, *args: object, **kwargs: object):
        call = {"name": "remove", "args": None, "id": "c0", "index": 0, "type": "tool_call_chunk"}
        yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=[call]))


class Silent(GenericFakeChatModel):
    def _generate(self, *_: object, **__: object) -> ChatResult:
        return ChatResult(generations=[])


def test_a_result_of_any_provider_without_a_reply_is_told():
    with pytest.raises(ModelUnavailableError, match="the answer has no reply"):
        BaseAgent(Silent(messages=iter(())), transport_retry=AT_ONCE).invoke("x")


def test_a_call_without_arguments_of_a_provider_that_need_not_say_its_end_is_made():
    [reply, *_] = check_replies(LenientModel(messages=iter(()))).stream("x")
    assert list_calls(reply) == [("remove", {})]


def test_usage_that_stands_in_each_piece_counts_once():
    with serve_model(ModelReply("red, white and blue", usage_in_each=True), streaming=True) as (model, _):
        usage = model.invoke("x").usage_metadata
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (11, 7, 18)


def test_the_thoughts_of_a_reply_with_calls_are_sent_back(subtests):
    for name in ["reasoning_content", "reasoning"]:
        call = ModelReply("", [("remove", {"path": "/tmp"})], "tool_calls", more={name: "it is old"})
        done = ModelReply("done", more={name: "all is done"})
        for streamed in [False, True]:
            served = serve_model(call, done, streaming=streamed)
            with subtests.test(name=name, streamed=streamed), served as (model, server):
                agent = ExecutionAgent(model, [remove])
                assert agent.execute_step("x") == "done"
                agent.execute_step("y")
                messages = server.bodies[1]["messages"]
                assert [each.get(name) for each in messages if each["role"] == "assistant"] == ["it is old"]


SIGNED = {"google": {"thought_signature": "c2lnbmVk"}}


@pytest.mark.parametrize("streamed", [False, True])
def test_the_signature_of_the_thoughts_that_led_to_a_call_is_sent_back_with_it(streamed):
    call = {"index": 0, "id": "1", "function": {"name": "remove", "arguments": '{"path": "/tmp"}'}}
    more = {"tool_calls": [{**call, "type": "function", "extra_content": SIGNED}]}
    calling = ModelReply("", reason="tool_calls", more=more)
    with serve_model(calling, ModelReply("done"), streaming=streamed) as (model, server):
        assert ExecutionAgent(model, [remove]).execute_step("x") == "done"
    [sent] = server.bodies[1]["messages"][-2]["tool_calls"]
    assert sent["extra_content"] == SIGNED


def test_a_view_of_a_model_shares_its_state():
    model = ChatOpenAI(model="m", api_key="none")
    view = check_replies(model)
    assert isinstance(view, ChatOpenAI)
    assert check_replies(view) is view
    view.temperature = 0.5
    assert model.temperature == 0.5
    assert check_replies(model.bind(stop=["."])).kwargs == {"stop": ["."]}
