"""Base class of the settings and policies: frozen, with errors of one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.sensitive.quoting import shorten
from orchestrator.errors import ConfigurationError

LARGEST: Final = 2**63 - 1
"""The largest whole number that a store can hold."""
Count: TypeAlias = Annotated[int, Field(ge=0, le=LARGEST, description="a whole number of at least 0")]
PositiveCount: TypeAlias = Annotated[int, Field(ge=1, le=LARGEST, description="a whole number of at least 1")]
Seconds: TypeAlias = Annotated[
    int | float | None, Field(gt=0, lt=math.inf, description="seconds above 0, or leave it out for no bound")
]
ToolNames: TypeAlias = Annotated[Sequence[str], Field(description="a list of tool names")]
ToolNamesOrAll: TypeAlias = Annotated[
    Sequence[str] | Literal["all"], Field(description="a list of tool names, or 'all'")
]
Flag: TypeAlias = Annotated[bool, Field(description="True or False")]


_BELOW: Final = ", and below 2**63"


class SettingsModel(BaseModel):
    """A group of settings that is checked when it is built and cannot be changed afterwards.

    The ``description`` of a field completes the sentence "``name`` is ``value``; give ...".

    Raises:
        ConfigurationError: A value or a name is not accepted.
    """

    # Strict: pydantic would otherwise read "2" and True as numbers and hide a mistake of the caller.
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    def __init__(self, **values: object) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ConfigurationError(_describe_problem(type(self), values, error)) from None


def _describe_problem(model: type[BaseModel], values: Mapping[str, object], error: ValidationError) -> str:
    """Returns the value and the accepted values of the first problem, as one sentence."""
    problem = error.errors(include_url=False)[0]
    if not problem["loc"]:  # a validator of the whole model, whose message is a sentence already
        return str(problem["ctx"]["error"])
    cause = problem.get("ctx", {}).get("error")
    if isinstance(cause, ConfigurationError):  # of a value that is checked itself
        return str(cause)
    name = str(problem["loc"][0])
    if name not in model.model_fields:
        return f"{name} is not an argument of {model.__name__}; give any of {', '.join(model.model_fields)}"
    value = shorten(repr(values[name]), 80) if name in values else "missing"
    is_too_large = problem.get("ctx", {}).get("le") == LARGEST
    return f"{name} is {value}; give {model.model_fields[name].description}{_BELOW if is_too_large else ''}"


def read_group(model: type[SettingsModel], name: str, value: object) -> object:
    """Reads a group of settings from an object; returns any other value as it is.

    Args:
        model: The group.
        name: Name of the field that holds the group.
        value: Value of the field.

    Raises:
        ConfigurationError: A value or a name is not accepted; the message begins with ``name``.
    """
    if not isinstance(value, Mapping):
        return value
    try:
        return model(**{str(key): each for key, each in value.items()})
    except ConfigurationError as error:
        raise ConfigurationError(f"{name}: {error}") from None
