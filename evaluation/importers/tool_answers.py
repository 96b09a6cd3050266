"""Reads from the answer of a tool whether the call failed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from agents.parsing.loose_json import repair_json
from evaluation.texts.json_texts import read_json_values

_ERROR_BEGINNING: Final = re.compile(
    r"[\W_]*(?:\w*(?:error|exception)[*_]*:|fail(?:ed|ure):|error (?:executing|invoking) tool|http [45]\d\d\b"
    r"|an error occurred while running the tool|traceback \(most recent call last\)|tool_use_error>)",
    re.IGNORECASE,
)
"""How the answer of a failed call begins in Python, LangGraph, MCP's servers and OpenAI's Agents SDK."""
_ERRORS: Final = frozenset(
    {"error", "errors", "iserror", "exception", "errormessage", "errorcode", "failed", "failure"}
)
"""Fields of an object whose value, if there is one, is an error; names in lower case without underscores."""
_SUCCESSES: Final = frozenset({"success", "ok", "succeeded"})
_STATUS_CODES: Final = frozenset({"statuscode", "httpstatus", "httpcode", "status"})
_CODE: Final = re.compile("[0-9]{3}")
_LEAST_ERROR_CODE: Final = 400
_STATES: Final = frozenset({"status", "state", "outcome", "type"})
_JSEND_FAILURES: Final = frozenset({"error", "fail"})
"""The values of ``status`` in JSend, also beside other fields."""
_REFUSALS: Final = _JSEND_FAILURES | {
    *("failed", "failure", "declined", "denied", "rejected", "refused", "aborted", "unsuccessful"),
}
"""The values of ``status`` in an answer that says no more; beside other fields they are those of a record."""
_NO: Final = frozenset({"", "false", "none", "null", "0"})
_NO_ERROR: Final = _NO | {"n/a", "-", "ok", "success", "no error"}
_ABOUT_STATUS: Final = (
    frozenset({"message", "msg", "reason", "detail", "details", "description", "code"})
    | _ERRORS | _SUCCESSES | _STATUS_CODES | _STATES
)  # fmt: skip
"""The fields of an answer that says no more than its status; other fields are those of a record."""
_WRAPPERS: Final = ("text", "content", "structuredContent", "result", "response", "data", "output")
_DEPTH: Final = 4


FailedAnswer: TypeAlias = str | dict[str, str | float | bool | None]
"""How an answer begins, or fields of an object with their values."""


def has_failed(result: object, listed: Sequence[FailedAnswer], *, is_write: bool) -> bool:
    """Return whether the answer to a call says that it failed.

    Args:
        result: The answer.
        listed: The answers of failed calls that the contract lists.
        is_write: Whether the call was to change something; any other may answer with any text.
    """
    if result is None:
        return False
    if isinstance(result, Mapping) and result.get("isError") is True:
        return True
    if is_write and describes_error(result):
        return True
    return any(_is_listed(part, each) for each in listed for part in _list_parts(result))


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

    The fields of an object that say it, and their values, are the tables above.

    Args:
        result: The answer: a text, which may be JSON or JSON in a fence, an object, or a list of parts.
    """
    return any(map(_tells_failure, _list_parts(result)))


def _list_parts(answer: object, depth: int = _DEPTH) -> Iterator[object]:
    """Yield an answer and what it wraps: JSON in a text, the items of a list, the content of an object."""
    yield answer
    if depth:
        for part in _unwrap(answer):
            yield from _list_parts(part, depth - 1)


def _unwrap(answer: object) -> Sequence[object]:
    if isinstance(answer, Mapping):
        return [answer[name] for name in _WRAPPERS if name in answer]
    if isinstance(answer, str):
        # Python writes an object with other quotation marks than JSON.
        return read_json_values(answer) or [repair_json(answer)] * answer.startswith("{'")
    return answer if isinstance(answer, list) else []


def _tells_failure(part: object) -> bool:
    if isinstance(part, str):
        is_word = part.strip(" .!").lower() in _REFUSALS
        return is_word or _ERROR_BEGINNING.match(part) is not None
    fields = [(_fold_name(name), value) for name, value in part.items()] if isinstance(part, Mapping) else []
    is_refusal = all(name in _ABOUT_STATUS for name, _ in fields)
    return any(_is_failure(name, value, is_refusal=is_refusal) for name, value in fields)


def _fold_name(name: object) -> str:
    return str(name).lower().replace("_", "")


def _is_failure(field: str, value: object, *, is_refusal: bool) -> bool:
    text = value.strip().lower() if isinstance(value, str) else None
    if field in _ERRORS:
        return bool(value) if text is None else text not in _NO_ERROR
    if field in _SUCCESSES:
        return value in (False, 0) if text is None else text in _NO | {"no"}
    number = int(text) if text and _CODE.fullmatch(text) else value
    if field in _STATUS_CODES and isinstance(number, int | float):
        return number >= _LEAST_ERROR_CODE
    return field in _STATES and text in (_REFUSALS if is_refusal else _JSEND_FAILURES)
