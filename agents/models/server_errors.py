"""Converts the errors of a model's server to ours, and remembers servers that accept no JSON schema."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final
from weakref import WeakValueDictionary

from langchain_core.exceptions import ModelError
from langchain_core.language_models import BaseChatModel

from agents.credentials.masking import mask_keys, read_error
from agents.errors import AgentError, ModelRefusedError, ModelUnavailableError, PromptTooLongError
from agents.models.identity import find_address, hide_credentials, name_called, read_secrets
from agents.models.ollama import explain_error
from agents.models.openai_replies import list_models
from agents.models.server_answers import ServerFault, is_client_error, iter_causes, read_fault, read_location
from agents.models.transport_retry import TransportRetry

_log: Final = logging.getLogger(__name__)
_LONGEST: Final = 300
_SHOWN: Final = 20
"""Number of models that are listed."""
ADVICE: Final = "shorten the task or its sources, or raise the context (n_ctx, num_ctx)"
"""What to do about a prompt that is too long."""
# By id, since models have no hash. Weak references, so that a model can be freed.
_refused = WeakValueDictionary[int, BaseChatModel]()


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
    if fault.is_redirect:
        words = f"a redirect to {read_location(fault.error) or 'no address'}"
    text = " ".join(mask_keys(words, read_secrets(model)).split())[:_LONGEST]
    if fault.is_overflow:
        return f"the prompt does not fit the model's context ({text}); {ADVICE}"
    if any(is_client_error(cause, "ReadTimeout") for cause in iter_causes(fault.error)):
        return f"the model's server{place} gave no answer in time: raise call_timeout (--call-timeout)"
    is_missing = fault.status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
    names_model = "model" in text.lower()
    if is_missing and names_model and (models := list_models(model)):
        return f"the model's server{place} has no model {name!r}; it has {_list_some(models)}"
    if fault.is_redirect or (fault.is_page and not fault.is_transient) or (is_missing and not names_model):
        return (
            f"the server{place}, asked for {name!r}, sent no reply of a chat model, but: {text!r}; "
            "give the address of an OpenAI-compatible endpoint (with /v1) or of an Ollama server"
        )
    status = "" if fault.status is None else f", status {fault.status}"
    about = f"{type(fault.error).__name__}{status}, model {name!r}, calls: {calls}"
    return explain_error(model, fault.error) or (
        f"the model's server{place} failed ({about}): {text or 'it gave no reason'}"
    )


def _list_some(names: Sequence[str]) -> str:
    further = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{further}"


def accepts_schema(model: BaseChatModel) -> bool:
    """Checks whether the model's server has not refused a schema yet."""
    return _refused.get(id(model)) is not model


def remember_schema_refusal(model: object) -> None:
    """Remembers that the model's server accepts no schema, as long as the model exists."""
    if isinstance(model, BaseChatModel):
        _refused[id(model)] = model
    _log.warning("the server of %s accepts no JSON schema; it is asked without one", type(model).__name__)
