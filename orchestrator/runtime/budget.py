"""Budget: upper bounds of a run, and the check whether its usage exceeds them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Self, TypeAlias

from pydantic import Field, model_validator

from orchestrator.runtime.settings_model import SettingsModel
from orchestrator.state.usage import Usage

_Price: TypeAlias = Annotated[float, Field(ge=0, lt=math.inf, description="US dollars of at least 0")]
_AmountBound: TypeAlias = Annotated[
    int | float | None, Field(gt=0, lt=math.inf, description="a number above 0, or leave it out for no bound")
]
_CountBound: TypeAlias = Annotated[
    int | None, Field(ge=1, description="a whole number of at least 1, or leave it out for no bound")
]


class ModelPrice(SettingsModel):
    """US dollars for a million tokens.

    Raises:
        ConfigurationError: A price is not a number of at least 0.
    """

    input_usd: _Price
    output_usd: _Price

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Returns the US dollars for one call."""
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / 1e6


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
    max_total_tokens: _CountBound = None
    max_model_calls: _CountBound = None
    max_cost_usd: _AmountBound = None
    prices: Annotated[
        Mapping[str, ModelPrice],
        Field(description="{'model name': ModelPrice(input_usd=..., output_usd=...)}"),
    ] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_prices(self) -> Self:
        if self.max_cost_usd is not None and not self.prices:
            raise ValueError(
                "max_cost_usd is given without prices; "
                "add prices={'model name': ModelPrice(input_usd=..., output_usd=...)}"
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
