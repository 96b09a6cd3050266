"""Reads from the answer of a tool whether the call failed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

_ERROR_BEGINNINGS: Final = (
    "error:", "error executing tool", "error invoking tool", "an error occurred while running the tool",
    "traceback (most recent call last)",
)  # fmt: skip
"""How the answer of a failed call begins in LangGraph, in MCP's Python servers and in OpenAI's Agents SDK."""
_LONGEST_BEGINNING: Final = 60
_ERRORS: Final = frozenset({"error", "errors", "iserror", "exception"})
"""Fields of an object whose value, if there is one, is an error; names in lower case without underscores."""
_SUCCESSES: Final = frozenset({"success", "ok", "succeeded"})
_STATUS_CODES: Final = frozenset({"statuscode", "httpstatus", "httpcode"})
_LEAST_ERROR_CODE: Final = 400
_JSEND_FAILURES: Final = frozenset({"error", "fail"})
"""The values of ``status`` in JSend, also beside other fields."""
_REFUSALS: Final = _JSEND_FAILURES | {
    "failed", "failure", "declined", "denied", "rejected", "refused", "aborted",
}  # fmt: skip
"""The values of ``status`` in an answer that says no more; beside other fields they are those of a record."""
_NO: Final = frozenset({"", "false", "none", "null", "0"})
_ABOUT_STATUS: Final = frozenset(
    {"status", "message", "msg", "reason", "detail", "details", "description", "code"}
)
"""The fields of an answer that says no more than its status; other fields are those of a record."""
_FENCE: Final = re.compile(r"\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)


FailedAnswer: TypeAlias = str | dict[str, str | float | bool | None]
"""How an answer begins, or fields of an object with their values."""


def has_failed(result: object, listed: Sequence[FailedAnswer], *, is_write: bool) -> bool:
    """Return whether the answer to a call says that it failed.

    Args:
        result: The answer.
        listed: The answers of failed calls that the contract lists.
        is_write: Whether the call was to change something; any other may answer with any text.
    """
    if isinstance(result, Mapping) and result.get("isError") is True:
        return True
    if is_write and describes_error(result):
        return True
    return any(_is_listed(part, each) for part in _list_parts(result) for each in listed)


def _is_listed(part: object, listed: FailedAnswer) -> bool:
    if isinstance(listed, str):
        return isinstance(part, str) and part.strip().lower().startswith(listed.strip().lower())
    if not isinstance(part, Mapping):
        return False
    return all(name in part and _fold(part[name]) == _fold(value) for name, value in listed.items())


def _fold(value: object) -> object:
    # True is not 1.
    return value.strip().lower() if isinstance(value, str) else (type(value) is bool, value)


def describes_error(result: object) -> bool:
    """Return whether an answer says that the call failed.

    Chat messages of role ``tool`` have no other place for it. A text says it by its beginning; free prose
    that only mentions errors says nothing.

    | an object tells it by | values |
    |---|---|
    | ``error``, ``errors``, ``isError``, ``exception`` | anything but nothing, false and "none" |
    | ``success``, ``ok``, ``succeeded`` | false, also as a text |
    | ``status_code``, ``http_status`` | 400 and more |
    | ``status`` | "error" and "fail"; in an answer that says no more also "failed", "declined", ... |

    Args:
        result: The answer: a text, which may be JSON or JSON in a fence, an object, or a list of parts.
    """
    return any(map(_tells_failure, _list_parts(result)))


def _list_parts(result: object) -> Iterator[object]:
    value = _parse_json(result) if isinstance(result, str) else result
    for part in value if isinstance(value, list) else [value]:
        text = part.get("text", part) if isinstance(part, Mapping) else part
        # An answer that was written as JSON twice is a text within the text.
        yield _parse_json(text) if isinstance(text, str) else text


def _tells_failure(part: object) -> bool:
    if isinstance(part, str):
        return part[:_LONGEST_BEGINNING].lstrip().lower().startswith(_ERROR_BEGINNINGS)
    fields = part.items() if isinstance(part, Mapping) else ()
    is_refusal = all(str(name).lower() in _ABOUT_STATUS for name, _ in fields)
    return any(_is_failure(str(name), value, is_refusal=is_refusal) for name, value in fields)


def _is_failure(name: str, value: object, *, is_refusal: bool) -> bool:
    field = name.lower().replace("_", "")
    text = value.strip().lower() if isinstance(value, str) else None
    if field in _ERRORS:
        return bool(value) if text is None else text not in _NO
    if field in _SUCCESSES:
        return value is False or text in {"false", "no"}
    if field in _STATUS_CODES:
        return isinstance(value, int | float) and value >= _LEAST_ERROR_CODE
    return field == "status" and text in (_REFUSALS if is_refusal else _JSEND_FAILURES)


def _parse_json(text: str) -> object:
    fenced = _FENCE.fullmatch(text)
    text = text if fenced is None else fenced[1]
    if not text.lstrip().startswith(("{", "[", '"')):
        return text
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value
