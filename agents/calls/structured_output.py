"""Recognises servers that accept no JSON schema, and remembers their models."""

from __future__ import annotations

import logging
import re
import weakref
from http import HTTPStatus
from typing import Final

from langchain_core.language_models import BaseChatModel

from agents.calls.server_errors import is_overflow
from agents.models.transport_retry import find_status, http_status

_log: Final = logging.getLogger(__name__)

_REFUSING: Final = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.NOT_IMPLEMENTED}
)
_FILTERED: Final = re.compile(
    r"content.?filter | content.?management.?policy | ResponsibleAIPolicy", re.IGNORECASE | re.VERBOSE
)

# By id, since models have no hash. Weak references, so that a model can be freed.
_refused: dict[int, weakref.ref[BaseChatModel]] = {}


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
    known = _refused.get(id(model))
    return known is None or known() is not model


def remember_schema_refusal(model: object) -> None:
    """Remembers that the model's server accepts no schema, as long as the model exists."""
    if not isinstance(model, BaseChatModel):
        return
    key = id(model)
    _refused[key] = weakref.ref(model, lambda _: _refused.pop(key, None))
    _log.warning("the server of %s accepts no JSON schema; it is asked without one", type(model).__name__)
