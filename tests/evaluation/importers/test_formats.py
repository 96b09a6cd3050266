from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel

from evaluation import AgentRun, ContractError, evaluate, run_from_messages
from tests.evaluation.importers.conversations import (
    ARGUMENTS,
    CALLS,
    CHAT,
    FORMATS,
    FOUND,
    MARKS_ERRORS,
    REFUSED,
    REPLY,
    REQUEST,
    chat_call,
    lc_call,
    tool_result,
    tool_use,
)
from tests.evaluation.messages import said, user

NEVER = {"audit": {"rules": [{"id": "never", "forbidden_tools": ["cancel_order"]}]}}


def read_calls(messages):
    calls = run_from_messages(messages)["tool_calls"]
    return [
        {**call, "args": json.loads(call["args"]) if isinstance(call["args"], str) else call["args"]}
        for call in calls
    ]


def result_text(value):
    return next(iter(value.values())) if isinstance(value, dict) else value


SAID = {"forbidden_content": [{"text": "could not cancel", "where": "assistant_messages"}]}


def test_each_format_yields_the_request_the_calls_with_their_own_answers_and_the_output(subtests):
    for name, messages in FORMATS.items():
        with subtests.test(name=name):
            run = run_from_messages(messages)
            calls = [{**call, "result": result_text(call["result"])} for call in read_calls(messages)]
            output = evaluate({"agent_run": {"messages": messages}, "reference_output": REPLY})
            agreed = evaluate({"agent_run": run, "expected_trajectory": ["find_order"]})

            assert run["input"] == REQUEST["content"]
            is_marked = name in MARKS_ERRORS
            assert calls == [{**call, "error": call["result"] == REFUSED and is_marked} for call in CALLS]
            assert (output.status, output.metrics.response["exact_match"]) == ("passed", 1.0)
            assert evaluate({"agent_run": {"messages": messages}, **SAID}).status == "failed"
            assert (agreed.status, agreed.alerts) == ("passed", [])
            for read in (run, {"messages": messages}):
                found = evaluate({"agent_run": read, **NEVER}).audit_findings
                assert [finding["where"] for finding in found] == ["agent_run.tool_calls[0]"]


def test_each_spelling_of_the_assistant_is_read(subtests):
    for spelling in ["ai", "model", "Assistant", "AI", "Model"]:
        with subtests.test(spelling=spelling):
            said = ({**m, "role": spelling} if m["role"] == "assistant" else m for m in CHAT[1:])
            case = {"agent_run": {"messages": (messages := [REQUEST, *said])}, "reference_output": REPLY}

            assert (len(read_calls(messages)), evaluate(case).status) == (2, "passed")


def test_what_the_user_says_is_no_leak_of_the_agent_in_any_spelling(subtests):
    for spelling in ["human", "User", "developer"]:
        with subtests.test(spelling=spelling):
            messages = [{"role": spelling, "content": "password=hunter2secretX"}, said("Done.")]

            assert evaluate({"agent_run": {"messages": messages}, "keywords": ["Done"]}).status == "passed"


NOTATIONS = {
    "a part of Anthropic": {"content": [tool_use("1", "rm")]},
    "a part of Responses": {"content": [{"type": "function_call", "call_id": "1", "name": "rm"}]},
    "a part of LangChain": {"content": [{"type": "tool_call", "id": "1", "name": "rm", "args": {}}]},
    "a part unknown to LangChain": {"content": [{"type": "non_standard", "value": tool_use("1", "rm")}]},
    "a part of Gemini beside its text": {"parts": [{"text": "Hi", "functionCall": {"name": "rm"}}]},
    "parts beside a content": {"content": "Hi", "parts": [{"function_call": {"name": "rm"}}]},
    "a single part": {"content": tool_use("1", "rm")},
    "arguments that are no JSON": said("", tool_calls=[{"function": {"name": "rm", "arguments": "{"}}]),
    "a call of a custom tool": {"tool_calls": [{"type": "custom", "custom": {"name": "rm", "input": "/"}}]},
    "a call that LangChain could not parse": said("", invalid_tool_calls=[{"name": "rm", "args": "{"}]),
    "the provider's own fields": said(
        "", tool_calls=[], additional_kwargs={"tool_calls": [chat_call("1", "rm")]}
    ),
}


def read_calls_raw(message):
    return run_from_messages([{"role": "assistant", **message}])["tool_calls"]


def test_a_call_is_read_in_every_notation(subtests):
    for notation, message in NOTATIONS.items():
        with subtests.test(notation=notation):
            assert [call["name"] for call in read_calls_raw(message)] == ["rm"]


def test_a_call_written_in_several_notations_of_one_message_is_one_call(subtests):
    for extra in [
        {"tool_calls": [chat_call("1", "rm")]},
        {"function_call": {"name": "rm", "arguments": ARGUMENTS}},
    ]:
        with subtests.test(extra=extra):
            parts, calls = [tool_use("1", "rm")], [lc_call("1", "rm")]
            message = {"content": parts, "tool_calls": calls, "additional_kwargs": extra}

            assert len(read_calls_raw(message)) == 1


