"""Converts the errors of a model's server: one sentence with its address, without keys and web pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from json import JSONDecodeError
from typing import Final

import httpx
from langchain_core.exceptions import ContextOverflowError, ModelError

from agents.errors import AgentError, ModelRefusedError, ModelUnavailableError, PromptTooLongError
from agents.key_masking import mask_keys, read_secrets
from agents.models.address import find_address, hide_credentials
from agents.models.ollama import explain_error
from agents.models.transport_retry import (
    find_status,
    http_status,
    is_transient,
    is_undecodable,
    iter_causes,
)

_HTML: Final = re.compile(r"<(?:!doctype\s+html|html|head|body|h1)\b", re.IGNORECASE)
_LONGEST: Final = 300
_OVERFLOW: Final = re.compile(r"exceeds? the (?:available )?context (?:size|length)", re.IGNORECASE)
_SIZE: Final = re.compile(r"\((\d+) tokens\)")
ADVICE: Final = "shorten the task or its sources, or raise the context (--context-size, num_ctx)"
"""What to do about a prompt that is too long."""
_WAIT: Final = "raise --call-timeout (in Python call_timeout, or the timeout of the model that you built)"


@contextmanager
def convert_errors(model: object) -> Iterator[None]:
    """Raises an error of the model's server as an error of this package. Any other passes unchanged.

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
        raise kind(_explain(model, error) or _describe(model, error)) from error


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


def _explain(model: object, error: Exception) -> str | None:
    """Returns a sentence with what to do about an error that has one; None for any other."""
    if is_overflow(error):
        sizes = [f" of {size} tokens" for size in _SIZE.findall(str(error))]
        prompt, context = [*sizes, "", ""][:2]
        return f"the prompt{prompt} does not fit the model's context{context}; {ADVICE}"
    for cause in iter_causes(error):
        if isinstance(cause, httpx.ReadTimeout) and (seconds := _read_timeout(cause)) is not None:
            place = _name_place(model, error)
            return f"the model's server{place} gave no answer in {seconds:g} s: {_WAIT}"
    return explain_error(model, error)


def _read_timeout(error: httpx.ReadTimeout) -> float | None:
    try:
        seconds: float | None = error.request.extensions["timeout"]["read"]
    except (RuntimeError, KeyError):  # httpx raises RuntimeError if there is no request
        return None
    return seconds


def _describe(model: object, error: Exception) -> str:
    place = _name_place(model, error)
    return f"the model's server{place} failed ({type(error).__name__}): {_read_detail(model, error)}"


def _name_place(model: object, error: Exception) -> str:
    address = find_address(model) or _requested_url(error)
    return "" if address is None else f" at {hide_credentials(address)}"


def _read_detail(model: object, error: Exception) -> str:
    text = " ".join(mask_keys(str(error), read_secrets(model)).split())
    page = _HTML.search(text)
    if page is None and not _is_page_decoded(error):
        return text[:_LONGEST] or type(error).__name__
    before, status = text[: page.start()][:_LONGEST] if page else "", find_status(error)
    known = status is None or str(status) in before
    return f"{before}an HTML page{'' if known else f' with the HTTP status {status}'}"


def _is_page_decoded(error: Exception) -> bool:
    """Checks whether a client tried to read an HTML page as JSON."""
    documents = (cause.doc for cause in iter_causes(error) if isinstance(cause, JSONDecodeError))
    # Only at the beginning: the model's own text may be HTML.
    return any(_HTML.match(document.lstrip()) for document in documents)


def _requested_url(error: Exception) -> str | None:
    for cause in iter_causes(error):
        try:
            return str(cause.request.url)  # type: ignore[attr-defined] # the errors of every HTTP client
        except (AttributeError, RuntimeError):  # httpx raises RuntimeError if it is not set
            continue
    return None
