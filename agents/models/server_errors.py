"""Retries calls after transient errors of a model's server, and converts its errors to ours."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Annotated, Any, Final, TypeAlias
from weakref import WeakValueDictionary

from langchain_core.exceptions import ModelError
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from agents.credentials.masking import mask_keys, read_error
from agents.errors import AgentError, ModelRefusedError, ModelUnavailableError, PromptTooLongError
from agents.models.identity import find_address, hide_credentials, name_called, read_secrets
from agents.models.ollama import installed_models, server_address
from agents.models.server_answers import (
    ServerFault,
    is_client_error,
    iter_causes,
    read_fault,
    read_retry_after,
)

_log: Final = logging.getLogger(__name__)
_LONGEST: Final = 300
_SHOWN: Final = 20
"""Number of models that are listed."""
ADVICE: Final = "shorten the task or its sources, or raise the context (n_ctx, num_ctx)"
"""What to do about a prompt that is too long."""
# By id, since models have no hash. Weak references, so that a model can be freed.
_refused = WeakValueDictionary[int, object]()


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


@contextmanager
def convert_errors(model: object, retry: TransportRetry) -> Iterator[None]:
    """Raises an error of the model's server as an error of this package. Any other passes unchanged.

    The message is one sentence with the model, the address of its server and the words of the server, without
    keys.

    Args:
        model: The model that is called.
        retry: The retries of the call within the block.

    Raises:
        ModelUnavailableError: The server does not answer, keeps failing, or is not a model's server.
        ModelRefusedError: The server refused the request.
    """
    try:
        yield
    except Exception as error:
        fault = read_fault(error)
        if (kind := _choose_kind(fault)) is None:
            raise
        calls = retry.max_attempts if fault.is_transient else 1
        raise kind(_describe(model, fault, calls)) from error


def _choose_kind(fault: ServerFault) -> type[AgentError] | None:
    """Returns None for an error that does not come from a model's server."""
    if fault.is_overflow:
        return PromptTooLongError
    if fault.is_transient:
        return ModelUnavailableError
    if fault.status is None and any(isinstance(cause, ModelError) for cause in iter_causes(fault.error)):
        return ModelRefusedError
    if not fault.is_answered:
        return None
    # Without the status of an error, something other than a model answers at this address.
    return ModelRefusedError if fault.is_refused else ModelUnavailableError


def _describe(model: object, fault: ServerFault, calls: int) -> str:
    address, name = find_address(model), name_called(model)
    place = "" if address is None else f" at {hide_credentials(address)}"
    # OpenAI's client says "Connection error." for any cause.
    causes = [fault.error] if fault.is_answered else iter_causes(fault.error)
    said = "; ".join(dict.fromkeys(filter(None, map(read_error, causes))))
    words = said if fault.words in said else fault.words
    text = " ".join(mask_keys(words, read_secrets(model)).split())[:_LONGEST]
    if fault.is_overflow:
        return f"the prompt does not fit the model's context ({text}); {ADVICE}"
    if any(is_client_error(cause, "ReadTimeout") for cause in iter_causes(fault.error)):
        return f"the model's server{place} gave no answer in time: raise call_timeout (--call-timeout)"
    ollama = server_address(model)
    if ollama and any(map(_is_unreachable, iter_causes(fault.error))):
        start = "start it with `ollama serve`, or set OLLAMA_HOST to where it runs"
        return f"no Ollama server answers at {ollama}; {start}"
    is_missing = fault.status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
    names_model = "model" in text.lower()
    if ollama and is_missing and names_model:
        others = _list_others(ollama)
        return f"the model's server{place} has no model {name!r}{others}; get it with `ollama pull {name}`"
    is_page = not (fault.is_refused or fault.is_transient) and isinstance(fault.body, str) and fault.body
    if is_page or (is_missing and not names_model):
        return (
            f"the server{place}, asked for {name!r}, sent no reply of a chat model, but: {text!r}; "
            "give the address of an OpenAI-compatible endpoint (with /v1) or of an Ollama server"
        )
    status = "" if fault.status is None else f", status {fault.status}"
    about = f"{type(fault.error).__name__}{status}, model {name!r}, calls: {calls}"
    return f"the model's server{place} failed ({about}): {text or 'it gave no reason'}"


def _is_unreachable(error: BaseException) -> bool:
    is_told = isinstance(error, ConnectionError) and str(error).startswith("Failed to connect to Ollama")
    return is_told or is_client_error(error, "ConnectError", "ConnectTimeout")


def _list_others(ollama: str) -> str:
    """Says which models an Ollama server has; empty if it is not known."""
    names = installed_models(ollama) or []
    further = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"; it has {', '.join(names[:_SHOWN])}{further}" if names else ""


def accepts_schema(model: object) -> bool:
    """Checks whether the model's server has not refused a schema yet."""
    return _refused.get(id(model)) is not model


def remember_schema_refusal(model: object) -> None:
    """Remembers that the model's server accepts no schema, as long as the model exists."""
    _refused[id(model)] = model
    _log.warning("the server of %s accepts no JSON schema; it is asked without one", type(model).__name__)
