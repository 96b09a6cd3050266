"""The model, the temperature and the seed of one call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBinding

from agents.models.transport_retry import http_status, iter_causes

if TYPE_CHECKING:
    from langchain_core.language_models import LanguageModelInput
    from langchain_core.messages import BaseMessage

R = TypeVar("R", bound="Runnable[LanguageModelInput, BaseMessage]")

READS_GRAMMARS: Final = "reads_grammars"
"""The sign of a model whose server reads grammars, in the model's ``metadata``.

It is no field of the request: llama.cpp's server refuses a grammar, also an empty one, together with tools.
"""
_REFUSING: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
_ABOUT_NUMBERS: Final = re.compile(r"\b(?:temperature|seed)\b", re.IGNORECASE)
_ABOUT_GRAMMAR: Final = re.compile(r"\bgrammar\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model writes one reply. A model without such a setting, or that refuses it, keeps its own.

    Attributes:
        temperature: The temperature; None keeps the model's own.
        seed: The seed of the random numbers; None keeps the model's own.
        model: The model that replies; None for the agent's.
        grammar: The grammar of the reply in GBNF, the notation of llama.cpp. Only a model with
            ``READS_GRAMMARS`` in its field ``metadata`` gets it, such as the embedded one.
    """

    temperature: float | None = None
    seed: int | None = None
    model: BaseChatModel | None = None
    grammar: str | None = None


def apply_sampling(model: R, sampling: Sampling | None) -> R:
    """Returns a copy of the model with the temperature, the seed and the grammar, or the model itself.

    The settings are fields of LangChain's classes: a keyword of a call is read by some of them only.
    """
    if sampling is None or sampling == Sampling(model=sampling.model):
        return model
    if isinstance(model, RunnableBinding):
        return cast("R", model.model_copy(update={"bound": apply_sampling(model.bound, sampling)}))
    if not isinstance(model, BaseChatModel):
        return model
    values = {
        "temperature": sampling.temperature,
        "seed": sampling.seed,
        "extra_body": _add_grammar(model, sampling.grammar),
    }
    known = {name: value for name, value in values.items() if value is not None and _has(model, name)}
    return cast("R", _change_settings(model, known)) if known else model


def remove_grammar(sampling: Sampling | None) -> Sampling | None:
    """Returns the same sampling without a grammar."""
    return None if sampling is None else replace(sampling, grammar=None)


def remove_refused(sampling: Sampling, error: BaseException) -> Sampling | None:
    """Returns the sampling without the settings that a server refused.

    Args:
        sampling: The settings of the request.
        error: The answer of the server. If it cannot go on by a grammar, llama.cpp's may also fail with
            status 500, or after it began to reply.

    Returns:
        The sampling; None if the error is not about these settings.
    """
    if sampling.grammar is not None and _ABOUT_GRAMMAR.search(str(error)):
        return replace(sampling, grammar=None)
    statuses = (status for cause in iter_causes(error) if (status := http_status(cause)) is not None)
    is_refusal = next(statuses, None) in _REFUSING and _ABOUT_NUMBERS.search(str(error)) is not None
    accepted = replace(sampling, temperature=None, seed=None)
    return accepted if is_refusal and accepted != sampling else None


def _add_grammar(model: BaseChatModel, grammar: str | None) -> dict[str, object] | None:
    """Returns the fields of the request with the grammar; None if there is none, or the server reads none."""
    if grammar is None or not (model.metadata or {}).get(READS_GRAMMARS):
        return None
    return {**(getattr(model, "extra_body", None) or {}), "grammar": grammar}


def _change_settings(model: BaseChatModel, values: Mapping[str, object]) -> BaseChatModel:
    changed = model.model_copy(update=values)
    # Computed from the old settings, such as the text by which a cache knows the model.
    for name in [*vars(changed)]:
        if isinstance(getattr(type(changed), name, None), cached_property):
            delattr(changed, name)
    return changed


def _has(model: BaseChatModel, name: str) -> bool:
    return name in type(model).model_fields
