"""What a run cost: time, tokens, money, calls; each value measured, estimated or missing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from evaluation.plugins import Price
from evaluation.results.findings import MetricOutcome, Unscored, build_group, missing_data, not_applicable
from evaluation.results.state import Action
from evaluation.results.thresholds import compare_with_bound, limits_by_name, unanswered_bound
from evaluation.values import JsonObject

Source = Literal["measured", "estimated", "missing"]

QUANTITIES: Final = (
    "latency_ms",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cost_usd",
    "model_calls",
    "tool_calls",
    "tool_errors",
    "retries",
)
"""The values that every report lists, as a number or as missing."""
_PER_CALL: Final = ("mean", "p50", "p95", "max")
OPERATIONAL_METRICS: Final[Mapping[str, Literal["higher", "lower"]]] = dict.fromkeys(
    (
        *QUANTITIES,
        *(f"call_latency_{part}_ms" for part in _PER_CALL),
        *(f"tool_latency_{part}_ms" for part in _PER_CALL),
    ),
    "lower",
)


class Quantity(NamedTuple):
    """One value and where it comes from."""

    value: float
    source: Source = "measured"


def operational(
    metadata: JsonObject,
    actions: Sequence[Action] | None,
    bounds: Mapping[str, JsonObject],
    prices: Mapping[str, Price],
) -> JsonObject:
    """Score what a run cost against its limits.

    Args:
        metadata: The recorded quantities by name (see ``runs.Measured``).
        actions: What was done; None where the run does not say.
        bounds: Normalised thresholds of this group by metric.
        prices: US dollars for a million tokens by model.

    Returns:
        The metric group, with ``sources`` (measured, estimated or missing by quantity) and each limit beside
        its value.
    """
    found = quantities(metadata, actions, prices)
    checks = [_judged(metric, bound, found) for metric, bound in bounds.items()]
    values: dict[str, object] = {name: quantity.value for name, quantity in found.items()}
    facts = {**limits_by_name(bounds), "sources": _sources(found, bounds)}
    return build_group(values, _absent(found, bounds), checks, facts)


def quantities(
    metadata: JsonObject, actions: Sequence[Action] | None, prices: Mapping[str, Price]
) -> dict[str, Quantity]:
    """Collect every value that a run states, and those that follow from them."""
    guessed = _names(metadata.get("estimated"))
    found = {
        name: Quantity(value, "estimated" if name in guessed else "measured")
        for name, value in _numbers(metadata)
    }
    if actions is not None:
        found.update(_of_actions(actions))
    latencies = _floats(metadata.get("call_latencies_ms"))
    if latencies:
        found.update(_spread("call_latency", latencies))
        found.setdefault("model_calls", Quantity(len(latencies)))
    _derive_total(found)
    _derive_cost(found, prices.get(str(metadata.get("model"))))
    return found


def percentile(ordered: Sequence[float], share: float) -> float:
    """Give the quantile of sorted values by linear interpolation (Hyndman and Fan 1996, type 7)."""
    at = (len(ordered) - 1) * share
    low, high = ordered[math.floor(at)], ordered[math.ceil(at)]
    return low + (high - low) * (at - math.floor(at))


def _numbers(metadata: JsonObject) -> Iterable[tuple[str, float]]:
    resources = metadata.get("resources")
    for name in QUANTITIES:
        value = metadata.get(name)
        if isinstance(value, (int, float)):
            yield name, value
    if isinstance(resources, Mapping):
        for name, value in resources.items():
            if name not in OPERATIONAL_METRICS and isinstance(value, (int, float)):
                yield str(name), value


def _of_actions(actions: Sequence[Action]) -> dict[str, Quantity]:
    calls = [action for action in actions if action["kind"] == "tool"]
    latencies = [ms for action in calls if (ms := action["latency_ms"]) is not None]
    errors = sum(action["error"] is not None for action in calls)
    counted = {"tool_calls": Quantity(len(calls)), "tool_errors": Quantity(errors)}
    return {**counted, **_spread("tool_latency", latencies)} if latencies else counted


def _spread(name: str, values: Sequence[float]) -> dict[str, Quantity]:
    ordered = sorted(values)
    parts = (
        _mean(ordered),
        percentile(ordered, 0.5),
        percentile(ordered, 0.95),
        ordered[-1],
    )
    return {f"{name}_{part}_ms": Quantity(value) for part, value in zip(_PER_CALL, parts, strict=True)}


def _mean(values: Sequence[float]) -> float:
    try:
        return math.fsum(values) / len(values)
    except OverflowError:  # the sum is too large a number, and the mean is none
        return math.fsum(value / len(values) for value in values)


def _derive_total(found: dict[str, Quantity]) -> None:
    parts = [found[name] for name in ("input_tokens", "output_tokens") if name in found]
    if len(parts) == 2 and "total_tokens" not in found:  # noqa: PLR2004 - both of the two
        found["total_tokens"] = Quantity(sum(part.value for part in parts), _weakest(parts))


def _derive_cost(found: dict[str, Quantity], price: Price | None) -> None:
    if price is None or "cost_usd" in found or not {"input_tokens", "output_tokens"} <= found.keys():
        return
    cost = (
        found["input_tokens"].value * price.input_usd + found["output_tokens"].value * price.output_usd
    ) / 1e6
    if math.isfinite(cost):
        found["cost_usd"] = Quantity(cost, "estimated")


def _weakest(parts: Iterable[Quantity]) -> Source:
    return "estimated" if any(part.source == "estimated" for part in parts) else "measured"


def _judged(metric: str, bound: JsonObject, found: Mapping[str, Quantity]) -> MetricOutcome:
    if metric not in found:
        return unanswered_bound(metric, bound, "the run does not record it")
    return compare_with_bound("operational", metric, found[metric].value, bound, "warning")


def _absent(found: Mapping[str, Quantity], bounds: Mapping[str, JsonObject]) -> dict[str, Unscored]:
    asked = {name: missing_data("not recorded") for name in bounds if name not in found}
    rest = {
        name: not_applicable("not recorded, and no threshold asks for it")
        for name in QUANTITIES
        if name not in found and name not in asked
    }
    return {**asked, **rest}


def _sources(found: Mapping[str, Quantity], bounds: Mapping[str, JsonObject]) -> dict[str, Source]:
    known: dict[str, Source] = {name: quantity.source for name, quantity in found.items()}
    missing: dict[str, Source] = {name: "missing" for name in (*QUANTITIES, *bounds) if name not in found}
    return {**known, **missing}


def _names(value: object) -> frozenset[str]:
    return frozenset(str(name) for name in value) if isinstance(value, list) else frozenset()


def _floats(value: object) -> list[float]:
    numbers = value if isinstance(value, list) else ()
    return [float(part) for part in numbers if isinstance(part, (int, float))]
