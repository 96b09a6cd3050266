"""Servers that take no JSON schema: how their refusal is told, and which models are known for it."""

from __future__ import annotations

import logging
import re
import weakref
from http import HTTPStatus
from typing import Final

from langchain_core.language_models import BaseChatModel

from agents.models.transport_retry import http_status, iter_causes

_log: Final = logging.getLogger(__name__)

_REFUSING: Final = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.NOT_IMPLEMENTED}
)
_ABOUT_SCHEMAS: Final = re.compile(
    r"""response.?format | json.?schema | structured.?output | guided.?(?:json|decoding) | \bgrammar
    | ChatRequest\.format | not\ (?:\w+\ )?support | unsupported | unrecognized | extra\ (?:inputs|fields)""",
    re.IGNORECASE | re.VERBOSE,
)

# By identity, since models compare by their settings and have no hash; weakly, so that none is kept alive.
_plain: dict[int, weakref.ref[BaseChatModel]] = {}


def is_schema_refusal(error: BaseException) -> bool:
    """Whether a server's answer to a constrained request may mean that it takes no schema.

    It may mean something else: the same request without the schema tells.
    """
    statuses = (found for cause in iter_causes(error) if (found := http_status(cause)) is not None)
    return next(statuses, None) in _REFUSING and _ABOUT_SCHEMAS.search(str(error)) is not None


def accepts_schema(model: BaseChatModel) -> bool:
    """Whether the model may be asked with a schema, as far as is known."""
    known = _plain.get(id(model))
    return known is None or known() is not model


def remember_schema_refusal(model: object) -> None:
    """Note that the model's server takes no schema, for as long as the model lives."""
    if not isinstance(model, BaseChatModel):
        return
    key = id(model)
    _plain[key] = weakref.ref(model, lambda _: _plain.pop(key, None))
    _log.warning("the server of %s takes no JSON schema; it is asked without one", type(model).__name__)
