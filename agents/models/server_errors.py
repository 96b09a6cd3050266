"""Converts the errors of a model's server to ours, and recognises servers that accept no JSON schema."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final
from weakref import WeakValueDictionary

from langchain_core.exceptions import ContextOverflowError, ModelError
from langchain_core.language_models import BaseChatModel

from agents.credentials.masking import mask_keys
from agents.errors import AgentError, ModelRefusedError, ModelUnavailableError, PromptTooLongError
from agents.models.identity import find_address, hide_credentials, name_called, read_secrets
from agents.models.ollama import explain_error
from agents.models.openai_replies import list_models
from agents.models.server_answers import find_status, iter_causes, read_answer
from agents.models.transport_retry import TransportRetry, is_client_error, is_transient

_log: Final = logging.getLogger(__name__)
_LONGEST: Final = 300
_SHOWN: Final = 20
"""Number of models that are listed."""
_PROMPT: Final = r"\b(?:context|prompts?|inputs?|messages?(?![\[.])|tokens?)\b"
_EXCESS: Final = (
    r"(?:\b(?:exceed|overflow)|\btoo (?:long|large|many|big)\b"
    r"|\b(?:longer|larger|max|maximum|limit|reduce)\b|<=)"
)
_OVERFLOW: Final = re.compile(
    rf"context_(?:length|window)_exceeded|{_PROMPT}.{{0,80}}?{_EXCESS}|{_EXCESS}.{{0,60}}?{_PROMPT}",
    re.IGNORECASE | re.DOTALL,
)
"""The words of servers for a prompt that does not fit: one for the prompt, near one for too much."""
_MEASURED: Final = re.compile(r"\b(?:context|prompts?|inputs?)\b|context_", re.IGNORECASE)
_TOO_LONG: Final = (
    None, HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.INTERNAL_SERVER_ERROR,
)  # fmt: skip
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
        kind = _choose_kind(error)
        if kind is None:
            raise
        calls = retry.max_attempts if is_transient(error) else 1
        raise kind(_describe(model, error, calls)) from error


def is_overflow(error: BaseException) -> bool:
    """Checks whether the server refused a prompt because it does not fit the context."""
    if any(isinstance(cause, ContextOverflowError) for cause in iter_causes(error)):
        return True
    answer = read_answer(error)
    is_page = answer is not None and answer.status is None and isinstance(answer.body, str)
    if answer is None or is_page or answer.status not in _TOO_LONG:
        return False
    text = " ".join((str(error), answer.words, *answer.codes))
    # A refused max_tokens is a setting, unless it is added to the prompt.
    is_setting = "max_" in text and _MEASURED.search(text) is None
    return _OVERFLOW.search(text) is not None and not is_setting


def _choose_kind(error: Exception) -> type[AgentError] | None:
    """Returns None for an error that does not come from a model's server."""
    answer, known = read_answer(error), any(isinstance(cause, ModelError) for cause in iter_causes(error))
    if is_overflow(error):
        return PromptTooLongError
    if is_transient(error):
        return ModelUnavailableError
    if answer is None or answer.status is None:
        # Without a status, something other than a model answers at this address.
        return ModelRefusedError if known else ModelUnavailableError if answer else None
    return ModelUnavailableError if answer.is_success else ModelRefusedError


def _describe(model: object, error: Exception, calls: int) -> str:
    address, name = find_address(model), name_called(model)
    place = "" if address is None else f" at {hide_credentials(address)}"
    answer = read_answer(error)
    words = str(error) if answer is None or answer.words in str(error) else answer.words
    text = " ".join(mask_keys(words, read_secrets(model)).split())[:_LONGEST]
    if is_overflow(error):
        return f"the prompt does not fit the model's context ({text}); {ADVICE}"
    if any(is_client_error(cause, "ReadTimeout") for cause in iter_causes(error)):
        return f"the model's server{place} gave no answer in time: raise call_timeout (--call-timeout)"
    is_missing = answer is not None and answer.status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
    names_model = "model" in text.lower()
    if is_missing and names_model and (models := list_models(model)):
        return f"the model's server{place} has no model {name!r}; it has {_list_some(models)}"
    is_page = answer is not None and answer.is_success and isinstance(answer.body, str) and answer.body != ""
    if (is_page and not is_transient(error)) or (is_missing and not names_model):
        return (
            f"the server{place}, asked for {name!r}, sent no reply of a chat model, but: {text!r}; "
            "give the address of an OpenAI-compatible endpoint (with /v1) or of an Ollama server"
        )
    status = "" if answer is None or answer.status is None else f", status {answer.status}"
    about = f"{type(error).__name__}{status}, model {name!r}, calls: {calls}"
    return explain_error(model, error) or (
        f"the model's server{place} failed ({about}): {text or 'it gave no reason'}"
    )


def _list_some(names: Sequence[str]) -> str:
    further = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{further}"


def is_schema_refusal(error: BaseException) -> bool:
    """Checks whether a server may have refused a request because of its schema.

    Its words do not tell, since every server has its own. Only the same request without the schema can.
    """
    return find_status(error) in _REFUSING and not is_content_filtered(error) and not is_overflow(error)


def is_content_filtered(error: BaseException) -> bool:
    """Checks whether the provider's content filter blocked the request."""
    answer = read_answer(error)
    if answer is None or answer.status not in _REFUSING:
        return False
    return _FILTERED.search(" ".join((str(error), answer.words, *answer.codes))) is not None


def accepts_schema(model: BaseChatModel) -> bool:
    """Checks whether the model's server has not refused a schema yet."""
    return _refused.get(id(model)) is not model


def remember_schema_refusal(model: object) -> None:
    """Remembers that the model's server accepts no schema, as long as the model exists."""
    if isinstance(model, BaseChatModel):
        _refused[id(model)] = model
    _log.warning("the server of %s accepts no JSON schema; it is asked without one", type(model).__name__)
