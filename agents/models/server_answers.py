"""Reads the answer of a model's server from the error that a client library raised for it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from pydantic import ValidationError

from agents.credentials.masking import mask_keys

_CODES: Final = ("status_code", "status", "code", "http_code", "type")
_WORDS: Final = (
    "message",
    "msg",
    "detail",
    "error",
    "reason",
    "description",
    "error_description",
    "title",
    "raw",
)
"""Names of the texts that a server writes for a person to read."""
_PERMANENT: Final = re.compile(
    r"invalid|auth|permission|forbidden|denied|not_?found|unsupported|context_length|too_large|quota|billing"
    r"|content_?(?:filter|policy)",
    re.IGNORECASE,
)
"""Kinds of errors that the same request has again."""
_MARKUP: Final = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.IGNORECASE | re.DOTALL)


class NoReplyError(Exception):
    """The server answered with success, and its answer has no reply of a model.

    Args:
        body: The answer, or the part of it that cannot be read: decoded JSON, or another text.
        problem: Why the client library cannot read it; None if it can.
    """

    def __init__(self, body: object, problem: Exception | None = None) -> None:
        body = body if isinstance(body, str | list | Mapping) else json.dumps(body, default=str)
        reason = "" if problem is None else f" ({type(problem).__name__}: {problem!s:.200})"
        text = f"the answer has no reply: {json.dumps(body, default=str):.200}{reason}"
        super().__init__(mask_keys(read_words(body) or text))
        self.body = body


_UNREADABLE: Final = (
    TypeError, AttributeError, LookupError, AssertionError, RecursionError, UnicodeDecodeError,
    ValidationError,
)  # fmt: skip
"""What client libraries raise while they read an answer of another form; requests have other errors."""


@contextmanager
def read_answers(body: object = None) -> Iterator[None]:
    """The border to a client library: an answer that it cannot read is a ``NoReplyError``.

    Args:
        body: The answer; None if only the library has it, which may also fail to write the request.
    """
    kinds: tuple[type[Exception], ...] = _UNREADABLE if body is None else (*_UNREADABLE, ValueError)
    try:
        yield
    except kinds as error:
        raise NoReplyError(_find_part(error) if body is None else body, error) from error


def _find_part(error: Exception) -> object:
    """Returns the answer that a library could not read, or a part of it; an empty text if it is not known."""
    if (body := _read_response(getattr(error, "response", None))) is not None:
        return body
    if isinstance(error, UnicodeDecodeError):
        return error.object.decode(errors="replace")
    if isinstance(error, ValidationError):
        return error.errors(include_url=False, include_context=False)[0]["input"]
    part = error.obj if isinstance(error, AttributeError) else ""
    return part if part is None or isinstance(part, str | int | float | list | dict) else ""


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """The answer of a server that is no reply of a model.

    Attributes:
        status: The status, also one that stands in the body of a success; None if there is none.
        body: The decoded JSON, or another text.
        words: The words for a person; empty if there are none.
        codes: The codes of the error, such as ``context_length_exceeded``; empty if there are none.
    """

    status: int | None
    body: object
    words: str
    codes: tuple[str, ...] = ()

    @property
    def is_success(self) -> bool:
        """Whether the answer has no status of an error."""
        return self.status is None or self.status < HTTPStatus.BAD_REQUEST


def read_answer(error: BaseException) -> ServerAnswer | None:
    """Returns the answer that an error was raised for; None if no server answered."""
    answers = [answer for cause in _list_causes(error) if (answer := _read_cause(cause)) is not None]
    return next((answer for answer in answers if not answer.is_success), next(iter(answers), None))


def has_no_reply(answer: ServerAnswer) -> bool:
    """Checks whether a success is JSON without a reply, as gateways send for a passing error."""
    body = answer.body
    return isinstance(body, list) or (isinstance(body, Mapping) and not body.get("choices"))


def iter_causes(error: BaseException) -> Iterator[BaseException]:
    """Yields the error and its chain of causes, outermost first."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        yield current
        seen.add(id(current))
        current = current.__cause__


def find_status(error: BaseException) -> int | None:
    """Returns the status of the answer that an error was raised for; None if there is none."""
    answer = read_answer(error)
    return None if answer is None else answer.status


def read_retry_after(error: BaseException | None) -> float | None:
    """Reads how many seconds a server wants to be left alone: a number, a date or milliseconds.

    Returns:
        The seconds, at least 0; None if the server does not say.
    """
    chain = [] if error is None else _list_causes(error)
    headers = [getattr(getattr(each, "response", None), "headers", None) or {} for each in chain]
    waits = (
        _read_wait(each.get(name), unit)
        for each in headers
        for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0))
    )
    return next((wait for wait in waits if wait is not None), None)


def _list_causes(error: BaseException) -> list[BaseException]:
    # Ollama's client drops the response from its own error, but not from the context.
    causes = [*iter_causes(error)]
    return [*causes, *(cause.__context__ for cause in causes if cause.__context__)]


def _read_wait(value: str | None, unit: float) -> float | None:
    if value is None:
        return None
    if re.fullmatch(r"\s*\d{1,12}(?:\.\d*)?\s*", value, re.ASCII):
        return float(value) / unit
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _read_cause(error: BaseException) -> ServerAnswer | None:
    response = getattr(error, "response", None)
    given = (getattr(error, "status_code", None), getattr(response, "status_code", None))
    # Ollama's client has the status -1 for an error within a stream.
    status = next((each for each in given if isinstance(each, int) and each >= HTTPStatus.CONTINUE), None)
    body = _read_body(error)
    if status is None and body is None:
        return None
    codes = _read_codes(body)
    if status is None or status < HTTPStatus.BAD_REQUEST:
        status = _find_status(codes) or status
    return ServerAnswer(status, body, read_words(body), codes)


def _read_body(error: BaseException) -> object:
    body, response = getattr(error, "body", None), getattr(error, "response", None)
    if isinstance(body, str) and response is None and not isinstance(error, NoReplyError):
        return {"error": body}  # of an event within a stream
    if body is None and isinstance(error, json.JSONDecodeError):
        return error.doc or None
    return _read_response(response) if body is None else body


def _read_response(response: object) -> object:
    try:
        text = getattr(response, "text", None)
    except RuntimeError:  # a stream that nobody has read
        return None
    try:
        return json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return text or None


def _read_codes(body: object) -> tuple[str, ...]:
    if not isinstance(body, Mapping):
        return ()
    inner = body.get("error")
    fields = inner if isinstance(inner, Mapping) else body
    return tuple(str(fields[name]) for name in _CODES if fields.get(name))


def _find_status(codes: tuple[str, ...]) -> int | None:
    """Returns the status that the codes of an error mean; None for an error that may pass."""
    numbers = [int(code) for code in codes if re.fullmatch(r"[45]\d\d", code)]
    is_permanent = any(map(_PERMANENT.search, codes))
    return next(iter(numbers), int(HTTPStatus.BAD_REQUEST) if is_permanent else None)


def read_words(body: object) -> str:
    """Returns the words for a person in a body of any form: JSON, a page or plain text."""
    if isinstance(body, str):
        return " ".join(_MARKUP.sub(" ", body).split())
    texts = [*_iter_texts(body, name="message")]
    return "; ".join(dict.fromkeys(" ".join(text.split()) for text in texts if text.strip()))


def _iter_texts(value: object, name: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _iter_texts(inner, str(key).lower())
    elif isinstance(value, list):
        for inner in value:
            yield from _iter_texts(inner, name)
    elif isinstance(value, str) and name in _WORDS:
        yield value
