"""Builds LangChain chat models from settings, and explains those that a class refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableBinding
from pydantic import BaseModel, ValidationError

from agents.errors import AgentError, ModelSetupError, ModelSpecError

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


def unbind_model(model: object) -> object:
    """Returns a model without the tools and settings that are bound to it."""
    while isinstance(model, RunnableBinding):
        model = model.bound
    return model
