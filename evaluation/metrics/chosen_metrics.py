"""Leaves out the demands of a contract on metric groups that the caller does not want, and says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evaluation.inputs.contract import AUDIT_METRICS
from evaluation.metrics.collaboration import COLLABORATION_METRICS
from evaluation.metrics.metric_table import JUDGE_METRICS
from evaluation.metrics.response_scores import RESPONSE_METRICS
from evaluation.metrics.trajectory.scoring import TRAJECTORY_METRICS
from evaluation.plugins import MetricChoice, Plugins
from evaluation.results.alerts import join_names
from evaluation.results.findings import build_outcome
from evaluation.results.state import EvaluationState

_CONTENT: Final = ("required_content", "forbidden_content", "output_length")
_FIELDS: Final[Mapping[str, MetricChoice]] = {
    **dict.fromkeys(("reference_output", "keywords", *_CONTENT), "response"),
    **dict.fromkeys(("expected_trajectory", "trajectory", "must_call"), "trajectory"),
}
"""The group that a field of the contract belongs to."""
_METRICS: Final[Mapping[str, MetricChoice]] = {
    **dict.fromkeys(RESPONSE_METRICS, "response"),
    **dict.fromkeys((*TRAJECTORY_METRICS, *COLLABORATION_METRICS), "trajectory"),
}
_OF_ALL: Final = frozenset({*JUDGE_METRICS, *AUDIT_METRICS})


def leave_out_demands(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Return the state without the demands on other metric groups than the wanted one."""
    names = frozenset(_find_unwanted(state, plugins))
    if not names:
        return state
    thresholds = {name: bound for name, bound in state["thresholds"].items() if name not in names}
    contract = {name: value for name, value in state["contract"].items() if name not in names}
    reason = f"metrics={plugins.metrics!r} leaves out what the contract asks: {join_names(sorted(names))}"
    return {
        **state,
        "contract": {**contract, "thresholds": thresholds},
        "thresholds": thresholds,
        "reference_output": None if "reference_output" in names else state["reference_output"],
        "expected_trajectory": [] if "expected_trajectory" in names else state["expected_trajectory"],
        "record_checks": [
            *state["record_checks"],
            build_outcome("undecided", "contract", None, "info", reason),
        ],
    }


def _find_unwanted(state: EvaluationState, plugins: Plugins) -> Iterator[str]:
    """Yield the fields of the contract and the metrics with a threshold that are left out."""
    if plugins.metrics in {"all", "asked"}:
        return
    fields = (name for name in state["contract"] if name in _FIELDS)
    yield from (name for name in fields if plugins.leaves_out(_FIELDS[name]))
    bounds = (name for name in state["thresholds"] if name not in _OF_ALL)
    yield from (name for name in bounds if plugins.leaves_out(_METRICS.get(name, "operational")))
