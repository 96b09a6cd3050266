"""Recognises transient errors of a model's server, and retries after them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Annotated, Any, Final, TypeAlias

from langchain_core.exceptions import ModelError
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from agents.models.server_answers import has_no_reply, iter_causes, read_answer, read_retry_after
from agents.parsing.loose_json import find_containers

_log = logging.getLogger(__name__)

TRANSIENT_STATUS: Final = frozenset({408, 425, 429}) | frozenset(range(500, 600))
_Seconds: TypeAlias = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
# LangChain's messages for an empty reply; the exception is a plain ValueError.
_NO_REPLY: Final = ("No data received from Ollama stream", "No generation")


def is_transient(error: BaseException) -> bool:
    """Checks whether the same call may succeed if it is repeated.

    True for a refused, reset or timed-out connection, for the HTTP statuses 408, 425, 429 and 5xx, also in
    the body of an answer, and for a reply that is empty, cut off or broken off with an error, also if a
    client library wraps the error.
    """
    answer = read_answer(error)
    if answer is not None and answer.status is not None and not answer.is_success:
        return answer.status in TRANSIENT_STATUS
    is_empty = answer is not None and has_no_reply(answer)
    return is_empty or any(map(_is_cut_off, iter_causes(error)))


def is_client_error(error: BaseException, *names: str) -> bool:
    """Checks whether an error has one of these classes of httpx or httpx2.

    Each client library uses one of the two, and the classes of one are not those of the other.
    """
    kinds = ((each.__module__.partition(".")[0], each.__name__) for each in type(error).__mro__)
    return any(package in ("httpx", "httpx2") and name in names for package, name in kinds)


def _is_cut_off(error: BaseException) -> bool:
    """Checks whether a connection was lost, or a reply is empty, cut off, or broken off with an error."""
    if isinstance(error, ModelError) and error.is_retryable:
        return True
    if isinstance(error, UnicodeDecodeError):
        return error.reason == "unexpected end of data"
    if isinstance(error, json.JSONDecodeError):
        return not error.doc.strip() or None in find_containers(error.doc)
    if isinstance(error, ValueError):
        return str(error).startswith(_NO_REPLY)
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    # Ollama's client has no status for a server that fails after the reply has begun.
    is_broken = type(error).__name__ == "ResponseError" and getattr(error, "status_code", None) == -1
    return is_broken or is_client_error(error, "TransportError", "DecodingError")


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


def _log_retry(state: RetryCallState) -> None:
    # Without the text of the error: a server may repeat the key that it refuses.
    error = state.outcome.exception() if state.outcome else None
    _log.warning("transient error (%s) in attempt %d", type(error).__name__, state.attempt_number)
