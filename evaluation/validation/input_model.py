"""Base class of the input models, with errors in plain sentences."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError

from evaluation.errors import ContractError
from evaluation.validation.problems import describe_errors, list_field_paths


class InputModel(BaseModel):
    """Base of the input models: strict types, no unknown fields, immutable.

    Raises:
        ContractError: A field is wrong; one sentence for each, which begins with its path.
    """

    # Strict: pydantic would read the text "12" and the flag true as numbers and hide a mistake.
    # The input stays out of error texts, because a case may contain a credential.
    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )

    def __init__(self, **fields: object) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            problems = describe_errors(error, fields, list_field_paths(type(self)), type(self).__name__)
            raise ContractError("; ".join(problems)) from None

    # Without this mark, pydantic would call this method for each model inside of another one.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


def describe_idle_bound(name: str, value: float | None, least: int, other: float | None) -> str | None:
    """Describe a minimum that every output keeps which is not empty; None if an output can break it.

    Args:
        name: Name of the minimum.
        value: The minimum; None if there is none.
        least: The amount in every output that is not empty.
        other: The maximum that goes with it; None if there is none.
    """
    if value is None or value > least or other is not None:
        return None
    return (
        f"{name!r} is {value:g}, which no output can break; "
        f"give a greater {name!r}, or a {name.replace('min', 'max')!r}"
    )


def wrap_name(value: object) -> object:
    """Read a name alone as an object with that name."""
    return {"name": value} if isinstance(value, str) else value
