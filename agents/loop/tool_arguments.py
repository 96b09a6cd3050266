"""Builds the tools of an agent, reads the arguments of calls as they do, and watches the runs of tools."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.messages.tool import invalid_tool_call
from langchain_core.tools import BaseTool, StructuredTool, tool
from langchain_core.tracers.context import register_configure_hook
from langgraph.prebuilt.tool_node import ToolCallRequest
from pydantic import BaseModel

from agents.loop.effects import ReplyMark
from agents.loop.langgraph_internals import EDITS_KEY
from agents.loop.tool_answers import read_answer
from agents.parsing.loose_json import change_leaves, is_finite_json
from agents.sync import set_variable

IDEMPOTENCY_KEY: Final = "idempotency_key"
"""Name of the key in ``config["configurable"]``: of an execution, and within a tool of the call."""
_INVALID: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""Errors of a schema's own validators; pydantic's ValidationError is a ValueError."""


@dataclass(frozen=True, slots=True)
class ToolArguments:
    """Reads arguments as a tool reads them: converted by its schema, with its defaults.

    Attributes:
        schema: The tool's pydantic model, or the JSON Schema of a tool that reads its arguments by itself.
    """

    schema: type[BaseModel] | Mapping[str, object] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """The names of the arguments."""
        fields = (
            self.schema.get("properties") if isinstance(self.schema, Mapping) else self.schema.model_fields
        )
        return frozenset(fields if isinstance(fields, Mapping) else ())

    def describe(self, args: object) -> str:
        """Describes arguments as text, which is the same for equal arguments."""
        read = self._read(args)
        value = change_leaves(args if read is None else read, _unify_number)
        return json.dumps(value, sort_keys=True, default=str, skipkeys=True)

    def read_values(self, args: object) -> object:
        """Returns the arguments of a call with the values that the tool receives: 2 for "2".

        A default is left out. Arguments that the tool refuses stay as they are.
        """
        read = self._read(args)
        if read is None or not isinstance(args, Mapping):
            return args
        return {name: read.get(name, value) for name, value in args.items()}

    def _read(self, args: object) -> Mapping[str, object] | None:
        if isinstance(self.schema, Mapping):
            return _read_plain(self.schema, args) if isinstance(args, Mapping) else None
        try:
            read = self.schema.model_validate(args)
        except _INVALID:
            return None
        fields = type(read).model_fields
        # A value of a default_factory, such as the time, is another one in each call.
        left_out = {
            name for name in fields if fields[name].default_factory and name not in read.model_fields_set
        }
        return read.model_dump(exclude=left_out)


def _read_plain(schema: Mapping[str, object], args: Mapping[str, object]) -> Mapping[str, object]:
    """Reads arguments as servers with a JSON Schema do: with its defaults, and numbers from texts."""
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    fields = {name: each for name, each in known.items() if isinstance(each, Mapping)}
    defaults = {name: each["default"] for name, each in fields.items() if "default" in each}
    numbers = {name for name, each in fields.items() if each.get("type") in ("number", "integer")}
    read = {name: _to_number(value) if name in numbers else value for name, value in args.items()}
    return {**defaults, **read}


def _to_number(value: object) -> object:
    if not isinstance(value, str):
        return value
    for kind in (int, float):  # a float holds no number of more than 15 digits
        with suppress(ValueError):
            return kind(value)
    return value


def read_arguments(tools: Iterable[object]) -> dict[str, ToolArguments]:
    """Returns how each tool of ours reads its arguments, by the name of the tool."""
    return {tool.name: _read_schema(tool.tool_call_schema) for tool in tools if isinstance(tool, BaseTool)}


def list_parameters(tools: Iterable[object]) -> dict[str, frozenset[str]]:
    """Returns the names of the arguments of each tool, by the name of the tool."""
    return {name: arguments.names for name, arguments in read_arguments(tools).items()}