def test_another_call_under_the_same_id_is_another_call():
    other = {"content": [tool_use("1", "rm")], "tool_calls": [lc_call("1", "find_order")]}

    assert [call["name"] for call in read_calls_raw(other)] == ["find_order", "rm"]


class Block(BaseModel):
    type: str = "tool_use"
    id: str = "1"
    name: str = "rm"
    input: dict[str, object] = {}


def test_parts_may_be_objects_of_an_sdk():
    messages = [said([Block()]), user([tool_result("1", FOUND)])]

    assert run_from_messages(messages)["tool_calls"][0]["result"] == FOUND
    assert evaluate({"agent_run": {"messages": messages}, **NEVER}).status != "invalid"


def test_a_run_may_hold_message_objects():
    messages = [HumanMessage("Hi"), AIMessage("Hello")]

    assert AgentRun.model_validate({"messages": messages}).messages[1]["content"] == "Hello"


NAMELESS = "has a tool call without a name"
UNKNOWN = {
    "keys": ({"speaker": "bot", "says": "Hi"}, r"is in no known format \(keys 'speaker', 'says'\)"),
    "a role": ({"role": "narrator", "content": "Hi"}, r"is in no known format \(keys 'role', 'content'\)"),
    "no content": ({"role": "assistant", "message": "Hi"}, r"is in no known format \(.*\)"),
    "an item": ({"type": "item_reference", "id": "1"}, r"is in no known format \(.*\)"),
    "a part": (said([{"type": "tool-call"}]), r"has a part in no known format \(type 'tool-call'\)"),
    "a part without a type": (said([{"toolUse": {}}]), r"has a part in no known format \(keys 'toolUse'\)"),
    "a field": (
        said("Hi", toolCalls=[{"name": "rm"}]),
        r"may hold tool calls in no known format \(keys 'toolCalls'\)",
    ),
    "calls that are no list": (said(None, tool_calls={"id": "1"}), "has tool_calls that are no list"),
    "no function": (said(None, tool_calls=[{"function": None}]), rf"{NAMELESS} \(keys 'function'\)"),
    "a nameless function": (said(None, tool_calls=[{"function": {"name": None}}]), rf"{NAMELESS} \(.*\)"),
    "a text": ("Hi", "is a str, not an object"),
    "null": (None, "is a NoneType, not an object"),
}
ACCEPTED = "give messages of Anthropic, Gemini, LangChain, OpenAI Responses, OpenAI chat"


def test_what_is_no_known_format_is_refused_by_name(subtests):
    for kind, (message, problem) in UNKNOWN.items():
        with (
            subtests.test(kind=kind),
            pytest.raises(ContractError, match=rf"^messages\[1\] {problem}; {ACCEPTED}$"),
        ):
            run_from_messages([REQUEST, message])


HARMLESS = {
    "an image of the user": {"role": "user", "content": [{"type": "picture", "data": "abc"}]},
    "the definitions of tools": {"role": "system", "content": "Hi", "tools": [{"name": "rm"}]},
    "reasoning": {"role": "assistant", "content": [{"type": "thinking", "thinking": "rm?"}]},
    "fields of a recorder": {"role": "assistant", "content": "Hi", "author": {"name": "bot"}, "calls": []},
    "fields of a server": {"role": "assistant", "content": "Hi", "reasoning_content": "x", "annotations": []},
    "no function": {"role": "assistant", "content": "Hi", "function_call": None, "tool_calls": None},
    "a part of Gemini's SDK": {
        "role": "model",
        "parts": [{"text": "Hi", "function_call": None, "executable_code": None, "video_metadata": None}],
    },
}


def test_a_harmless_message_is_read_and_holds_no_call(subtests):
    for kind in HARMLESS:
        with subtests.test(kind=kind):
            assert run_from_messages([HARMLESS[kind]])["tool_calls"] == []


def test_a_refusal_is_a_text_of_a_message_and_no_output_of_a_run():
    run = {"messages": [REQUEST, said(None, refusal="I will not.")]}
    report = evaluate({"agent_run": run, "required_content": [{"text": "I will not"}]})

    assert report.status == "needs_review"
    assert "blocked or refused (refusal: I will not.)" in report.summary


def test_the_caller_says_which_answers_are_errors():
    calls = run_from_messages(CHAT, failed=lambda text: text.startswith("Error"))["tool_calls"]
    [unanswered] = run_from_messages(CHAT[:2], failed=lambda _: True)["tool_calls"]

    assert [call["error"] for call in calls] == [True, False]
    assert (unanswered["result"], unanswered["error"]) == (None, False)


def test_a_call_whose_name_a_model_left_empty_is_still_one():
    assert [call["name"] for call in read_calls_raw({"tool_calls": [{"function": {"name": ""}}]})] == [""]


def test_the_texts_of_a_message_in_parts_are_joined():
    parts = [{"type": "text", "text": "Where is "}, {"type": "image_url"}, {"type": "text", "text": "it?"}]

    assert run_from_messages([{"role": "user", "content": parts}])["input"] == "Where is it?"
