"""The budget of a run, and the usage of models that it bounds; the base class of the settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from evaluation.cases.case_files import parse_yaml, read_values
from evaluation.plugins import Price
from evaluation.sensitive.scanner import shorten
from orchestrator.errors import ConfigurationError
from orchestrator.state.records import Usage

# A store takes no number of more than 64 bits.
Count: TypeAlias = Annotated[
    int, Field(ge=0, lt=2**63, description="a whole number of at least 0 and below 2**63")
]
PositiveCount: TypeAlias = Annotated[
    int, Field(ge=1, lt=2**63, description="a whole number of at least 1 and below 2**63")
]
Seconds: TypeAlias = Annotated[
    int | float | None, Field(gt=0, description="seconds above 0, or leave it out for no bound")
]
Flag: TypeAlias = Annotated[bool, Field(description="True or False")]


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
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"{where} cannot be used ({told}); give YAML such as {example}") from None
    if isinstance(values, dict):
        return values
    raise ConfigurationError(
        f"{where} is {shorten(repr(values), 80)}; give an object such as {example}, or the Path of a file"
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
    return f"{place} is {value}; give {accepted}"


_AmountBound: TypeAlias = Annotated[
    int | float | None, Field(gt=0, lt=math.inf, description="a number above 0, or leave it out for no bound")
]
CountBound: TypeAlias = Annotated[
    int | None, Field(ge=1, description="a whole number of at least 1, or leave it out for no bound")
]


class Budget(SettingsModel):
    """Upper bounds of a run; None is no bound. A run that reaches one ends as failed and keeps its results.

    Attributes:
        max_seconds: Time on the clock for the whole run.
        max_total_tokens: Input and output together. A call is not prevented by what it may use, so
            the last one can exceed the bound. A model that reports no usage ends the run.
        max_model_calls: Calls of chat models, failed ones included; never exceeded.
        max_cost_usd: Needs ``prices``; a model without a price ends the run.
        prices: By model name, as LangChain reports it.

    Raises:
        ConfigurationError: A bound is not positive, or ``max_cost_usd`` is given without prices.
    """

    max_seconds: _AmountBound = None
    max_total_tokens: CountBound = None
    max_model_calls: CountBound = None
    max_cost_usd: _AmountBound = None
    prices: Annotated[
        Mapping[str, Price],
        Field(description="{'model name': Price(input_usd=..., output_usd=...)}"),
    ] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_prices(self) -> Self:
        if self.max_cost_usd is not None and not self.prices:
            raise ValueError(
                "max_cost_usd is given without prices; "
                "add prices={'model name': Price(input_usd=..., output_usd=...)}"
            )
        return self

    def find_call_refusal(self, spent: Usage, running: int = 0) -> str | None:
        """Returns why the next model call is not allowed; None if it is.

        Args:
            spent: Usage of the calls that have ended.
            running: Number of calls that have not ended.
        """
        if self.max_model_calls is not None and spent["model_calls"] + running >= self.max_model_calls:
            return f"max_model_calls is {self.max_model_calls} and all were made"
        return self.find_excess(spent, reached=True)

    def find_excess(self, spent: Usage, *, reached: bool = False) -> str | None:
        """Returns which bound the usage exceeds (with ``reached``: exceeds or equals); None if none."""
        # A call that failed reports no usage, and that alone must not end the run.
        if spent["model_calls"] == spent["failed_model_calls"]:
            return None
        tokens = _compare_bound(
            "max_total_tokens", self.max_total_tokens, spent["total_tokens"], reached=reached
        )
        return tokens or _compare_bound("max_cost_usd", self.max_cost_usd, spent["cost_usd"], reached=reached)


def _compare_bound(name: str, bound: float | None, spent: float | None, *, reached: bool) -> str | None:
    if bound is None:
        return None
    if spent is None:
        return f"{name} is {bound} and cannot be checked: a model call reported no usage or has no price"
    is_over = spent >= bound if reached else spent > bound
    return f"{name} is {bound} and {spent} were used" if is_over else None