def withhold_broken(reply: AIMessage, tools: Iterable[object]) -> AIMessage:
    """Returns a reply in which a call is invalid whose arguments its tool does not take."""
    by_name = {tool.name: tool for tool in tools if isinstance(tool, BaseTool)}
    checked = [(call, find_argument_problem(call, by_name.get(call["name"]))) for call in reply.tool_calls]
    invalid = [
        invalid_tool_call(
            name=call["name"], args=json.dumps(call["args"], ensure_ascii=False), id=call["id"], error=problem
        )
        for call, problem in checked
        if problem
    ]
    valid = [call for call, problem in checked if not problem]
    update = {"tool_calls": valid, "invalid_tool_calls": [*reply.invalid_tool_calls, *invalid]}
    return reply.model_copy(update=update) if invalid else reply


def find_argument_problem(call: ToolCall, tool: BaseTool | None) -> str | None:
    """Returns the message about arguments that a tool does not take; None if it may take them.

    LangChain leaves out an argument that a tool does not have, so that a default takes its place.
    """
    if not is_finite_json(call["args"]):
        return "The arguments are not valid JSON: a number is NaN or infinite. Write the call again."
    names = None if tool is None else _list_accepted(tool)
    unknown = [] if names is None else [name for name in call["args"] if name not in names]
    if not unknown:
        return None
    return (
        f"{call['name']} has no argument {', '.join(map(repr, unknown))}; it takes "
        f"{', '.join(map(repr, sorted(names or ()))) or 'none'}. Write the call again."
    )


def give_idempotency_key(request: ToolCallRequest) -> ToolCallRequest:
    """Gives a tool the key of its call: the same one if a crash makes the call happen again."""
    # LangGraph makes a config for each call, and takes no other one from a middleware.
    values = request.runtime.config.get("configurable", {})
    if isinstance(execution := values.get(IDEMPOTENCY_KEY), str):
        key = f"{execution} {request.tool_call['id']}"
        values[IDEMPOTENCY_KEY] = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
    return request


def _list_accepted(tool: BaseTool) -> frozenset[str] | None:
    """Returns the names of arguments that a tool takes from a model; None if it takes any."""
    schema = tool.args_schema
    if isinstance(schema, Mapping):
        is_closed = schema.get("additionalProperties") is False and not schema.get("patternProperties")
        return ToolArguments(schema).names if is_closed else None
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return None  # without a schema, or of pydantic 1
    if schema.model_config.get("extra") == "allow":
        return None
    own = _read_schema(tool.tool_call_schema).names
    names = [schema.model_fields[name].validation_alias or name for name in own]
    by_name = schema.model_config.get("populate_by_name") or schema.model_config.get("validate_by_name")
    accepted = {each for each in names if isinstance(each, str)}
    # A name with several spellings is left to the tool.
    return None if len(accepted) < len(names) else frozenset(accepted | own if by_name else accepted)


