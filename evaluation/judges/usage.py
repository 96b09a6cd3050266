"""What judging cost: by one call, and by several together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from evaluation.plugins import Price
from evaluation.values import JsonObject

_SUMMED: Final = ("input_tokens", "output_tokens", "cost_usd")


def costed(usage: JsonObject, prices: Mapping[str, Price]) -> JsonObject:
    """Add ``cost_usd``, estimated from the tokens, where the model has a price and no cost is told."""
    price = prices.get(str(usage.get("model")))
    sent, received = _amount(usage.get("input_tokens")), _amount(usage.get("output_tokens"))
    if price is None or "cost_usd" in usage or sent is None or received is None:
        return usage
    cost = (sent * price.input_usd + received * price.output_usd) / 1e6
    return {**usage, "cost_usd": cost, "cost_source": "estimated"}


def together(usages: Sequence[JsonObject]) -> JsonObject:
    """Sum what several calls cost.

    Returns:
        ``calls``, the sums of what was told, ``model`` (or ``models``, if several), and under ``unreported``
        how many calls did not tell their tokens: the sums lack those.
    """
    told = {name: _amounts(name, usages) for name in _SUMMED}
    sums = {name: sum(amounts) for name, amounts in told.items() if amounts}
    silent = sum(_amount(one.get("input_tokens")) is None for one in usages)
    rest = {"unreported": silent} if silent else {}
    return {"calls": len(usages), **sums, **_models(usages), **rest}


def _models(usages: Sequence[JsonObject]) -> JsonObject:
    names = sorted({name for one in usages if isinstance(name := one.get("model"), str)})
    if len(names) == 1:
        return {"model": names[0]}
    return {"models": names} if names else {}


def _amounts(name: str, usages: Sequence[JsonObject]) -> list[float]:
    return [amount for one in usages if (amount := _amount(one.get(name))) is not None]


def _amount(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
