"""Reads the fault of a model's server from the error of a call: one type for every client library."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from langchain_core.exceptions import ContextOverflowError, ModelError
from pydantic import ValidationError

from agents.credentials.masking import mask_keys, read_error
from agents.parsing.loose_json import find_containers

_CODES: Final = ("status_code", "status", "code", "http_code", "type")
_WORDS: Final = (
    "message", "msg", "detail", "error", "reason", "description", "error_description", "title", "raw",
    "failed_generation",
)  # fmt: skip
"""Names of the texts that a server writes for a person to read."""
_PERMANENT: Final = re.compile(
    r"invalid|auth|permission|forbidden|denied|not_?found|unsupported|context_length|too_large|quota|billing"
    r"|content_?(?:filter|policy)",
    re.IGNORECASE,
)
"""Kinds of errors that the same request has again."""
_TRANSIENT: Final = frozenset({408, 425, 429}) | frozenset(range(500, 600))
# LangChain's messages for an empty reply; the exception is a plain ValueError.
_NO_REPLY: Final = ("No data received from Ollama stream", "No generation")
_PROMPT: Final = r"\b(?:context|prompts?|inputs?|messages?(?![\[.])|tokens?)\b"
_EXCESS: Final = (
    r"(?:\b(?:exceed|overflow)|\btoo (?:long|large|many|big)\b"
    r"|\b(?:longer|larger|greater than the|range of|max|maximum|limit|reduce)\b|<=)"
)
_OVERFLOW: Final = re.compile(
    rf"context_(?:length|window)_exceeded|{_PROMPT}.{{0,80}}?{_EXCESS}|{_EXCESS}.{{0,60}}?{_PROMPT}",
    re.IGNORECASE | re.DOTALL,
)
"""The words of servers for a prompt that does not fit: one for the prompt, near one for too much."""
_MEASURED: Final = re.compile(r"\b(?:context|prompts?|inputs?)\b|context_", re.IGNORECASE)
_TOO_LONG: Final = frozenset({None, 400, 413, 422, 500})
_REFUSING: Final = frozenset({400, 422, 501})
_UNSERVED: Final = frozenset({401, 402, 403, 404, 405, 407, 410})
"""Statuses that depend on the server, its keys and its models, and not on what the request says."""
_FILTERED: Final = re.compile(r"content.?(?:filter|management.?policy)|ResponsibleAIPolicy", re.IGNORECASE)
_MARKUP: Final = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.IGNORECASE | re.DOTALL)


_LONGEST: Final = 10_000
"""More than is shown of an error: its text is cut after the keys of the model are masked."""


class NoReplyError(Exception):
    """The server answered with success, and its answer has no reply of a model.

    Args:
        body: The answer, or the part of it that cannot be read: decoded JSON, or another text.
        problem: Why the client library cannot read it; None if it can.
    """

    def __init__(self, body: object, problem: Exception | None = None) -> None:
        body = body if isinstance(body, str | list | Mapping) else json.dumps(body, default=str)
        reason = "" if problem is None else f" ({type(problem).__name__}: {read_error(problem)})"
        is_about_nothing = isinstance(problem, AttributeError) and problem.obj == ""
        self.body = body
        self.is_empty = body == "" and (problem is None or is_about_nothing or _is_cut_off(problem))
        text = f"the answer has no reply{reason}: {json.dumps(body, default=str)}"
        if body == "" and problem is not None:
            text = f"the client library cannot write the request, or cannot read the answer{reason}"
        words = "the answer is empty" if self.is_empty else read_words(body) or text
        super().__init__(mask_keys(words[:_LONGEST]))


_JSON: Final = (str, int, float, list, dict)
_UNREADABLE: Final = (TypeError, ValueError, AttributeError, LookupError, AssertionError, RecursionError)
"""What client libraries raise while they read an answer of another form."""


@contextmanager
def read_answers(body: object = None) -> Iterator[None]:
    """The border to a client library: an answer that it cannot read is a ``NoReplyError``.

    Args:
        body: The answer; None if only the library has it, which may also fail to write the request.
    """
    try:
        yield
    except _UNREADABLE as error:
        raise NoReplyError(_find_part(error) if body is None else body, error) from error


def _find_part(error: Exception) -> object:
    """Returns the answer that a library could not read, or a part of it; an empty text if it is not known."""
    part = _read_body(error)
    if isinstance(error, UnicodeDecodeError):
        part = error.object.decode(errors="replace")
    elif part is None and isinstance(error, ValidationError):
        return error.errors(include_url=False, include_context=False)[0]["input"]
    elif part is None and isinstance(error, AttributeError):
        return error.obj if error.obj is None or isinstance(error.obj, _JSON) else ""
    return "" if part is None else part


@dataclass(frozen=True, slots=True)
class ServerFault:
    """The fault of a model's server, by the error of a call.

    Attributes:
        error: The error.
        status: The status, also one that stands in the body of a success; None if there is none.
        body: The answer of the server, decoded JSON or another text; None if no server answered.
        words: The words for a person; empty if there are none.
        codes: The codes of the error, such as ``context_length_exceeded``; empty if there are none.
    """

    error: BaseException
    status: int | None = None
    body: object = None
    words: str = ""
    codes: tuple[str, ...] = ()

    @property
    def is_answered(self) -> bool:
        """Whether a server answered."""
        return self.status is not None or self.body is not None

    @property
    def is_refused(self) -> bool:
        """Whether the answer has the status of an error."""
        return self.status is not None and self.status >= HTTPStatus.BAD_REQUEST

    @property
    def text(self) -> str:
        """The texts of the error and of the answer."""
        return " ".join((read_error(self.error), self.words, *self.codes))

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed if it is repeated."""
        if self.is_refused:
            # Some servers refuse a request because of what the model wrote.
            return self.status in _TRANSIENT or "failed_generation" in _read_fields(self.body)
        # Gateways send JSON without a reply for a passing error.
        is_object = isinstance(self.body, Mapping) and not self.body.get("choices")
        return is_object or isinstance(self.body, list) or any(map(_is_cut_off, iter_causes(self.error)))

    @property
    def is_away(self) -> bool:
        """Whether no model replied, so that one may reply to the same request once its server is mended."""
        is_mendable = self.status in _UNSERVED if self.is_refused else self.is_answered
        return self.is_transient or (is_mendable and not self.is_overflow)

    @property
    def is_overflow(self) -> bool:
        """Whether the server refused a prompt because it does not fit the context."""
        if any(isinstance(cause, ContextOverflowError) for cause in iter_causes(self.error)):
            return True
        is_text = self.status is None and isinstance(self.body, str)
        if not self.is_answered or is_text or self.status not in _TOO_LONG:
            return False
        # A refused max_tokens is a setting, unless it is added to the prompt.
        is_setting = "max_" in self.text and _MEASURED.search(self.text) is None
        return _OVERFLOW.search(self.text) is not None and not is_setting

    @property
    def is_filtered(self) -> bool:
        """Whether the provider's content filter blocked the request."""
        return self.status in _REFUSING and _FILTERED.search(self.text) is not None

    @property
    def may_refuse_schema(self) -> bool:
        """Whether the server may have refused a request because of its schema.

        Its words do not tell, since every server has its own. Only the same request without the schema can.
        """
        return self.status in _REFUSING and not self.is_filtered and not self.is_overflow


