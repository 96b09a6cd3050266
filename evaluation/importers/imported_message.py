"""A recorded message: its fields and texts, and the types of a message, a tool call and an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from agents.parsing.end_reasons import find_cut_off
from evaluation.errors import ContractError
from evaluation.sensitive.scanner import shorten
from evaluation.values import JsonObject


class UnknownFormatError(ContractError):
    """A part of a recorded run is in no known format; the text says which one."""


def read_object(record: JsonObject, name: str, where: str = "") -> dict[str, object]:
    """Return the object in a field; an empty one if the field is absent or null.

    Raises:
        UnknownFormatError: The field holds anything else. ``where`` names the record.
    """
    value = {} if record.get(name) is None else record[name]
    if not isinstance(value, dict):
        raise UnknownFormatError(f"{where} has {name} that is no object".lstrip())
    return value


def read_list(record: JsonObject, name: str, where: str = "") -> list[object]:
    """Return the list in a field; an empty one if the field is absent or null; raises as ``read_object``."""
    value = [] if record.get(name) is None else record[name]
    if not isinstance(value, list):
        raise UnknownFormatError(f"{where} has {name} that are no list".lstrip())
    return value


def read_objects(record: JsonObject, name: str, where: str = "") -> list[dict[str, object]]:
    """Return the objects that a field lists; none if it is absent or null; raises as ``read_object``."""
    values = read_list(record, name, where)
    objects = [each for each in values if isinstance(each, dict)]
    if len(objects) < len(values):
        raise UnknownFormatError(f"{where} has {name} that are no list of objects".lstrip())
    return objects


def read_run_error(record: JsonObject) -> dict[str, str]:
    """Return the field ``error`` of a run from the object around its messages; no field without an error."""
    error = record.get("error")
    if not error:
        return {}
    text = error.get("message") if isinstance(error, dict) else error
    return {"error": format_text(text if isinstance(text, str) and text else error)}


ROLES: Final = {
    **dict.fromkeys(("assistant", "ai", "model", "aimessage", "aimessagechunk"), "assistant"),
    **dict.fromkeys(("user", "human", "humanmessage", "humanmessagechunk"), "user"),
    **dict.fromkeys(("system", "developer", "systemmessage", "systemmessagechunk"), "system"),
    **dict.fromkeys(("tool", "function", "toolmessage", "functionmessage", "toolmessagechunk"), "tool"),
}
"""The role by its spelling in lower case."""
_REPORTS: Final = ("response_metadata", "additional_kwargs")
"""Where LangChain keeps what a provider reports."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a tool call; without ``id`` and ``name``, its order tells which call it answers."""

    value: object
    id: str | None = None
    name: str | None = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; ``args`` is an object, the JSON text that a model wrote, or None."""

    name: str
    args: dict[str, object] | str | None = None
    id: str | None = None
    answer: Answer | None = None
    """The answer, if the record of the call holds it."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message that was read."""

    role: str
    plain: JsonObject
    """The message with ``role`` in its usual spelling and the texts in ``content``."""
    calls: tuple[Call, ...] = ()
    answers: tuple[Answer, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the message: one, or one for each part."""
        return tuple(content_texts(self.plain.get("content")))

    @property
    def text(self) -> str:
        """All texts of the message."""
        return "".join(self.texts)

    @property
    def is_call_item(self) -> bool:
        """Whether it is a single call that waits for its answer: an item of OpenAI's Responses API."""
        return len(self.calls) == 1 and "call_id" in self.plain and self.calls[0].answer is None

    @property
    def cut_off(self) -> str | None:
        """The reason why the provider cut the message off; None if it did not."""
        added = [report for name in _REPORTS if isinstance(report := self.plain.get(name), dict)]
        return next(filter(None, map(find_cut_off, [self.plain, *added])), None)

    @property
    def ends_with_reply(self) -> bool:
        """Whether its last part, reasoning aside, is a text that is not blank, or another output."""
        parts = as_parts(self.plain.get("content"))
        last = next((part for part in reversed(parts) if not _is_reasoning(part)), None)
        if isinstance(last, dict) and not any(content_texts(last)):
            return _is_output(last)
        return any(map(is_visible, content_texts(last)))


def is_visible(text: str) -> bool:
    """Return whether a text has a character that a reader sees."""
    return any(char.isprintable() and not char.isspace() for char in text)


def _is_reasoning(part: object) -> bool:
    if not isinstance(part, dict):
        return False
    return part.get("thought") is True or part.get("type") in ("thinking", "redacted_thinking", "reasoning")


def _is_output(part: JsonObject) -> bool:
    """Return whether a part without a text is one for the user, such as an image."""
    kind = part.get("type")
    kinds = [kind] if isinstance(kind, str) else [key for key in part if part[key]]
    return not any(name.endswith(_NO_OUTPUT) or name in _TEXTS for name in kinds)


_TEXTS: Final = ("text", "output_text", "refusal")
_NO_OUTPUT: Final = ("_call", "Call", "_use", "_result", "Result", "_code", "Code", "_output", "_response")


def content_texts(content: object) -> Iterator[str]:
    """Yield the texts in the content of a message: a text, or a list of parts."""
    for part in as_parts(content):
        text = part_text(part) if isinstance(part, dict) else part
        if isinstance(text, str) and text:
            yield text


def part_text(part: JsonObject) -> object:
    """Return the text of a part of a content; it may be of another type in a damaged file."""
    # Gemini marks its reasoning, which is no part of the answer.
    if part.get("thought") is True:
        return None
    # AgentDojo writes the text in ``content``.
    other = part.get("content") if part.get("type") == "text" else None
    text = part.get("text", part.get("refusal", other))
    return text.get("value") if isinstance(text, dict) else text


def as_parts(content: object) -> list[object]:
    """Return the content of a message as a list of parts; without a content, it is empty."""
    return content if isinstance(content, list) else [] if content is None else [content]


def content_parts(message: JsonObject) -> list[dict[str, object]]:
    """Return the parts of a message that are objects."""
    parts = as_parts(message.get("content"))
    return [_unwrap_part(part) for part in parts if isinstance(part, dict)]


def _unwrap_part(part: dict[str, object]) -> dict[str, object]:
    if not isinstance(part.get("type"), str | None):
        raise UnknownFormatError("has a part whose type is no text")
    # LangChain keeps a part that it does not know as the value of another one.
    value = part.get("value")
    return value if part.get("type") == "non_standard" and isinstance(value, dict) else part


def read_arguments(value: object) -> dict[str, object] | str | None:
    """Return arguments as they are recorded; anything but an object or a text is written as JSON."""
    return value if isinstance(value, dict | str | None) else json.dumps(value)


def parse_arguments(args: dict[str, object] | str | None) -> object:
    """Return arguments as an object; a text that is no JSON as it is."""
    value = parse_json_text(args)
    return {} if value is None or (isinstance(value, str) and not value.strip()) else value


def parse_json_text(value: object) -> object:
    """Return the value of a text that is JSON, and anything else as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def format_text(value: object) -> str:
    """Return a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_result(content: object) -> object:
    """Return the content of an answer: its text, or the value as it is if it is no text."""
    is_text = all(isinstance(part, str) or _is_text(part) for part in as_parts(content))
    return "".join(content_texts(content)) if is_text else content


def _is_text(part: object) -> bool:
    is_other = isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("content"), str)
    return is_other or (isinstance(part, dict) and "text" in part)


