"""Repeats calls after transient errors of a model's server."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from agents.models.server_answers import read_fault, read_retry_after

_log = logging.getLogger(__name__)

_Seconds: TypeAlias = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


def is_transient(error: BaseException) -> bool:
    """Checks whether the same call may succeed if it is repeated.

    True for a refused, reset or timed-out connection, for the HTTP statuses 408, 425, 429 and 5xx, also in
    the body of an answer, and for a reply that is empty, cut off or broken off with an error, also if a
    client library wraps the error.
    """
    return read_fault(error).is_transient


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
