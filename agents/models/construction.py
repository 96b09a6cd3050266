"""Builds a chat model from settings, and answers a setting that it does not have with a sentence.

LangChain's classes ignore or forward what they do not know, so a misspelt option would have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from agents.errors import ModelSpecError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Chat = TypeVar("Chat", bound="BaseChatModel")


def build_chat_model(
    model_class: type[Chat],
    *,
    fixed: Mapping[str, object],
    defaults: Mapping[str, object],
    options: Mapping[str, object],
) -> Chat:
    """Build a chat model.

    Args:
        model_class: LangChain's class.
        fixed: Settings that the specification decides; an option may not change them.
        defaults: Settings that an option may change; of a mapping, entry by entry.
        options: What the caller asked for, by field name or alias.

    Raises:
        ModelSpecError: An option that the class does not have, one that the specification already
            decides, or a value that the class refuses.
    """
    names = _field_names(model_class)
    decided = {names[name]: value for name, value in fixed.items()}
    wanted = {names[name]: value for name, value in defaults.items()}
    for name, value in options.items():
        known = _checked(name, names, decided, model_class)
        wanted[known] = _over(wanted.get(known), value)
    try:
        return model_class(**{**wanted, **decided})
    except ValidationError as error:
        raise ModelSpecError(_sentence(error)) from None


def _over(default: object, value: object) -> object:
    if isinstance(default, Mapping) and isinstance(value, Mapping):
        return {**default, **value}
    return value


def _field_names(model_class: type[BaseModel]) -> dict[str, str]:
    """Every name that the class accepts, to the one that its constructor is documented with."""
    names: dict[str, str] = {}
    for name, field in model_class.model_fields.items():
        names[name] = names[field.alias or name] = field.alias or name
    return names


def _checked(
    name: str, names: Mapping[str, str], decided: Mapping[str, object], model_class: type[BaseModel]
) -> str:
    if name not in names:
        close = get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"give settings of {model_class.__name__}"
        raise ModelSpecError(f"option {name!r} is not a setting of {model_class.__name__}; {hint}")
    if names[name] in decided:
        raise ModelSpecError(f"option {name!r} is decided by the model specification; leave it out")
    return names[name]


def _sentence(error: ValidationError) -> str:
    """What is wrong, without the values: one of them may be a key."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    name = ".".join(str(part) for part in first["loc"]) or "one of the options"
    return f"option {name!r} is not accepted: {first['msg']}"
