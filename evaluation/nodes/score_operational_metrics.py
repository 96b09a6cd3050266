"""Node: scores time, tokens, money and calls of a run; each value is measured, estimated or missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from evaluation.findings import Score, Unscored, build_group, compare_with_bound, limits_by_name
from evaluation.measures.metric_table import METRICS, OPERATIONAL_METRICS, QUANTITIES
from evaluation.plugins import Plugins, Price
from evaluation.report.report_model import Action, EvaluationState, PreparedState

Source = Literal["measured", "estimated", "missing"]
_OTHER_GROUPS: Final = frozenset(METRICS) - frozenset(OPERATIONAL_METRICS)


def score_operational_metrics(state: PreparedState, plugins: Plugins) -> EvaluationState:
    """Check latency, tokens, cost, calls and custom resources against their thresholds.

    The metric group has ``sources`` (measured, estimated or missing by quantity) and the limits.
    """
    values, estimated = _collect_quantities(state, plugins.prices)
    # An unknown name is a custom resource.
    bounds = {name: bound for name, bound in state["thresholds"].items() if name not in _OTHER_GROUPS}
    absent = [name for name in (*QUANTITIES, *bounds) if name not in values]
    unscored = {name: _explain_absence(name, is_asked=name in bounds) for name in absent}
    scores: dict[str, Score] = {**values, **unscored}
    sources: dict[str, Source] = {name: "estimated" if name in estimated else "measured" for name in values}
    sources |= dict.fromkeys(absent, "missing")
    findings = [
        compare_with_bound("operational", "operational", metric, scores[metric], bound, "warning")
        for metric, bound in bounds.items()
    ]
    metrics = build_group(scores, findings, {**limits_by_name(bounds), "sources": sources})
    return {"operational_metrics": metrics, "findings": [*state["findings"], *findings]}


def _explain_absence(name: str, *, is_asked: bool) -> Unscored:
    if not is_asked:
        return Unscored(status="not_applicable", reason="not recorded, and no threshold asks for it")
    if name in OPERATIONAL_METRICS:
        return Unscored(status="missing_data", reason="the run does not record it")
    return Unscored(
        status="missing_data", reason="it is no metric, and the run records no resource of this name"
    )


def _collect_quantities(
    state: PreparedState, prices: Mapping[str, Price]
) -> tuple[dict[str, float], set[str]]:
    """Collect every recorded value, and the totals and costs that can be computed from them.

    Returns:
        The values, and the names of the estimated ones.
    """
    metadata = state["run_metadata"]
    resources: Mapping[str, float] = metadata.get("resources", {})
    values: dict[str, float] = {name: metadata[name] for name in QUANTITIES if name in metadata}
    values |= {name: value for name, value in resources.items() if name not in OPERATIONAL_METRICS}
    values |= _measure_actions(state["actual_trajectory"]) if "tool_calls" in state["agent_run"] else {}
    if latencies := metadata.get("call_latencies_ms"):
        # A run that records one latency for each call has recorded the number of calls too.
        values = {"model_calls": len(latencies), **values, "call_latency_max_ms": float(max(latencies))}
    estimated = {*metadata.get("estimated", ())} - {"tool_calls", "tool_errors"}
    return _derive_sums(values, estimated, prices.get(str(metadata.get("model"))))


def _measure_actions(actions: Sequence[Action]) -> dict[str, float]:
    calls = [action for action in actions if action["kind"] == "tool"]
    latencies = [ms for action in calls if (ms := action["latency_ms"]) is not None]
    errors = sum(action["error"] is not None for action in calls)
    slowest = {"tool_latency_max_ms": max(latencies)} if latencies else {}
    return {"tool_calls": len(calls), "tool_errors": errors, **slowest}


def _derive_sums(
    values: dict[str, float], estimated: set[str], price: Price | None
) -> tuple[dict[str, float], set[str]]:
    """Add the total of the tokens, and the cost that follows from a price."""
    sent, received = values.get("input_tokens"), values.get("output_tokens")
    if sent is None or received is None:
        return values, estimated
    derived = {"total_tokens": sent + received}
    if price is not None:
        derived["cost_usd"] = price.cost(sent, received)
    is_exact = estimated.isdisjoint(("input_tokens", "output_tokens"))
    guessed = derived.keys() - values.keys() - ({"total_tokens"} if is_exact else set())
    return {**derived, **values}, estimated | guessed