def is_marked_error(record: JsonObject) -> bool:
    """Return whether a record of an answer marks the call as failed, or marks it in an unknown way."""
    flags = (record.get("is_error"), record.get("isError"))
    is_flagged = any(str(flag).strip().lower() not in _UNMARKED for flag in flags)
    is_success = str(record.get("status")).strip().lower() in _SUCCESSES
    return is_flagged or not is_success or bool(record.get("error"))


_UNMARKED: Final = frozenset({"none", "", "false", "0"})
_SUCCESSES: Final = frozenset({"none", "", "success", "succeeded", "ok", "completed"})
"""The marks of a call that did not fail. Any other one, also of a wrong type, is an error."""


def read_text(value: object) -> str | None:
    """Return a text that is not empty, else None."""
    return value if isinstance(value, str) and value else None


def read_id(value: object) -> str | None:
    """Return an id as a text; OpenHands numbers its events."""
    return str(value) if isinstance(value, int) else read_text(value)


def list_keys(record: JsonObject) -> str:
    """Name up to five keys of an object."""
    names = [repr(shorten(str(key))) for key in record]
    more = f" and {len(names) - _MOST_KEYS} more" if len(names) > _MOST_KEYS else ""
    return f"keys {', '.join(names[:_MOST_KEYS])}{more}" if names else "no keys"


_MOST_KEYS: Final = 5


def dump_messages(messages: object) -> object:
    """Write the message objects of a list as plain ones."""
    return [dump_message(message) for message in messages] if isinstance(messages, list | tuple) else messages


def dump_message(message: object) -> object:
    """Write a message object of LangChain or an SDK as a plain one, and so the objects in its content."""
    if isinstance(message, BaseModel):
        return _dump_model(message)
    if isinstance(message, tuple | list) and [type(part) for part in message] == [str, str]:
        return {"role": message[0], "content": message[1]}
    if not isinstance(message, dict):
        return message
    return {name: _dump_parts(value) if isinstance(value, list) else value for name, value in message.items()}


def _dump_model(model: BaseModel) -> object:
    try:
        return to_jsonable_python(model, bytes_mode="base64", fallback=str)
    except (ValueError, RecursionError):  # refused later, as a message in no known format
        return model


def _dump_parts(parts: list[object]) -> list[object]:
    return [dump_message(part) if isinstance(part, BaseModel) else part for part in parts]
