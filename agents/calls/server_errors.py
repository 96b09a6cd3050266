"""Converts the errors of a model's server: one sentence with its address, without keys and web pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from json import JSONDecodeError
from typing import Final

from langchain_core.exceptions import ModelError

from agents.errors import AgentError, ModelRefusedError, ModelUnavailableError
from agents.key_masking import mask_keys, read_secrets
from agents.models.address import find_address, hide_credentials
from agents.models.ollama import explain_error
from agents.models.transport_retry import find_status, is_transient, is_undecodable, iter_causes

_HTML: Final = re.compile(r"<(?:!doctype\s+html|html|head|body|h1)\b", re.IGNORECASE)
_LONGEST: Final = 300


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
        raise kind(explain_error(model, error) or _describe(model, error)) from error


def _choose_kind(error: Exception) -> type[AgentError] | None:
    """Returns None for an error that does not come from a model's server."""
    status, known = find_status(error), any(isinstance(cause, ModelError) for cause in iter_causes(error))
    if is_transient(error):
        return ModelUnavailableError
    if status is None and not known and not is_undecodable(error):
        return None
    # A status below 400 is no refusal: something other than a model answers at this address.
    refused = known if status is None else status >= HTTPStatus.BAD_REQUEST
    return ModelRefusedError if refused else ModelUnavailableError


def _describe(model: object, error: Exception) -> str:
    address = find_address(model) or _requested_url(error)
    place = "" if address is None else f" at {hide_credentials(address)}"
    return f"the model's server{place} failed ({type(error).__name__}): {_read_detail(model, error)}"


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
