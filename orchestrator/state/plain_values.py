"""Converts values from user code to plain text and JSON. Never raises."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from typing import Final

from agents.credentials.masking import mask_keys
from evaluation.sensitive.scanner import shorten
from evaluation.values import is_deep
from orchestrator.state.records import Json

MAX_DEPTH: Final = 200
"""Maximum levels of nesting. Stores refuse values that are nested much deeper."""
_MAX_LINE: Final = 200


def plain_text(text: str) -> str:
    """Returns an exact ``str`` that any store can hold. A lone surrogate becomes U+FFFD."""
    # str.__str__: the str() of an Enum or of LangChain's TextAccessor is another text, or no exact str.
    return str.__str__(text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def read_text(value: object) -> str | None:
    """Returns the plain text of a ``str``, or None for any other value."""
    return plain_text(value) if isinstance(value, str) else None


def format_text(value: object) -> str:
    """Formats a value with ``str``; an error without its credentials.

    If the value's own code raises, returns the name of its type.
    """
    text = _format_value(str, value)
    return mask_keys(text) if isinstance(value, BaseException) else text


def format_traceback(error: BaseException) -> str:
    """Formats an error with its traceback for a log, without credentials."""
    return mask_keys("".join(traceback.format_exception(error)))


def format_repr(value: object, limit: int) -> str:
    """Formats a value with ``repr``, as ``shorten`` shortens it; as safe as ``format_text``."""
    return shorten(_format_value(repr, value), limit)


def name_thread(thread_id: str) -> str:
    """Names a thread at the beginning of a message."""
    return f"thread {format_repr(thread_id, 80)}"


def format_one_line(error: Exception) -> str:
    """Formats an error as one line of bounded length; messages of databases have several lines."""
    return shorten(" ".join(format_text(error).split()), _MAX_LINE) or type(error).__name__


def plain_json(value: object) -> Json:
    """Converts a value to JSON. A part that JSON has no form for, such as infinity, becomes its text.

    A value that is nested deeper than ``MAX_DEPTH`` becomes its JSON text.
    """
    try:
        encoded = plain_text(json.dumps(value, default=format_text, skipkeys=True, ensure_ascii=False))
        decoded: Json = json.loads(encoded, parse_constant=str, parse_int=_parse_int)
    except (TypeError, ValueError, RecursionError):  # a circle, or deeper than the interpreter allows
        return format_text(value)
    levels = encoded.count("{") + encoded.count("[")
    return encoded if levels > MAX_DEPTH and is_deep(decoded, MAX_DEPTH) else decoded


def _format_value(formatter: Callable[[object], str], value: object) -> str:
    try:
        return plain_text(formatter(value))
    except Exception:  # noqa: BLE001 - code of users, whose text is not worth a run
        return f"<{type(value).__name__} whose text cannot be made>"


def _parse_int(digits: str) -> int | str:
    """Parses an integer; one of more than 64 bits stays text, since MessagePack cannot hold it."""
    number = int(digits)
    return number if -(2**63) <= number < 2**63 else digits