def read_fault(error: BaseException) -> ServerFault:
    """Reads the answer that an error was raised for, or that one of its causes was raised for."""
    faults = [fault for cause in _list_causes(error) if (fault := _read_cause(error, cause)).is_answered]
    return next((fault for fault in faults if fault.is_refused), next(iter(faults), ServerFault(error)))


def is_client_error(error: BaseException, *names: str) -> bool:
    """Checks whether an error has one of these classes of httpx or httpx2.

    Each client library uses one of the two, whose classes differ.
    """
    kinds = ((each.__module__.partition(".")[0], each.__name__) for each in type(error).__mro__)
    return any(package in ("httpx", "httpx2") and name in names for package, name in kinds)


def iter_causes(error: BaseException) -> Iterator[BaseException]:
    """Yields the error and its chain of causes, outermost first."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        yield current
        seen.add(id(current))
        current = current.__cause__


def read_retry_after(error: BaseException | None) -> float | None:
    """Reads how many seconds a server wants to be left alone: a number, a date or milliseconds.

    Returns:
        The seconds, at least 0; None if the server does not say.
    """
    for cause in [] if error is None else _list_causes(error):
        headers = getattr(getattr(cause, "response", None), "headers", None) or {}
        for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
            if (wait := _read_wait(headers.get(name), unit)) is not None:
                return wait
    return None


def _list_causes(error: BaseException) -> list[BaseException]:
    # Ollama's client drops the response from its own error, but not from the context.
    causes = [*iter_causes(error)]
    return [*causes, *(cause.__context__ for cause in causes if cause.__context__)]


def _is_cut_off(error: BaseException) -> bool:
    """Checks whether a connection was lost, or a reply is empty, cut off, or broken off with an error."""
    is_empty = isinstance(error, NoReplyError) and error.is_empty
    if is_empty or (isinstance(error, ModelError) and error.is_retryable):
        return True
    if isinstance(error, UnicodeDecodeError):
        return error.reason == "unexpected end of data"
    if isinstance(error, json.JSONDecodeError):
        return not error.doc.strip() or None in find_containers(error.doc)
    if isinstance(error, ValueError):
        return read_error(error).startswith(_NO_REPLY)
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    # Ollama's client has no status for a server that fails after the reply has begun.
    is_broken = type(error).__name__ == "ResponseError" and getattr(error, "status_code", None) == -1
    return is_broken or is_client_error(error, "RequestError")


def _read_wait(value: str | None, unit: float) -> float | None:
    if value is None or re.fullmatch(r"\s*\d{1,12}(?:\.\d*)?\s*", value, re.ASCII):
        return None if value is None else float(value) / unit
    with suppress(ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    return None


def _read_cause(error: BaseException, cause: BaseException) -> ServerFault:
    response = getattr(cause, "response", None)
    given = (getattr(cause, "status_code", None), getattr(response, "status_code", None))
    # Ollama's client has the status -1 for an error within a stream.
    status = next((each for each in given if isinstance(each, int) and each >= HTTPStatus.CONTINUE), None)
    body = _read_body(cause)
    fields = _read_fields(body)
    codes = tuple(str(fields[name]) for name in _CODES if fields.get(name))
    if status is None or status < HTTPStatus.BAD_REQUEST:
        status = _find_status(codes) or status
    return ServerFault(error, status, body, read_words(body), codes)


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


def _read_fields(body: object) -> Mapping[str, object]:
    """Returns the fields of an error, which may stand within the field ``error``."""
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("error")
    return inner if isinstance(inner, Mapping) else body


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
