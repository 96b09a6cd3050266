"""Node: scores time, tokens, money and calls of a run; each value is measured, estimated or missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from evaluation.findings import (
    Finding,
    Unscored,
    build_group,
    compare_with_bound,
    limits_by_name,
    missing_data,
    not_applicable,
)
from evaluation.measures.metric_table import OPERATIONAL_METRICS, QUANTITIES, select_operational
from evaluation.plugins import Plugins, Price
from evaluation.report.report_model import Action, EvaluationState
from evaluation.values import JsonObject, as_list, as_object

Source = Literal["measured", "estimated", "missing"]


class Quantity(NamedTuple):
    """One value and its source."""

    value: float
    source: Source = "measured"


def score_operational_metrics(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Check latency, tokens, cost, calls and custom resources against their thresholds."""
    run, metadata = state["agent_run"], state["run_metadata"]
    actions = state["actual_trajectory"] if "tool_calls" in run else None
    bounds = select_operational(state["thresholds"], as_object(metadata.get("resources")))
    metrics, findings = score_operational(metadata, actions, bounds, plugins.prices)
    return {"operational_metrics": metrics, "findings": [*state["findings"], *findings]}


def score_operational(
    metadata: JsonObject,
    actions: Sequence[Action] | None,
    bounds: Mapping[str, JsonObject],
    prices: Mapping[str, Price],
) -> tuple[JsonObject, list[Finding]]:
    """Score the cost of a run against its limits.

    Args:
        metadata: The recorded quantities by name (see ``runs.Measured``).
        actions: The actions of the run; None if it does not record them.
        bounds: Normalised thresholds of this group by metric.
        prices: US dollars for a million tokens by model.

    Returns:
        The metric group, with ``sources`` (measured, estimated or missing by quantity) and the limits; and
        the findings about the limits.
    """
    known = collect_quantities(metadata, actions, prices)
    findings = [
        compare_with_bound(
            "operational",
            "operational",
            metric,
            known[metric].value if metric in known else missing_data(_explain_absence(metric)),
            bound,
            "warning",
        )
        for metric, bound in bounds.items()
    ]
    values = {name: quantity.value for name, quantity in known.items()}
    facts = {**limits_by_name(bounds), "sources": _list_sources(known, bounds)}
    return build_group({**values, **_explain_missing(known, bounds)}, findings, facts), findings


def collect_quantities(
    metadata: JsonObject, actions: Sequence[Action] | None, prices: Mapping[str, Price]
) -> dict[str, Quantity]:
    """Collect every recorded value, and the totals and costs that can be computed from them."""
    estimated = as_list(metadata.get("estimated"))
    known = {
        name: Quantity(value, "estimated" if name in estimated else "measured")
        for name, value in _read_recorded(metadata)
    }
    if actions is not None:
        known.update(_measure_actions(actions))
    recorded = as_list(metadata.get("call_latencies_ms"))
    latencies = [float(value) for value in recorded if isinstance(value, (int, float))]
    if latencies:
        known["call_latency_max_ms"] = Quantity(max(latencies))
        # A run that records one latency for each call has recorded the number of calls too.
        known.setdefault("model_calls", Quantity(len(latencies)))
    _derive_total(known)
    _derive_cost(known, prices.get(str(metadata.get("model"))))
    return known


def _read_recorded(metadata: JsonObject) -> Iterable[tuple[str, float]]:
    resources = as_object(metadata.get("resources"))
    custom = {name: value for name, value in resources.items() if name not in OPERATIONAL_METRICS}
    for name, value in ({name: metadata.get(name) for name in QUANTITIES} | custom).items():
        if isinstance(value, (int, float)):
            yield name, value


def _measure_actions(actions: Sequence[Action]) -> dict[str, Quantity]:
    calls = [action for action in actions if action["kind"] == "tool"]
    latencies = [ms for action in calls if (ms := action["latency_ms"]) is not None]
    errors = sum(action["error"] is not None for action in calls)
    counts = {"tool_calls": Quantity(len(calls)), "tool_errors": Quantity(errors)}
    return {**counts, "tool_latency_max_ms": Quantity(max(latencies))} if latencies else counts


def _derive_total(known: dict[str, Quantity]) -> None:
    parts = [known[name] for name in ("input_tokens", "output_tokens") if name in known]
    if len(parts) == 2 and "total_tokens" not in known:  # noqa: PLR2004 - both of the two
        source: Source = "estimated" if any(part.source == "estimated" for part in parts) else "measured"
        known["total_tokens"] = Quantity(sum(part.value for part in parts), source)


def _derive_cost(known: dict[str, Quantity], price: Price | None) -> None:
    if price is None or "cost_usd" in known or not {"input_tokens", "output_tokens"} <= known.keys():
        return
    cost = price.cost(known["input_tokens"].value, known["output_tokens"].value)
    known["cost_usd"] = Quantity(cost, "estimated")


def _explain_absence(metric: str) -> str:
    if metric in OPERATIONAL_METRICS:
        return "the run does not record it"
    return "it is no metric, and the run records no resource of this name"


def _explain_missing(known: Mapping[str, Quantity], bounds: Mapping[str, JsonObject]) -> dict[str, Unscored]:
    unasked = not_applicable("not recorded, and no threshold asks for it")
    return {
        name: missing_data("not recorded") if name in bounds else unasked
        for name in (*bounds, *QUANTITIES)
        if name not in known
    }


def _list_sources(known: Mapping[str, Quantity], bounds: Mapping[str, JsonObject]) -> dict[str, Source]:
    names = (*known, *QUANTITIES, *bounds)
    return {name: known[name].source if name in known else "missing" for name in names}
