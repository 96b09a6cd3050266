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
        ``calls``, the sums of the reported numbers, ``model`` (the names, if there are several), and
        ``unreported``: the number of calls without tokens, which the sums lack.
    """
    amounts = {name: [_read_amount(usage.get(name)) for usage in usages] for name in _SUMMED}
    known = {name: [amount for amount in values if amount is not None] for name, values in amounts.items()}
    sums: JsonObject = {name: sum(values) for name, values in known.items() if values}
    models = sorted({str(usage["model"]) for usage in usages if usage.get("model")})
    silent = amounts["input_tokens"].count(None)
    named = {"model": ", ".join(models)} if models else {}
    return {"calls": len(usages), **sums, **named, **({"unreported": silent} if silent else {})}


def _read_amount(value: object) -> float | None:
    # bool is a subclass of int.
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
