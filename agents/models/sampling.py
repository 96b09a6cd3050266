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

from agents.models.transport_retry import find_status

if TYPE_CHECKING:
    from langchain_core.language_models import LanguageModelInput
    from langchain_core.messages import BaseMessage

R = TypeVar("R", bound="Runnable[LanguageModelInput, BaseMessage]")

_REFUSING: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
_ABOUT_NUMBERS: Final = re.compile(r"\b(?:temperature|seed)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model writes one reply. A model without such a setting, or that refuses it, keeps its own.

    Attributes:
        temperature: The temperature; None keeps the model's own.
        seed: The seed of the random numbers; None keeps the model's own.
        model: The model that replies; None for the agent's.
    """

    temperature: float | None = None
    seed: int | None = None
    model: BaseChatModel | None = None


def apply_sampling(model: R, sampling: Sampling | None) -> R:
    """Returns a copy of the model with the temperature and the seed, or the model itself.

    The settings are fields of LangChain's classes: a keyword of a call is read by some of them only.
    """
    if sampling is None or sampling == Sampling(model=sampling.model):
        return model
    if isinstance(model, RunnableBinding):
        return cast("R", model.model_copy(update={"bound": apply_sampling(model.bound, sampling)}))
    if not isinstance(model, BaseChatModel):
        return model
    values = {"temperature": sampling.temperature, "seed": sampling.seed}
    names = type(model).model_fields
    known = {name: value for name, value in values.items() if value is not None and name in names}
    return cast("R", _change_settings(model, known)) if known else model


def remove_refused(sampling: Sampling, error: BaseException) -> Sampling | None:
    """Returns the sampling without the settings that a server refused.

    Args:
        sampling: The settings of the request.
        error: The answer of the server.

    Returns:
        The sampling; None if the error is not about these settings.
    """
    is_refusal = find_status(error) in _REFUSING and _ABOUT_NUMBERS.search(str(error)) is not None
    accepted = replace(sampling, temperature=None, seed=None)
    return accepted if is_refusal and accepted != sampling else None


def _change_settings(model: BaseChatModel, values: Mapping[str, object]) -> BaseChatModel:
    changed = model.model_copy(update=values)
    # Computed from the old settings, such as the text by which a cache knows the model.
    for name in [*vars(changed)]:
        if isinstance(getattr(type(changed), name, None), cached_property):
            delattr(changed, name)
    return changed
