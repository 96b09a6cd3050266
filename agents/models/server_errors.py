"""Converts the errors of a model's server to ours, and recognises servers that accept no JSON schema."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final
from weakref import WeakValueDictionary

import httpx
from langchain_core.exceptions import ContextOverflowError, ModelError
from langchain_core.language_models import BaseChatModel

from agents.errors import AgentError, ModelRefusedError, ModelUnavailableError, PromptTooLongError
from agents.models.identity import find_address, hide_credentials, mask_keys, read_secrets
from agents.models.ollama import explain_error
from agents.models.transport_retry import (
    find_status,
    http_status,
    is_transient,
    is_undecodable,
    iter_causes,
)

_log: Final = logging.getLogger(__name__)
_LONGEST: Final = 300
_OVERFLOW: Final = re.compile(r"exceeds? the (?:available )?context (?:size|length)", re.IGNORECASE)
ADVICE: Final = "shorten the task or its sources, or raise the context (n_ctx, num_ctx)"
"""What to do about a prompt that is too long."""
_REFUSING: Final = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.NOT_IMPLEMENTED}
)
_FILTERED: Final = re.compile(
    r"content.?filter | content.?management.?policy | ResponsibleAIPolicy", re.IGNORECASE | re.VERBOSE
)

# By id, since models have no hash. Weak references, so that a model can be freed.
_refused = WeakValueDictionary[int, BaseChatModel]()


@contextmanager
def convert_errors(model: object) -> Iterator[None]:
    """Raises an error of the model's server as an error of this package. Any other passes unchanged.

    The message is one sentence with the address of the server, without keys.

    Raises:
        ModelUnavailableError: The server does not answer, keeps failing, or is not a model's server.
        ModelRefusedError: The server refused the request.
    """
    try:
        yield
    except Exception as error:
        kind = _choose_kind(error)
        if kind is None:
            raise
        raise kind(_describe(model, error)) from error


def is_overflow(error: BaseException) -> bool:
    """Checks whether the server refused a prompt because it does not fit the context."""
    return any(
        isinstance(cause, ContextOverflowError)
        or (http_status(cause) == HTTPStatus.BAD_REQUEST and _OVERFLOW.search(str(cause)) is not None)
        for cause in iter_causes(error)
    )


def _choose_kind(error: Exception) -> type[AgentError] | None:
    """Returns None for an error that does not come from a model's server."""
    status, known = find_status(error), any(isinstance(cause, ModelError) for cause in iter_causes(error))
    if is_overflow(error):
        return PromptTooLongError
    if is_transient(error):
        return ModelUnavailableError
    if status is None and not known and not is_undecodable(error):
        return None
    # A status below 400 is no refusal: something other than a model answers at this address.
    refused = known if status is None else status >= HTTPStatus.BAD_REQUEST
    return ModelRefusedError if refused else ModelUnavailableError


def _describe(model: object, error: Exception) -> str:
    address = find_address(model)
    place = "" if address is None else f" at {hide_credentials(address)}"
    text = " ".join(mask_keys(str(error), read_secrets(model)).split())[:_LONGEST]
    if is_overflow(error):
        return f"the prompt does not fit the model's context ({text}); {ADVICE}"
    if any(isinstance(cause, httpx.ReadTimeout) for cause in iter_causes(error)):
        return f"the model's server{place} gave no answer in time: raise call_timeout (--call-timeout)"
    return explain_error(model, error) or (
        f"the model's server{place} failed ({type(error).__name__}): {text or type(error).__name__}"
    )


def is_schema_refusal(error: BaseException) -> bool:
    """Checks whether a server may have refused a request because of its schema.

    Its words do not tell, since every server has its own. Only the same request without the schema can.
    """
    return find_status(error) in _REFUSING and not is_content_filtered(error) and not is_overflow(error)


def is_content_filtered(error: BaseException) -> bool:
    """Checks whether the provider's content filter blocked the request."""
    text = f"{getattr(error, 'code', '')} {error}"
    return http_status(error) in _REFUSING and _FILTERED.search(text) is not None


def accepts_schema(model: BaseChatModel) -> bool:
    """Checks whether the model's server has not refused a schema yet."""
    return _refused.get(id(model)) is not model


def remember_schema_refusal(model: object) -> None:
    """Remembers that the model's server accepts no schema, as long as the model exists."""
    if isinstance(model, BaseChatModel):
        _refused[id(model)] = model
    _log.warning("the server of %s accepts no JSON schema; it is asked without one", type(model).__name__)
