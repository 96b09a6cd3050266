"""Base class of the settings and policies: frozen, with errors of one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.evalset.value_files import parse_yaml, read_values
from evaluation.sensitive.scanner import shorten
from orchestrator.errors import ConfigurationError

LARGEST: Final = 2**63 - 1
"""The largest whole number that a store can hold."""
Count: TypeAlias = Annotated[int, Field(ge=0, le=LARGEST, description="a whole number of at least 0")]
PositiveCount: TypeAlias = Annotated[int, Field(ge=1, le=LARGEST, description="a whole number of at least 1")]
Seconds: TypeAlias = Annotated[
    int | float | None, Field(gt=0, le=LARGEST, description="seconds above 0, or leave it out for no bound")
]
Flag: TypeAlias = Annotated[bool, Field(description="True or False")]


_BELOW: Final = ", and below 2**63"


class SettingsModel(BaseModel):
    """A group of settings that is checked when it is built and cannot be changed afterwards.

    The ``description`` of a field completes the sentence "``name`` is ``value``; give ...". A ``Literal``
    needs none.

    Raises:
        ConfigurationError: A value or a name is not accepted.
    """

    # Strict: pydantic would otherwise read "2" and True as numbers and hide a mistake of the caller.
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    def __init__(self, **values: object) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ConfigurationError(_describe_problem(type(self), error)) from None


def read_object(source: str | Path, name: str, example: str) -> dict[str, Any]:
    """Reads the values of settings from a text in YAML or JSON, or from the file of a ``Path``.

    Raises:
        ConfigurationError: The file cannot be read, or holds no object. The message has ``name``, and
            ``example`` as an object that is accepted.
    """
    where = f"{name} {str(source)!r}" if isinstance(source, Path) else name
    try:
        values = read_values(source) if isinstance(source, Path) else parse_yaml(source)
    except OSError as error:
        raise ConfigurationError(
            f"{where} cannot be read ({error.strerror}); give a YAML file in UTF-8"
        ) from None
    except ValueError as error:
        raise ConfigurationError(f"{where}: {error}") from None
    if isinstance(values, dict):
        return values
    is_name = isinstance(values, str) and values.endswith((".yaml", ".yml", ".json"))
    hint = f", or Path({values!r}) to read the file" if is_name else ""
    raise ConfigurationError(
        f"{where} is {shorten(repr(values), 80)}; give an object such as {example}{hint}"
    )


def _describe_problem(model: type[BaseModel], error: ValidationError) -> str:
    """Returns the value and the accepted values of the first problem, as one sentence."""
    problem = error.errors(include_url=False)[0]
    context = problem.get("ctx", {})
    cause = context.get("error")
    if not problem["loc"]:  # a validator of the whole model, whose message is a sentence already
        return str(cause)
    name, *rest = problem["loc"]
    if name not in model.model_fields:
        return f"{name} is not an argument of {model.__name__}; give any of {', '.join(model.model_fields)}"
    place = f"{name}[{rest[0]}]" if rest and isinstance(rest[0], int) else name
    if isinstance(cause, ConfigurationError):  # of a group within the model, or of a value that checks itself
        return f"{place}: {cause}"
    value = "missing" if problem["type"] == "missing" else shorten(repr(problem["input"]), 80)
    # Pydantic lists the values of a Literal, such as "'a' or 'b'", and names the class of an instance.
    accepted = (
        model.model_fields[str(name)].description or context.get("expected") or f"a {context.get('class')}"
    )
    return f"{place} is {value}; give {accepted}{_BELOW if context.get('le') == LARGEST else ''}"
