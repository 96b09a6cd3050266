"""The same conversation in every format: one call with an error, one call with a result, and a reply."""

from typing import Any

from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, messages_to_dict

from tests.evaluation.messages import said, user

REFUSED, FOUND, REPLY = "Error: too late", "It is paid.", "I could not cancel it."
CALLS = [
    {"name": "cancel_order", "args": {"order": 7}, "result": REFUSED},
    {"name": "find_order", "args": {"order": 7}, "result": FOUND},
]
REQUEST, ANSWER = user("Cancel order 7."), said(REPLY)
ARGUMENTS = '{"order": 7}'


def chat_call(call_id: str, name: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": ARGUMENTS}}


def tool_use(call_id: str, name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"order": 7}}


def tool_result(call_id: str, content: object, **fields: object) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def function_item(call_id: str, name: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": ARGUMENTS}


def output_item(call_id: str, output: object) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


CHAT = [
    REQUEST,
    {"role": "assistant", "content": None, "tool_calls": [chat_call("1", "cancel_order")]},
    {"role": "tool", "tool_call_id": "1", "content": REFUSED},
    {"role": "assistant", "content": None, "tool_calls": [chat_call("2", "find_order")]},
    {"role": "tool", "tool_call_id": "2", "content": [{"type": "text", "text": FOUND}]},
    ANSWER,
]
FUNCTIONS = [
    REQUEST,
    {"role": "assistant", "content": None, "function_call": {"name": "cancel_order", "arguments": ARGUMENTS}},
    {"role": "function", "name": "cancel_order", "content": REFUSED},
    {"role": "assistant", "content": None, "function_call": {"name": "find_order", "arguments": ARGUMENTS}},
    {"role": "function", "name": "find_order", "content": FOUND},
    ANSWER,
]
RESPONSES = [
    {"role": "user", "content": [{"type": "input_text", "text": REQUEST["content"]}]},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None},
    function_item("1", "cancel_order"),
    output_item("1", REFUSED),
    function_item("2", "find_order"),
    output_item("2", [{"type": "input_text", "text": FOUND}]),
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": REPLY, "annotations": []}],
        "status": "completed",
    },
]
ANTHROPIC = [
    REQUEST,
    said([{"type": "text", "text": "Let me see."}, tool_use("1", "cancel_order")]),
    user([tool_result("1", REFUSED, is_error=True)]),
    said([tool_use("2", "find_order")]),
    user([tool_result("2", [{"type": "text", "text": FOUND}])]),
    said([{"type": "text", "text": REPLY}]),
]
GEMINI = [
    {"role": "user", "parts": [{"text": REQUEST["content"]}]},
    {"role": "model", "parts": [{"function_call": {"name": "cancel_order", "args": {"order": 7}}}]},
    {
        "role": "user",
        "parts": [{"function_response": {"name": "cancel_order", "response": {"error": REFUSED}}}],
    },
    {"role": "model", "parts": [{"functionCall": {"name": "find_order", "args": {"order": 7}, "id": None}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "find_order", "response": {"output": FOUND}}}]},
    {"role": "model", "parts": [{"text": "No one sees this.", "thought": True}, {"text": REPLY}]},
]


def lc_call(call_id: str, name: str) -> Any:
    return {"type": "tool_call", "id": call_id, "name": name, "args": {"order": 7}}


OBJECTS: list[BaseMessage] = [
    HumanMessage("Cancel order 7."),
    AIMessage("", tool_calls=[lc_call("1", "cancel_order")]),
    ToolMessage(REFUSED, tool_call_id="1", status="error"),
    # The providers' packages leave the provider's own notation in the content.
    AIMessage([tool_use("2", "find_order")], tool_calls=[lc_call("2", "find_order")]),
    ToolMessage(FOUND, tool_call_id="2"),
    AIMessage(REPLY),
]
FORMATS: dict[str, list[Any]] = {
    "OpenAI chat": CHAT,
    "OpenAI chat, as before tool_calls": FUNCTIONS,
    "OpenAI Responses": RESPONSES,
    "Anthropic": ANTHROPIC,
    "Gemini": GEMINI,
    "LangChain objects": OBJECTS,
    "LangChain model_dump": [message.model_dump() for message in OBJECTS],
    "LangChain messages_to_dict": messages_to_dict(OBJECTS),
    "LangChain dumpd": [dumpd(message) for message in OBJECTS],
}
MARKS_ERRORS = frozenset({"Anthropic", "Gemini", *(name for name in FORMATS if "LangChain" in name)})
"""The formats that say which answers are errors."""
