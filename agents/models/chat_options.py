"""Settings of a LangChain chat model: when it is built, and for one call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBinding
from pydantic import BaseModel, ValidationError

from agents.errors import AgentError, ModelSetupError, ModelSpecError
from agents.models.server_answers import read_fault

if TYPE_CHECKING:
    from langchain_core.language_models import LanguageModelInput
    from langchain_core.messages import BaseMessage


Chat = TypeVar("Chat", bound="BaseChatModel")
HTTP_DEFAULTS: Final[Mapping[str, object]] = {
    "timeout": 120.0,
    "max_retries": 0,
    # ChatOpenAI leaves the usage out of a stream from any endpoint but OpenAI's own.
    "stream_usage": True,
    # A connection that is kept open belongs to its event loop; the next asyncio.run cannot use it.
    "default_headers": {"Connection": "close"},
}
"""Settings of a model behind an HTTP endpoint, as far as its class has them."""


def build_chat_model(
    model_class: type[Chat],
    *,
    fixed: Mapping[str, object],
    defaults: Mapping[str, object],
    options: Mapping[str, object],
) -> Chat:
    """Builds a chat model.

    Args:
        model_class: LangChain's class.
        fixed: Settings from the specification, which no option may change.
        defaults: Settings that an option may change. Mappings are merged.
        options: The caller's settings, by field name or alias.

    Raises:
        ModelSpecError: The class does not have an option or refuses its value, or the specification already
            decides it.
        ModelSetupError: The class refuses the settings together, for instance because there is no key.
    """
    names = read_field_names(model_class)
    decided: dict[str, Any] = {names[name]: value for name, value in fixed.items()}
    settings: dict[str, Any] = {names[name]: value for name, value in defaults.items()}
    for name, value in options.items():
        # LangChain's classes ignore or forward unknown options, so a misspelt one would have no effect.
        if name not in names or names[name] in decided:
            raise ModelSpecError(
                f"option {name!r} is not a setting of {model_class.__name__}, or is decided by the model "
                "specification; leave it out"
            )
        default = settings.get(names[name])
        is_merged = isinstance(default, Mapping) and isinstance(value, Mapping)
        settings[names[name]] = {**default, **value} if is_merged else value  # type: ignore[dict-item]
    try:
        return model_class(**{**settings, **decided})
    except ValidationError as error:
        raise explain_settings(error, model_class.__name__) from None


def read_field_names(model_class: type[BaseModel]) -> dict[str, str]:
    """Maps every name that the class accepts to the name in its documentation."""
    names: dict[str, str] = {}
    for name, field in model_class.model_fields.items():
        names[name] = names[field.alias or name] = field.alias or name
    return names


def explain_settings(error: ValidationError, kind: str) -> AgentError:
    """Returns the error of settings that a class of models refuses, without values: one may be a key."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    name, reason = ".".join(str(part) for part in first["loc"]), first["msg"].removeprefix("Value error, ")
    if not name:  # about the settings together, such as a key that is in none of them
        return ModelSetupError(f"{kind} cannot be built: {reason}")
    return ModelSpecError(f"option {name!r} is not accepted: {reason}")


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
    values = {"temperature": sampling.temperature, "seed": sampling.seed}
    return _change_settings(model, {name: value for name, value in values.items() if value is not None})


def stop_streaming(model: R) -> R:
    """Returns a copy of the model that asks for replies without a stream."""
    return _change_settings(model, {"disable_streaming": True, "streaming": False})


def remove_refused(sampling: Sampling, error: BaseException) -> Sampling | None:
    """Returns the sampling without the settings that a server refused.

    Args:
        sampling: The settings of the request.
        error: The answer of the server.

    Returns:
        The sampling; None if the error is not about these settings.
    """
    fault = read_fault(error)
    is_refusal = fault.status in _REFUSING and _ABOUT_NUMBERS.search(fault.text) is not None
    accepted = replace(sampling, temperature=None, seed=None)
    return accepted if is_refusal and accepted != sampling else None


def unbind_model(model: object) -> object:
    """Returns a model without the tools and settings that are bound to it."""
    while isinstance(model, RunnableBinding):
        model = model.bound
    return model


def _change_settings(model: R, values: Mapping[str, object]) -> R:
    """Returns a copy of the model with the settings that its class has."""
    if isinstance(model, RunnableBinding):
        return cast("R", model.model_copy(update={"bound": _change_settings(model.bound, values)}))
    known = {
        name: value for name, value in values.items() if name in getattr(type(model), "model_fields", ())
    }
    if not isinstance(model, BaseChatModel) or not known:
        return model
    changed = model.model_copy(update=known)
    # Computed from the old settings, such as the text by which a cache knows the model.
    for name in [*vars(changed)]:
        if isinstance(getattr(type(changed), name, None), cached_property):
            delattr(changed, name)
    return cast("R", changed)