def _read_schema(schema: object) -> ToolArguments:
    if isinstance(schema, Mapping) or (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return ToolArguments(schema)
    return ToolArguments()  # a model of pydantic 1


def hash_call(name: str, args: object, *purpose: str) -> str:
    """Builds a short text that is the same for the same purpose, tool and arguments."""
    call = json.dumps([name, args], sort_keys=True, default=str)
    return hashlib.sha256(json.dumps([*purpose, call]).encode()).hexdigest()[:16]


def build_key(name: str, args: Mapping[str, object], mark: ReplyMark | None = None) -> str:
    """Builds the key of a call: the hash of it as its tool receives it.

    Args:
        name: Name of the tool.
        args: The arguments as they are written.
        mark: The mark of the reply that has the call.
    """
    written = hash_call(name, ToolArguments().describe(args))
    return written if mark is None else mark.get("received", {}).get(written, written)


def hash_received(replies: Iterable[object], tools: Iterable[object]) -> dict[str, str]:
    """Returns the hash of each call with the arguments that its tool receives, by the hash of it as written.

    Calls that the tool receives as they are written are left out.
    """
    readers, plain = read_arguments(tools), ToolArguments()
    calls = [call for reply in replies if isinstance(reply, AIMessage) for call in reply.tool_calls]
    hashes = {
        hash_call(call["name"], plain.describe(call["args"])): hash_call(
            call["name"], readers.get(call["name"], plain).describe(call["args"])
        )
        for call in calls
    }
    return {written: read for written, read in hashes.items() if written != read}


def _unify_number(value: object) -> object:
    """Returns 1 for 1.0: JSON has one kind of number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One run of a tool for a call: a person or a middleware may change the call, or make it again.

    Attributes:
        name: Name of the tool.
        args: The arguments that it received.
        answer: Its answer; None if it gave none.
        error: The error that it raised; None if it raised none.
    """

    name: str
    args: dict[str, object]
    answer: ToolMessage | None = None
    error: BaseException | None = None


class ToolWatch(BaseCallbackHandler):
    """Takes the runs of the tool of a call.

    Attributes:
        runs: The runs, in the order of their starts; empty if something answered in place of the tool.
    """

    def __init__(self, call: ToolCall) -> None:
        self.runs: dict[UUID, ToolRun] = {}
        self._call_id = call["id"]

    def has_ended(self, error: BaseException) -> bool:
        """Returns whether the tool had ended when an error was raised, so that its answer cannot be used."""
        runs = [*self.runs.values()]
        return bool(runs) and runs[-1].error is None and isinstance(error, Exception)

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,  # noqa: ARG002
        *,
        run_id: UUID,
        inputs: dict[str, Any] | None = None,
        tool_call_id: str | None = None,
        **_: object,
    ) -> None:
        """Takes a start of the call."""
        if tool_call_id == self._call_id:
            self.runs[run_id] = ToolRun(serialized["name"], inputs or {})

    def on_tool_end(self, output: object, *, run_id: UUID, **_: object) -> None:
        """Takes the answer, before a middleware changes it."""
        if run_id in self.runs:
            self.runs[run_id] = replace(self.runs[run_id], answer=read_answer(output))

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: object) -> None:
        """Takes the error, which a middleware may catch."""
        if run_id in self.runs:
            self.runs[run_id] = replace(self.runs[run_id], error=error)


_watch: Final[ContextVar[ToolWatch | None]] = ContextVar("tool_watch", default=None)
register_configure_hook(_watch, inheritable=True)


def watch_tool(call: ToolCall) -> AbstractContextManager[ToolWatch]:
    """Watches the runs of the tool of a call in this context."""
    return set_variable(_watch, ToolWatch(call))


def is_watched() -> bool:
    """Returns whether a call is under way that its agent has stored, with all calls within it."""
    return _watch.get() is not None


def build_tools(tools: object) -> list[BaseTool]:
    """Builds LangChain tools from tools and functions.

    Raises:
        TypeError: ``tools`` is no list, or an item is neither a tool nor a function.
        ValueError: A function cannot be a tool, because it has no docstring, say, or two tools have one name.
    """
    if tools is None:
        return []
    # A single LangChain tool is iterable too: it yields its fields.
    if isinstance(tools, BaseTool | str | Mapping) or not isinstance(tools, Iterable):
        raise TypeError(f"tools is a {type(tools).__name__}; give a list of LangChain tools or functions")
    built = [_build_tool(item) for item in tools]
    names = [tool.name for tool in built]
    # Of two, only the last would run, also if the model means the first.
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f'tools has "{repeated}" {names.count(repeated)} times; give each tool another name')
    return built


def has_async_only_tool(tools: Sequence[BaseTool]) -> bool:
    """Checks whether a tool can only be awaited, as the tools of MCP servers."""
    return any(isinstance(tool, StructuredTool) and tool.func is None for tool in tools)


def _build_tool(item: object) -> BaseTool:
    if isinstance(item, BaseTool):
        return item
    name = getattr(item, "__name__", f"a {type(item).__name__}")
    if isinstance(item, type) or not callable(item):
        raise TypeError(f"tools contains {name}; give LangChain tools or functions")
    try:
        return tool(item)
    except ValueError as error:  # without a docstring, say
        raise ValueError(f"tools contains {name}, which cannot be a tool: {error}") from None


def edit_call(state: object, call: ToolCall) -> ToolCall:
    """Returns a call as a person has edited it in ``HumanInTheLoopMiddleware``, which keeps the message."""
    edits = state.get(EDITS_KEY) if isinstance(state, Mapping) else None
    edited = (edits or {}).get(call["id"])
    return call if edited is None else {**call, "name": edited["name"], "args": edited["args"]}
