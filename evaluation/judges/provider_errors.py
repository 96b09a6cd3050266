"""What a provider's exception means for a judge."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from evaluation.errors import JudgeError

_REFUSING: Final = frozenset({400, 422, 501})
_ABOUT_SCHEMAS: Final = re.compile(
    r"response.?format|json.?schema|structured.?output|guided.?(?:json|decoding)|\bgrammar"
    r"|not (?:\w+ )?support|unsupported|unrecognized|extra (?:inputs|fields)",
    re.IGNORECASE,
)
_FILTERED: Final = re.compile(
    r"content.?filter|content.?management.?policy|ResponsibleAIPolicy", re.IGNORECASE
)
_SHORTEST_SECRET: Final = 4


def refuses_schema(error: Exception) -> bool:
    """Whether a server may have refused a request for the schema in it; the same without one tells."""
    return _status(error) in _REFUSING and not _is_filtered(error) and bool(_ABOUT_SCHEMAS.search(str(error)))


def raised_as(error: Exception, llm: BaseChatModel) -> Exception:
    """Give what is raised for an error of a provider: itself, but for a blocked or cut-off reply.

    An error whose text holds a key of the model is replaced, since nobody further out could tell it.
    """
    if _is_filtered(error):
        return JudgeError("the provider blocked the request or its reply", "blocked")
    if type(error).__name__ == "LengthFinishReasonError":
        return JudgeError("the reply was cut off at its token limit", "malformed")
    text = str(error)
    known = [secret for secret in _secrets(llm) if secret in text]
    for secret in known:
        text = text.replace(secret, "[key]")
    return JudgeError(f"{type(error).__name__}: {text}") if known else error


def _is_filtered(error: Exception) -> bool:
    if type(error).__name__ == "ContentFilterFinishReasonError":
        return True
    return _status(error) in _REFUSING and bool(_FILTERED.search(f"{getattr(error, 'code', '')} {error}"))


def _status(error: Exception) -> object:
    return getattr(error, "status_code", None)


def _secrets(llm: BaseChatModel) -> Iterator[str]:
    for value in vars(llm).values():
        if isinstance(value, SecretStr) and len(value.get_secret_value()) >= _SHORTEST_SECRET:
            yield value.get_secret_value()
