"""Base class of the input models, with errors in plain sentences."""

from __future__ import annotations

from itertools import pairwise

from pydantic import ConfigDict, ValidationError

from evaluation.errors import ContractError
from evaluation.validation.described_model import DescribedModel
from evaluation.validation.field_paths import list_field_paths
from evaluation.validation.problems import describe_errors


class InputModel(DescribedModel):
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
    )

    def __init__(self, **fields: object) -> None:
        try:
            super().__init__(**{name: _as_lists(value) for name, value in fields.items()})
        except ValidationError as error:
            problems = describe_errors(error, fields, list_field_paths(type(self)), type(self).__name__)
            raise ContractError("; ".join(problems)) from None

    # Without this mark, pydantic would call this method for each model inside of another one.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


def _as_lists(value: object) -> object:
    """Write tuples as lists: strict types accept no tuple, and JSON has no other sequence."""
    if isinstance(value, tuple | list):
        return [_as_lists(item) for item in value]
    return {name: _as_lists(item) for name, item in value.items()} if isinstance(value, dict) else value


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


def wrap_numbers(value: object) -> object:
    """Read an ascending list of numbers as the range from its first to its last one."""
    if not isinstance(value, list):
        return value
    numbers = [each for each in value if isinstance(each, int | float) and not isinstance(each, bool)]
    if len(numbers) < max(len(value), 2) or any(low >= high for low, high in pairwise(numbers)):
        raise ValueError("a scale that is a list needs at least two ascending numbers, such as [1, 5]")
    return {"min": numbers[0], "max": numbers[-1]}


def wrap_name(value: object) -> object:
    """Read a name alone as an object with that name."""
    return {"name": value} if isinstance(value, str) else value
