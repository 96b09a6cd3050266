"""Asks a tool that only reads for the effect of a call."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt.tool_node import ToolCallRequest

from agents.errors import ModelSetupError
from agents.loop.acting_tools import (
    ActingTool,
    ActingTools,
    add_annotations,
    describe_tool,
    read_annotations,
)
from agents.loop.effects import Effect
from agents.loop.tool_answers import name_error, raise_outer, read_answer
from agents.reply_types import ReadBack
from agents.sync import Conversation, call_either

PREFIX: Final = "read_back:"
"""The id of the call begins with it, so that it is not taken for a call of the model."""


def add_read_back(request: ToolCallRequest, tool: ActingTool, effect: Effect) -> Conversation[Effect]:
    """Returns the effect with what its tool's ``read_back`` answers; a refusal needs ``succeeded`` for it."""
    is_refused = effect["outcome"] == "refused"
    is_certain = tool.succeeded is None or (effect["answer"] or "").startswith("NoEffectError:")
    if tool.read_back is None or (is_refused and is_certain):
        return effect
    name, args = getattr(tool.read_back, "__name__", str(tool.read_back)), dict[str, object]()
    try:
        reader = _find_reader(request, tool.read_back)
        args = {each: effect["args"][each] for each in reader.args if each in effect["args"]}
        call = {"name": name, "args": args, "id": f"{PREFIX}{request.tool_call['id']}", "type": "tool_call"}
        output = yield call_either(reader.invoke, reader.ainvoke, call, request.runtime.config)
        answer = read_answer(output)
        text = f"{type(output).__name__}: {output}" if answer is None else str(answer.text)
        is_error = answer is not None and answer.status == "error"
    except BaseException as error:  # noqa: BLE001 - a tool is user code, and the call has been made
        raise_outer(error)
        text, is_error = name_error(error), True
    result, failure = (None, text) if is_error else (text, None)
    return {
        **effect,
        "outcome": effect["outcome"] if is_error else tool.read_back_outcome(effect["outcome"], text),
        "read_back": ReadBack(name=name, args=args, result=result, error=failure),
    }


def check_acting_tools(acting: ActingTools, tools: Mapping[str, BaseTool]) -> None:
    """Checks the names that ``acting_tools`` of an agent has.

    Raises:
        ModelSetupError: The agent lacks a tool, or ``read_back`` cannot be asked.
    """
    names = ", ".join(tools)
    listed = f"the tools of the agent are {names}" if names else "the agent has no tools"
    annotated = add_annotations(acting, read_annotations(acting, tools.values()))
    if (problem := find_name_problem(annotated, tools, listed)) is not None:
        raise ModelSetupError(problem)


def find_name_problem(acting: ActingTools, tools: Mapping[str, BaseTool], listed: str) -> str | None:
    """Returns why the names in ``acting_tools`` do not fit the tools, which a clause lists; else None."""
    for name, treatment in acting.stated.items():
        if name not in tools:
            return f"acting_tools names {_quote(name)}; {listed}"
        read = treatment.read_back
        if isinstance(read, str) and (read not in tools or describe_tool(acting, read).kind != "reading"):
            return (
                f"read_back of {_quote(name)} is {_quote(read)}; name a tool that only reads, or give a "
                f"function; {listed}"
            )
    return None


def _find_reader(request: ToolCallRequest, read_back: str | Callable[..., object]) -> BaseTool:
    if isinstance(read_back, str):
        return {each.name: each for each in request.runtime.tools}[read_back]
    name = read_back.__name__
    return StructuredTool.from_function(read_back, name=name, description="Reads what a call has done.")


def _quote(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
