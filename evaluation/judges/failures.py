"""What is recorded of a judge that gave no usable answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pydantic import SecretStr

from evaluation.errors import JudgeError, JudgeFailureKind
from evaluation.results.redaction import redact
from evaluation.values import JsonObject

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

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


_READ: Final = 4000
"""Characters that are searched: more than are shown, so that a key which that cuts is known for one."""
_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class JudgeFailure:
    """Why a judge's answer gives no score: its own kind of error, never a bad answer of the agent."""

    kind: JudgeFailureKind
    reason: str
    usage: Mapping[str, object] = field(default_factory=dict)
    """What the call cost all the same."""
    details: JsonObject = field(default_factory=dict)


def failure_of(error: Exception) -> JudgeFailure:
    """Say what an exception of a judge was; its text may hold anything, so it is bounded and redacted."""
    if isinstance(error, JudgeError):
        return JudgeFailure(error.kind, _text(error), error.usage, error.details)
    return JudgeFailure("provider_failure", f"{type(error).__name__}: {_text(error)}")


def _text(error: Exception) -> str:
    try:
        text = " ".join(str(error)[:_READ].split())
    except Exception:  # noqa: BLE001 - the text of a foreign error is foreign code
        return "(its text cannot be made)"
    return redact(text)[:_SHOWN]
