"""What a run may spend, and whether it has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from orchestrator.errors import ConfigurationError
from orchestrator.state.graph_state import Usage


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """US dollars for a million tokens."""

    input_usd: float
    output_usd: float

    def __post_init__(self) -> None:
        """Refuse what is no price.

        Raises:
            ConfigurationError: A price that is no number of at least 0.
        """
        for name, value in (("input_usd", self.input_usd), ("output_usd", self.output_usd)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise ConfigurationError(f"{name} is {value!r}; give US dollars of at least 0")

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """US dollars for one call."""
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / 1e6


@dataclass(frozen=True, slots=True)
class Budget:
    """Upper bounds of a run; None is no bound. A run that reaches one ends as failed and keeps its results.

    Attributes:
        max_seconds: Time on the clock for the whole run.
        max_total_tokens: Input and output together. A call is not prevented by what it may use, so
            the last one can go past the bound. A model that reports no usage ends the run.
        max_model_calls: Calls of chat models, failed ones included; never exceeded.
        max_cost_usd: Needs ``prices``; a model without a price ends the run.
        prices: By model name, as LangChain reports it.

    Raises:
        ConfigurationError: A bound that is not positive, or a cost without prices.
    """

    max_seconds: float | None = None
    max_total_tokens: int | None = None
    max_model_calls: int | None = None
    max_cost_usd: float | None = None
    prices: Mapping[str, ModelPrice] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse bounds that make no sense."""
        _check_number("max_seconds", self.max_seconds, whole=False)
        _check_number("max_total_tokens", self.max_total_tokens, whole=True)
        _check_number("max_model_calls", self.max_model_calls, whole=True)
        _check_number("max_cost_usd", self.max_cost_usd, whole=False)
        _check_prices(self.prices)
        if self.max_cost_usd is not None and not self.prices:
            raise ConfigurationError(
                "max_cost_usd is given without prices; "
                "add prices={'model name': ModelPrice(input_usd=..., output_usd=...)}"
            )

    def next_call_refused(self, spent: Usage, running: int = 0) -> str | None:
        """Why no further model call is allowed; None if one is.

        Args:
            spent: By the calls that ended.
            running: Calls under way.
        """
        if self.max_model_calls is not None and spent["model_calls"] + running >= self.max_model_calls:
            return f"max_model_calls is {self.max_model_calls} and all were made"
        return self.exceeded(spent, reached=True)

    def exceeded(self, spent: Usage, *, reached: bool = False) -> str | None:
        """Why what was spent is too much (or, with ``reached``, leaves nothing); None if it is not."""
        if spent["model_calls"] == spent["failed_model_calls"]:
            return None
        tokens = _over("max_total_tokens", self.max_total_tokens, spent["total_tokens"], reached=reached)
        return tokens or _over("max_cost_usd", self.max_cost_usd, spent["cost_usd"], reached=reached)


def _over(name: str, bound: float | None, spent: float | None, *, reached: bool) -> str | None:
    if bound is None:
        return None
    if spent is None:
        return f"{name} is {bound} and cannot be kept: a model call reported no usage, or has no price"
    over = spent >= bound if reached else spent > bound
    return f"{name} is {bound} and {spent} were used" if over else None


def _check_prices(prices: object) -> None:
    if isinstance(prices, Mapping) and all(isinstance(price, ModelPrice) for price in prices.values()):
        return
    raise ConfigurationError(
        f"prices is {prices!r:.80}; give {{'model name': ModelPrice(input_usd=..., output_usd=...)}}"
    )


def _check_number(name: str, value: object, *, whole: bool) -> None:
    if value is None:
        return
    kinds = (int,) if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not (0 < value < math.inf):
        wanted = "a whole number of at least 1" if whole else "a number above 0"
        raise ConfigurationError(f"{name} is {value!r}; give {wanted}, or None for no bound")
