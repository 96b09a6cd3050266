"""Computes the cost of judging: of one call, and of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from evaluation.plugins import Price
from evaluation.values import JsonObject

_SUMMED: Final = ("input_tokens", "output_tokens", "cost_usd")


def add_cost(usage: JsonObject, prices: Mapping[str, Price]) -> JsonObject:
    """Adds ``cost_usd``, estimated from the tokens, if no cost is reported and the model has a price."""
    price = prices.get(str(usage.get("model")))
    sent, received = _read_amount(usage.get("input_tokens")), _read_amount(usage.get("output_tokens"))
    if price is None or "cost_usd" in usage or sent is None or received is None:
        return usage
    cost = (sent * price.input_usd + received * price.output_usd) / 1e6
    return {**usage, "cost_usd": cost, "cost_source": "estimated"}


def sum_usage(usages: Sequence[JsonObject]) -> JsonObject:
    """Sums the usage of several calls.

    Returns:
        ``calls``, the sums of the reported numbers, ``model`` (or ``models``, if there are several), and
        ``unreported``: the number of calls without tokens, which the sums lack.
    """
    amounts = {name: _read_amounts(name, usages) for name in _SUMMED}
    sums = {name: sum(values) for name, values in amounts.items() if values}
    silent = sum(_read_amount(usage.get("input_tokens")) is None for usage in usages)
    unreported = {"unreported": silent} if silent else {}
    return {"calls": len(usages), **sums, **_name_models(usages), **unreported}


def _name_models(usages: Sequence[JsonObject]) -> JsonObject:
    names = sorted({name for usage in usages if isinstance(name := usage.get("model"), str)})
    if len(names) == 1:
        return {"model": names[0]}
    return {"models": names} if names else {}


def _read_amounts(name: str, usages: Sequence[JsonObject]) -> list[float]:
    return [amount for usage in usages if (amount := _read_amount(usage.get(name))) is not None]


def _read_amount(value: object) -> float | None:
    # bool is a subclass of int.
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
