"""Which faults of a model's server pass by themselves, and how long to wait for that."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

import httpx
from langchain_core.exceptions import ModelError
from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_base, wait_random_exponential

from agents.parsing.loose_json import find_containers

_log = logging.getLogger(__name__)

TRANSIENT_STATUS: Final = frozenset({408, 425, 429}) | frozenset(range(500, 600))
_LOST: Final = (ConnectionError, TimeoutError, httpx.TransportError, httpx.DecodingError)
_MISUSED: Final = frozenset({"UnsupportedProtocol", "LocalProtocolError", "SSLCertVerificationError"})
"""By name, since each HTTP client brings its own."""
_NO_REPLY: Final = ("No data received from Ollama stream", "No generations found in stream")
"""How LangChain tells of a reply with nothing in it."""


def is_transient(error: BaseException) -> bool:
    """Whether another try of the same call may succeed.

    True for a refused, reset or timed-out connection, for the HTTP statuses 408, 425, 429 and
    5xx, and for a reply that is empty, ends in the middle or breaks off with an error, also where a
    client library wraps them; for an exception group if it is true of every error in it. False for
    everything else.
    """
    return _passes(error, frozenset())


def _passes(error: BaseException, above: frozenset[int]) -> bool:
    """``above``: the groups that the error was found in, by identity; it may have been caused by one."""
    causes = [cause for cause in iter_causes(error) if id(cause) not in above]
    for cause in causes:
        status = http_status(cause)
        if status is not None and status >= HTTPStatus.BAD_REQUEST:
            return status in TRANSIENT_STATUS
        if isinstance(cause, BaseExceptionGroup):
            return all(_passes(inner, above | {id(cause)}) for inner in cause.exceptions)
    if any(type(cause).__name__ in _MISUSED for cause in causes):
        return False
    return any(isinstance(cause, _LOST) or _is_cut_off(cause) or _says_retryable(cause) for cause in causes)


def is_undecodable(error: BaseException) -> bool:
    """Whether what answered was no JSON, such as a web page: no model's server says that."""
    return any(isinstance(cause, json.JSONDecodeError | UnicodeDecodeError) for cause in iter_causes(error))


def _is_cut_off(error: BaseException) -> bool:
    """Whether a body is empty, ends too early, or breaks off with an error."""
    if isinstance(error, UnicodeDecodeError):
        return error.reason == "unexpected end of data"
    if isinstance(error, json.JSONDecodeError):
        return not error.doc.strip() or None in find_containers(error.doc)
    if isinstance(error, ValueError):
        return str(error).startswith(_NO_REPLY)
    # Ollama's client has no status to report where the server fails once the reply has begun.
    return type(error).__name__ == "ResponseError" and getattr(error, "status_code", None) == -1


def _says_retryable(error: BaseException) -> bool:
    return isinstance(error, ModelError) and error.is_retryable


def iter_causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was raised from, outermost first."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        yield current
        seen.add(id(current))
        current = current.__cause__


def http_status(error: BaseException) -> int | None:
    """The HTTP status that the error reports, as client libraries name it; None where there is none."""
    response = getattr(error, "response", None)
    for candidate in (getattr(error, "status_code", None), getattr(response, "status_code", None)):
        if isinstance(candidate, int) and candidate >= HTTPStatus.CONTINUE:
            return candidate
    return None


def retry_after_seconds(error: BaseException, now: datetime | None = None) -> float | None:
    """The seconds that the server asked to wait, from a Retry-After header in seconds or as a date.

    Of an exception group, the longest that any error in it asks for.
    """
    if isinstance(error, BaseExceptionGroup):
        waits = (retry_after_seconds(inner, now) for inner in error.exceptions)
        return max((wait for wait in waits if wait is not None), default=None)
    value = _retry_after_header(error) or _retry_after_header(error.__context__)
    if not isinstance(value, str):
        return None
    try:
        seconds = float(value)
    except ValueError:
        return _seconds_until(value, now or datetime.now(UTC))
    return seconds if 0 <= seconds < float("inf") else None


def _retry_after_header(error: BaseException | None) -> object:
    """What the error's own response says; that of Ollama's client is on the error's context only."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers.get("retry-after") if headers is not None else None


def _seconds_until(value: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):  # the latter for a zone with more digits than a clock has
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


@dataclass(frozen=True, slots=True)
class _Wait(wait_base):
    """What the server asks for, else exponential backoff with full jitter; never above the cap."""

    backoff: wait_base
    max_seconds: float

    def __call__(self, retry_state: RetryCallState) -> float:
        outcome = retry_state.outcome
        error = outcome.exception() if outcome else None
        asked = retry_after_seconds(error) if error else None
        return min(self.max_seconds, self.backoff(retry_state) if asked is None else asked)


@dataclass(frozen=True, slots=True)
class TransportRetry:
    """How often and how patiently a call is tried again after a passing fault.

    Attributes:
        max_attempts: Calls in all, the first included; 1 never tries again.
        initial_seconds: Upper bound of the first wait; it doubles with each try.
        max_seconds: Upper bound of any wait, one that the server asks for included.
    """

    max_attempts: int = 4
    initial_seconds: float = 0.5
    max_seconds: float = 30.0

    def __post_init__(self) -> None:
        """Refuse bounds that make no sense.

        Raises:
            ValueError: ``max_attempts`` below 1, or a time that is no number of seconds of at least 0.
        """
        if (
            isinstance(self.max_attempts, bool)
            or not isinstance(self.max_attempts, int)
            or self.max_attempts < 1
        ):
            raise ValueError(f"max_attempts is {self.max_attempts!r}; give a whole number of at least 1")
        if not (_is_time(self.initial_seconds) and _is_time(self.max_seconds)):
            raise ValueError(
                f"initial_seconds is {self.initial_seconds!r} and max_seconds is {self.max_seconds!r}; "
                "give seconds of at least 0"
            )

    def sync(self) -> Retrying:
        """A tenacity controller for plain calls; the last error is raised as it is."""
        return Retrying(
            retry=retry_if_exception(is_transient),
            stop=stop_after_attempt(self.max_attempts),
            wait=self._wait(),
            before_sleep=_report,
            reraise=True,
        )

    def asynchronous(self, retry_on: Callable[[BaseException], bool] = is_transient) -> AsyncRetrying:
        """The same for awaited calls; ``retry_on`` tells which errors are tried again."""
        return AsyncRetrying(
            retry=retry_if_exception(retry_on),
            stop=stop_after_attempt(self.max_attempts),
            wait=self._wait(),
            before_sleep=_report,
            reraise=True,
            sleep=asyncio.sleep,
        )

    def _wait(self) -> _Wait:
        backoff = wait_random_exponential(multiplier=self.initial_seconds, max=self.max_seconds)
        return _Wait(backoff, self.max_seconds)


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _report(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    wait = state.next_action.sleep if state.next_action else 0.0
    _log.warning(
        "passing fault (%s), try %d; next in %.1f s", type(error).__name__, state.attempt_number, wait
    )
