"""Asks a tool that only reads what a call has done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.prebuilt.tool_node import ToolCallRequest

from agents.errors import ModelSetupError
from agents.loop.acting_tools import ActingTool
from agents.loop.effects import Effect, ReadBack
from agents.loop.tool_answers import read_answer
from agents.models.model_call import Call, Conversation

PREFIX: Final = "read_back:"
"""The id of the call begins with it, so that it is not taken for a call of the model."""


def add_read_back(request: ToolCallRequest, tool: ActingTool | None, effect: Effect) -> Conversation[Effect]:
    """Returns the effect with what its tool's ``read_back`` answers, unless the call was refused."""
    reader = _find_reader(request, tool, effect)
    if reader is None or tool is None:
        return effect
    args = select_arguments(reader, effect["args"])
    given = _build_call(request, reader, args), request.runtime.config
    try:
        output = yield Call(partial(reader.invoke, *given), partial(reader.ainvoke, *given))
    except Exception as error:  # noqa: BLE001 - a tool is user code, and the call has been made
        output = error
    return _join(tool, effect, reader, args, output)


def select_arguments(reader: BaseTool, args: Mapping[str, object]) -> dict[str, object]:
    """Returns the arguments of a call that a reading tool takes."""
    return {name: args[name] for name in reader.args if name in args}


def find_missing_argument(reader: BaseTool, acting: BaseTool) -> str | None:
    """Returns a required argument of a reading tool that calls of an acting tool do not have; else None."""
    required = convert_to_openai_tool(reader)["function"]["parameters"].get("required", [])
    return next((name for name in required if name not in acting.args), None)


def build_reader(read_back: Callable[..., object]) -> BaseTool:
    """Returns a function as a tool."""
    name = getattr(read_back, "__name__", "read_back")
    return StructuredTool.from_function(read_back, name=name, description="Reads what a call has done.")


def _find_reader(request: ToolCallRequest, tool: ActingTool | None, effect: Effect) -> BaseTool | None:
    if tool is None or tool.read_back is None or effect["outcome"] == "refused":
        return None
    if not isinstance(tool.read_back, str):
        return build_reader(tool.read_back)
    known = {each.name: each for each in request.runtime.tools}
    if tool.read_back not in known:
        raise ModelSetupError(
            f"read_back names {tool.read_back!r}, which the agent does not have; its tools are "
            f"{', '.join(sorted(known))}"
        )
    return known[tool.read_back]


def _build_call(request: ToolCallRequest, reader: BaseTool, args: dict[str, object]) -> dict[str, object]:
    call_id = f"{PREFIX}{request.tool_call['id']}"
    return {"name": reader.name, "args": args, "id": call_id, "type": "tool_call"}


def _join(
    tool: ActingTool, effect: Effect, reader: BaseTool, args: dict[str, object], output: object
) -> Effect:
    answer = read_answer(output)
    is_error = isinstance(output, Exception) or (isinstance(answer, ToolMessage) and answer.status == "error")
    text = f"{type(output).__name__}: {output}" if answer is None else str(answer.text)
    read = ReadBack(
        name=reader.name, args=args, result=None if is_error else text, error=text if is_error else None
    )
    is_confirmed = effect["outcome"] == "unknown" and not is_error and tool.is_met_by(text)
    return {**effect, "read_back": read, **({"outcome": "acted"} if is_confirmed else {})}  # type: ignore[typeddict-item]
