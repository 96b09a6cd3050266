"""Asks a tool that only reads what a call has done."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.prebuilt.tool_node import ToolCallRequest

from agents.errors import ModelSetupError
from agents.loop.acting_tools import ActingTool
from agents.loop.effects import Effect, ReadBack
from agents.loop.tool_answers import name_error, read_answer
from agents.sync import Call, Conversation

PREFIX: Final = "read_back:"
"""The id of the call begins with it, so that it is not taken for a call of the model."""


def add_read_back(request: ToolCallRequest, tool: ActingTool, effect: Effect) -> Conversation[Effect]:
    """Returns the effect with what its tool's ``read_back`` answers, unless the call was refused."""
    if tool.read_back is None or effect["outcome"] == "refused":
        return effect
    reader = _find_reader(request, tool.read_back)
    args = {name: effect["args"][name] for name in reader.args if name in effect["args"]}
    call = {
        "name": reader.name,
        "args": args,
        "id": f"{PREFIX}{request.tool_call['id']}",
        "type": "tool_call",
    }
    given = call, request.runtime.config
    try:
        output = yield Call(partial(reader.invoke, *given), partial(reader.ainvoke, *given))
        answer = read_answer(output)
        text = f"{type(output).__name__}: {output}" if answer is None else str(answer.text)
        is_error = answer is not None and answer.status == "error"
    except Exception as error:  # noqa: BLE001 - a tool is user code, and the call has been made
        text, is_error = name_error(error), True
    result, failure = (None, text) if is_error else (text, None)
    is_confirmed = effect["outcome"] == "unknown" and not is_error and tool.is_met_by(text)
    return {
        **effect,
        "outcome": "acted" if is_confirmed else effect["outcome"],
        "read_back": ReadBack(name=reader.name, args=args, result=result, error=failure),
    }


def find_missing_argument(reader: BaseTool, acting: BaseTool) -> str | None:
    """Returns a required argument of a reading tool that calls of an acting tool do not have; else None."""
    required = convert_to_openai_tool(reader)["function"]["parameters"].get("required", [])
    return next((name for name in required if name not in acting.args), None)


def _find_reader(request: ToolCallRequest, read_back: str | Callable[..., object]) -> BaseTool:
    if not isinstance(read_back, str):
        name = getattr(read_back, "__name__", "read_back")
        return StructuredTool.from_function(read_back, name=name, description="Reads what a call has done.")
    known = {each.name: each for each in request.runtime.tools}
    if read_back not in known:
        raise ModelSetupError(
            f"read_back names {read_back!r}, which the agent does not have; its tools are "
            f"{', '.join(sorted(known))}"
        )
    return known[read_back]
