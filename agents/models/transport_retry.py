"""Recognises transient errors of a model's server, and retries after them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Annotated, Any, Final, TypeAlias

import httpx
from langchain_core.exceptions import ModelError
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from agents.parsing.loose_json import find_containers

_log = logging.getLogger(__name__)

TRANSIENT_STATUS: Final = frozenset({408, 425, 429}) | frozenset(range(500, 600))
_Seconds: TypeAlias = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
_LOST: Final = (ConnectionError, TimeoutError, httpx.TransportError, httpx.DecodingError)
# LangChain's messages for an empty reply; the exception is a plain ValueError.
_NO_REPLY: Final = ("No data received from Ollama stream", "No generations found in stream")


def is_transient(error: BaseException) -> bool:
    """Checks whether the same call may succeed if it is repeated.

    True for a refused, reset or timed-out connection, for the HTTP statuses 408, 425, 429 and 5xx, and for a
    reply that is empty, cut off or broken off with an error, also if a client library wraps the error.
    """
    causes = list(iter_causes(error))
    for cause in causes:
        status = http_status(cause)
        if status is not None and status >= HTTPStatus.BAD_REQUEST:
            return status in TRANSIENT_STATUS
    return any(isinstance(cause, _LOST) or _is_cut_off(cause) for cause in causes)


def is_undecodable(error: BaseException) -> bool:
    """Checks whether the answer was not JSON, such as a web page: no model's server sends that."""
    return any(isinstance(cause, json.JSONDecodeError | UnicodeDecodeError) for cause in iter_causes(error))


def _is_cut_off(error: BaseException) -> bool:
    """Checks whether a reply is empty, cut off, or broken off with an error that may be retried."""
    if isinstance(error, ModelError) and error.is_retryable:
        return True
    if isinstance(error, UnicodeDecodeError):
        return error.reason == "unexpected end of data"
    if isinstance(error, json.JSONDecodeError):
        return not error.doc.strip() or None in find_containers(error.doc)
    if isinstance(error, ValueError):
        return str(error).startswith(_NO_REPLY)
    # Ollama's client has no status for a server that fails after the reply has begun.
    return type(error).__name__ == "ResponseError" and getattr(error, "status_code", None) == -1


def iter_causes(error: BaseException) -> Iterator[BaseException]:
    """Yields the error and its chain of causes, outermost first."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        yield current
        seen.add(id(current))
        current = current.__cause__


def http_status(error: BaseException) -> int | None:
    """Reads the HTTP status of an error. Returns None if it has none."""
    response = getattr(error, "response", None)
    for candidate in (getattr(error, "status_code", None), getattr(response, "status_code", None)):
        if isinstance(candidate, int) and candidate >= HTTPStatus.CONTINUE:
            return candidate
    return None


def find_status(error: BaseException) -> int | None:
    """Reads the HTTP status of an error or of its causes. Returns None if there is none."""
    statuses = map(http_status, iter_causes(error))
    return next((status for status in statuses if status is not None), None)


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class TransportRetry:
    """Retries of a call after transient errors, after random waits whose upper bound doubles.

    Attributes:
        max_attempts: Maximum number of calls, including the first; 1 never retries.
        initial_seconds: Upper bound of the first wait; it doubles with each retry.
        max_seconds: Upper bound of any wait, also if the server asks for a longer one.

    Raises:
        ValidationError: A bound is not accepted.
    """

    max_attempts: Annotated[int, Field(strict=True, ge=1)] = 4
    initial_seconds: _Seconds = 0.5
    max_seconds: _Seconds = 30.0

    def sync(self) -> Retrying:
        """Builds a tenacity controller for blocking calls. It raises the last error unchanged."""
        return Retrying(**self._options(is_transient))

    def asynchronous(self, retry_on: Callable[[BaseException], bool] = is_transient) -> AsyncRetrying:
        """Builds the same controller for awaited calls. ``retry_on`` selects the errors to retry."""
        return AsyncRetrying(**self._options(retry_on))

    def _options(self, retry_on: Callable[[BaseException], bool]) -> dict[str, Any]:
        return {
            "retry": retry_if_exception(retry_on),
            "stop": stop_after_attempt(self.max_attempts),
            "wait": self._wait_seconds,
            "before_sleep": _log_retry,
            "reraise": True,
        }

    def _wait_seconds(self, state: RetryCallState) -> float:
        """Returns the server's ``Retry-After``, or else a random wait."""
        error = state.outcome.exception() if state.outcome else None
        backoff = wait_random_exponential(multiplier=self.initial_seconds, max=self.max_seconds)
        requested = read_retry_after(error)
        return min(self.max_seconds, backoff(state) if requested is None else requested)


def read_retry_after(error: BaseException | None) -> float | None:
    """Reads the seconds in the ``Retry-After`` header of an error. Returns None if it has none."""
    # Ollama's client drops the response from its own error, but not from the context.
    responses = (getattr(each, "response", None) for each in (error, getattr(error, "__context__", None)))
    headers = (getattr(response, "headers", None) or {} for response in responses)
    value = next(filter(None, (each.get("retry-after") for each in headers)), "")
    return float(value) if value.isdecimal() else None


def _log_retry(state: RetryCallState) -> None:
    # Without the text of the error: a server may repeat the key that it refuses.
    error = state.outcome.exception() if state.outcome else None
    _log.warning("transient error (%s) in attempt %d", type(error).__name__, state.attempt_number)
