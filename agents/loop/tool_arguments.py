"""Reads the arguments of tool calls as the tools do: which calls are equal, and their idempotency keys."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from langchain_core.tools import BaseTool
from pydantic import BaseModel, ValidationError

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

    def read_values(self, args: object) -> object:
        """Returns the arguments of a call with the values that the tool receives: 2 for "2".

        A default is left out. Arguments that the tool refuses stay as they are.
        """
        read = self._read(args)
        if read is None or not isinstance(args, Mapping):
            return args
        return {name: read.get(name, value) for name, value in args.items()}

    def restore_texts(self, args: Mapping[str, object]) -> dict[str, object]:
        """Returns arguments with JSON as text if the tool takes a text: LangChain decodes it for Ollama."""
        texts = {name for name in self._list_texts(args) if isinstance(args.get(name), dict | list)}
        return {**args, **{name: json.dumps(args[name], ensure_ascii=False) for name in texts}}

    def _list_texts(self, args: Mapping[str, object]) -> list[str]:
        if isinstance(self.schema, Mapping):
            fields = self.schema.get("properties")
            known = fields.items() if isinstance(fields, Mapping) else ()
            return [
                name for name, each in known if isinstance(each, Mapping) and each.get("type") == "string"
            ]
        try:
            self.schema.model_validate(args)
        except ValidationError as error:
            return [str(each["loc"][0]) for each in error.errors() if each["type"] == "string_type"]
        except _INVALID:
            pass
        return []

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


def add_call_ids(reply: AIMessage, messages: Sequence[BaseMessage]) -> AIMessage:
    """Gives each tool call an id of its own: some servers send none or repeat one, and an answer needs one.

    Args:
        reply: The reply.
        messages: The conversation before it.
    """
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    earlier = [each for each in messages if isinstance(each, AIMessage)]
    taken = {call["id"] for each in earlier for call in (*each.tool_calls, *each.invalid_tool_calls)}
    ids = [call["id"] for call in calls]
    if all(ids) and len({*ids}) == len(ids) and taken.isdisjoint(ids):
        return reply
    with_ids = [
        {**call, "id": call["id"] if call["id"] and call["id"] not in {*taken, *ids[:at]} else uuid4().hex}
        for at, call in enumerate(calls)
    ]
    valid = len(reply.tool_calls)
    return reply.model_copy(update={"tool_calls": with_ids[:valid], "invalid_tool_calls": with_ids[valid:]})


def hash_call(name: str, args: object, *purpose: str) -> str:
    """Builds a short text that is the same for the same purpose, tool and arguments."""
    call = json.dumps([name, args], sort_keys=True, default=str)
    return hashlib.sha256(json.dumps([*purpose, call]).encode()).hexdigest()[:16]


def build_call_key(
    execution: str, call: ToolCall, messages: Sequence[BaseMessage], arguments: ToolArguments
) -> str:
    """Builds the idempotency key of a call.

    It is the same if a crash makes the same call happen again, and different for two equal calls of one
    execution.

    Args:
        execution: Key of the execution.
        call: The call.
        messages: The conversation up to the reply with the call.
        arguments: Reads the arguments as the tool does.
    """
    made = [each for message in messages if isinstance(message, AIMessage) for each in message.tool_calls]
    before = takewhile(lambda each: each["id"] != call["id"], made)
    described = arguments.describe(call["args"])
    number = sum(
        each["name"] == call["name"] and arguments.describe(each["args"]) == described for each in before
    )
    encoded = json.dumps([execution, call["name"], described, number])
    return hashlib.sha256(encoded.encode()).hexdigest()


def _unify_numbers(value: object) -> object:
    """Returns a value in which 1.0 is 1: JSON has one kind of number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _unify_numbers(each) for key, each in value.items()}
    return [_unify_numbers(each) for each in value] if isinstance(value, list | tuple) else value
