"""The tool calls that a model wants, and which of them are the same call."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from uuid import NAMESPACE_OID, uuid5

from langchain_core.messages import AIMessage, BaseMessage, InvalidToolCall, ToolCall
from langchain_core.tools import BaseTool
from pydantic import BaseModel

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

    def describe(self, args: object) -> str:
        """Describes arguments as text, which is the same for equal arguments."""
        read = self._read(args)
        value = _unify_numbers(args if read is None else read)
        return json.dumps(value, sort_keys=True, default=str, skipkeys=True)

    def accept(self, args: object) -> bool:
        """Returns whether the tool accepts the arguments, so that a call with them runs it."""
        return self._read(args) is not None

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


def read_arguments(tools: Sequence[BaseTool]) -> dict[str, ToolArguments]:
    """Returns how each tool reads its arguments, by the name of the tool."""
    return {tool.name: _read_schema(tool.tool_call_schema) for tool in tools}


def _read_schema(schema: object) -> ToolArguments:
    if isinstance(schema, Mapping) or (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return ToolArguments(schema)
    return ToolArguments()  # a model of pydantic 1


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call that a model wants.

    Attributes:
        call: The call, with an id.
        arguments: Reads its arguments; None if there is no such tool.
        number: How many times the conversation had the same call before.
        problem: Why the call cannot be read; empty if it can.
    """

    call: ToolCall
    arguments: ToolArguments | None
    number: int = 0
    problem: str = ""

    @property
    def name(self) -> str:
        """Name of the tool."""
        return self.call["name"]

    @property
    def args(self) -> dict[str, object]:
        """The arguments as the model wrote them."""
        return self.call["args"]

    @property
    def runs_tool(self) -> bool:
        """Whether there is such a tool, and it accepts the arguments."""
        return self.arguments is not None and self.arguments.accept(self.args)

    def describe(self, args: object) -> str:
        """Describes arguments of this tool as text, which is the same for equal arguments."""
        return (self.arguments or ToolArguments()).describe(args)

    def build_key(self, execution: str) -> str:
        """Builds the idempotency key of the call.

        It is the same if a crash makes the same call happen again, also with another id, and different for
        two equal calls of one execution.

        Args:
            execution: Key of the execution.
        """
        encoded = json.dumps([execution, self.name, self.describe(self.args), self.number])
        return hashlib.sha256(encoded.encode()).hexdigest()


def plan_calls(
    earlier: Sequence[BaseMessage], reply: AIMessage, tools: Mapping[str, ToolArguments]
) -> list[PlannedCall]:
    """Returns the calls of a reply, each with the number of the same calls before it.

    Args:
        earlier: The conversation before the reply.
        reply: The reply. Each call has an id.
        tools: How each tool reads its arguments.
    """
    before = [call for message in earlier if isinstance(message, AIMessage) for call in message.tool_calls]
    counts = Counter[tuple[str, str]]()
    planned = list[PlannedCall]()
    for call in (*before, *reply.tool_calls):
        each = PlannedCall(call, tools.get(call["name"]))
        described = each.name, each.describe(each.args)
        planned.append(PlannedCall(call, each.arguments, counts[described]))
        counts[described] += 1
    return [*planned[len(before) :], *map(_read_invalid, reply.invalid_tool_calls)]


def _read_invalid(invalid: InvalidToolCall) -> PlannedCall:
    args: dict[str, object] = {"arguments": invalid["args"]}
    call = ToolCall(name=invalid["name"] or "", args=args, id=invalid["id"] or "", type="tool_call")
    problem = f"The arguments are not valid JSON: {invalid['error'] or invalid['args']}"
    return PlannedCall(call, None, problem=problem)


def add_call_ids(reply: AIMessage, place: int) -> AIMessage:
    """Gives each tool call an id of its own: some servers send none or one for all, and an answer needs one.

    Args:
        reply: The reply.
        place: Its place in the conversation. A resumed run finds the same ids, and so the same answers.
    """
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    ids = [call["id"] for call in calls]
    own_ids = [uuid5(NAMESPACE_OID, f"{place}.{at}").hex for at in range(len(calls))]
    with_ids = [
        {**call, "id": call["id"] if call["id"] and call["id"] not in ids[:at] else own_ids[at]}
        for at, call in enumerate(calls)
    ]
    valid = len(reply.tool_calls)
    return reply.model_copy(update={"tool_calls": with_ids[:valid], "invalid_tool_calls": with_ids[valid:]})


def _unify_numbers(value: object) -> object:
    """Returns a value in which 1.0 is 1: JSON has one kind of number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _unify_numbers(each) for key, each in value.items()}
    return [_unify_numbers(each) for each in value] if isinstance(value, list | tuple) else value
