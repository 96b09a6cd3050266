"""Nodes: compare with the baseline, raise the alerts, derive the status, build and redact the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, get_args

from agents.credentials.spans import Span
from evaluation.checks.custom import CustomSource
from evaluation.measures.drift_signals import compare_with_baseline, read_measurements
from evaluation.measures.metric_table import DIRECTIONS, METRICS, Direction
from evaluation.plugins import Plugins
from evaluation.report.findings import (
    Alert,
    MetricOutcome,
    alert,
    build_group,
    build_outcome,
    limit_name,
    policy_alert,
)
from evaluation.report.redaction import UNSEARCHED, Redactor, build_excerpt
from evaluation.report.report_model import SCHEMA_VERSION
from evaluation.report.state import (
    NOTHING_ASKED,
    NOTHING_DECIDES,
    STATUS,
    EvaluationState,
    has_any_demand,
    has_ended_early,
    is_decided,
    judge_outcomes,
    metric_groups,
    metric_outcomes,
    read_demands,
    strictest_status,
)
from evaluation.sensitive.scanner import Search, find_sensitive
from evaluation.values import JsonObject, as_list, as_object


def detect_regressions_and_anomalies(state: EvaluationState, plugins: Plugins) -> EvaluationState:  # noqa: ARG001
    """Compare with the baseline, and raise an alert for every outcome that did not pass."""
    signals, compared = _compare_baseline(state)
    return {"drift_signals": signals, "alerts": alerts_of(state, compared, signals)}


def _compare_baseline(state: EvaluationState) -> tuple[JsonObject, list[MetricOutcome]]:
    baseline = state["baseline_metrics"]
    if baseline is None:
        return {"status": "not_applicable", "reason": "there is no baseline", "signals": []}, []
    rules = read_demands(state).rules.drift
    run = {"metrics": metric_groups(state), "judge": {"result": state["judge_result"]}}
    current = read_measurements(run, METRICS)
    resources: dict[str, Direction] = {name: "lower" for name in current if name not in METRICS}
    return compare_with_baseline(current, baseline, rules, {**DIRECTIONS, **resources})


def alerts_of(state: EvaluationState, compared: Sequence[MetricOutcome], signals: JsonObject) -> list[Alert]:
    """List every alert of a run, the most severe first, then in the order of the report."""
    default_owner = read_demands(state).rules.owner
    policy = [policy_alert(finding, default_owner) for finding in state["audit_findings"]]
    outcomes = [*metric_outcomes(state), *judge_outcomes(state)]
    unanswered = _find_unanswered(state, outcomes, signals)
    everything = (*state.get("record_checks", ()), *_without_settled(state, outcomes), *unanswered, *compared)
    # Not only False: a question without an answer must not look like a pass.
    failed = [alert(outcome, default_owner) for outcome in everything if outcome["passed"] is not True]
    return sorted([*policy, *failed], key=lambda each: _ORDER[each["severity"]])


_ORDER = {"critical": 0, "warning": 1, "info": 2}


def _without_settled(state: EvaluationState, outcomes: Sequence[MetricOutcome]) -> Sequence[MetricOutcome]:
    """Leave out the inconclusive outcomes if a judge has decided."""
    settled = (state["judge_result"] or {}).get("passed") is not None
    return [outcome for outcome in outcomes if outcome["kind"] != "inconclusive"] if settled else outcomes


def _find_unanswered(
    state: EvaluationState, outcomes: Sequence[MetricOutcome], signals: JsonObject
) -> Iterator[MetricOutcome]:
    """Report a run without any answered question, which must not pass."""
    if has_ended_early(state):
        return
    if not has_any_demand(state) and state["judge_result"] is None:
        yield build_outcome("inconclusive", "contract", None, "warning", NOTHING_ASKED)
    elif not (is_decided(state, outcomes) or signals.get("decisive")):
        yield build_outcome("inconclusive", "contract", None, "warning", NOTHING_DECIDES)


def decide_evaluation_status(state: EvaluationState, plugins: Plugins) -> EvaluationState:  # noqa: ARG001
    """Take the strictest status that any alert asks for: no approval outweighs a failure."""
    return {
        "evaluation_status": strictest_status((alert["kind"], alert["severity"]) for alert in state["alerts"])
    }


_METRICS: Final = frozenset(
    name for metric in METRICS for name in (metric, limit_name(metric), limit_name(metric, "minimum"))
)
"""Metric names, which are never redacted."""
_QUOTED: Final = 3
"""Number of reasons in a summary."""
_NOTHING: Final = "No action needed."
_ADDED_FIELDS: Final = ("errors", "judge_decision", "judge_result")
"""Fields with data from outside that was added after the search of the case."""
_OUTSIDE_FIELDS: Final = (
    "input",
    "case_id",
    "agent_run",
    "run_metadata",
    "contract",
    "thresholds",
    "rubric",
    "baseline_metrics",
    *_ADDED_FIELDS,
)
"""Fields with data from outside."""


def finalize_report(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Build the report and redact all that it quotes."""
    is_harmless = not (state.get("may_be_sensitive", True) or plugins.recognizers)
    # A judge's answer and the errors came after the search of the case, so they are searched in any case.
    added = _ADDED_FIELDS if state["judge_result"] is not None else ("errors",)
    sources = [
        *_outside_values(state, added if is_harmless else _OUTSIDE_FIELDS),
        # What the user's code said, for instance the text of an exception.
        *(result for result in state["check_results"] if result["source"] in get_args(CustomSource)),
    ]
    # Built of all values before any is redacted: one part of a run may give away a value in another.
    redactor = Redactor.of(sources, plugins.recognizers, _METRICS)
    if redactor.permitted is not None:
        state = {**state, "errors": [*state["errors"], UNSEARCHED]}
    update: EvaluationState = {
        "alerts": state["alerts"],
        "errors": state["errors"],
        "evaluation_report": build_report(state),
    }
    return redactor.clean(update)


def _outside_values(state: EvaluationState, names: Iterable[str]) -> Iterator[object]:
    """Yield the data from outside; the run field by field, so that a search can skip harmless fields."""
    for name in names:
        value = state.get(name)
        if name == "agent_run" and isinstance(value, Mapping):
            yield from ({field: part} for field, part in value.items())
        elif value:
            yield value


def build_report(state: EvaluationState) -> JsonObject:
    """Build the report of a state."""
    # Nothing is found in a part of a case in which there is nothing.
    search = find_sensitive if state.get("may_be_sensitive", True) else _find_nothing
    failures = _failures(state)
    return {
        "schema_version": SCHEMA_VERSION,
        "status": state["evaluation_status"],
        "summary": _summarize(state, failures),
        "input": state["input"],
        "case_id": state["case_id"],
        "checks": state["check_results"],
        "metrics": {name: _quote_mismatches(values, search) for name, values in metric_groups(state).items()},
        "audit_findings": state["audit_findings"],
        "judge": _build_judge_report(state),
        "drift_signals": {key: value for key, value in state["drift_signals"].items() if key != "checks"},
        "alerts": state["alerts"],
        "failures": failures,
        "evidence": _build_evidence(state, search),
        "errors": state["errors"],
        "recommended_action": state["alerts"][0]["recommended_action"] if state["alerts"] else _NOTHING,
    }


def _quote_mismatches(values: JsonObject, search: Search) -> JsonObject:
    """Return a metric group with its differing arguments quoted as evidence."""
    if not values:
        return build_group({}, [])
    mismatches = [
        {
            **fields,
            "expected": build_excerpt(fields.get("expected"), search=search),
            "actual": build_excerpt(fields.get("actual"), search=search),
        }
        for fields in map(as_object, as_list(values.get("argument_mismatches")))
    ]
    return {**values, "argument_mismatches": mismatches} if mismatches else values


def _build_judge_report(state: EvaluationState) -> JsonObject:
    decision, result = state["judge_decision"], state["judge_result"]
    return {
        "needed": decision.get("needed", False),
        "called": decision.get("called", False),
        "reason": decision.get("reason", "the case was not evaluated"),
        "usage": decision.get("usage", {}),
        "result": result if result is None else {key: result[key] for key in result if key != "checks"},
    }


def _failures(state: EvaluationState) -> list[str]:
    """List the reasons of all alerts that keep the run from passing."""
    return [
        alert["reason"] for alert in state["alerts"] if STATUS[alert["kind"]][alert["severity"]] != "passed"
    ]


def _summarize(state: EvaluationState, failures: Sequence[str]) -> str:
    status = state["evaluation_status"]
    if not failures:
        return f"{status}: {_count_checks(state)}"
    more = len(failures) - _QUOTED
    rest = f" And {more} more." if more > 0 else ""
    return f"{status}: {' '.join(failures[:_QUOTED])}{rest}"


def _count_checks(state: EvaluationState) -> str:
    checks = metric_outcomes(state)
    judge = "the judge" if state["judge_decision"].get("called") else "a fake judge response"
    judged = f", {judge} approved" if (state["judge_result"] or {}).get("passed") is True else ""
    return f"{len(checks)} check{'' if len(checks) == 1 else 's'}, none failed{judged}"


def _build_evidence(state: EvaluationState, search: Search) -> list[object]:
    if "final_output" not in state["agent_run"]:
        return []
    output = state["actual_output"]
    is_recorded = state["agent_run"]["final_output"] == output
    search = search if is_recorded else find_sensitive
    return [{"of": "final_output", **build_excerpt(output, search=search)}]


def _find_nothing(text: str) -> tuple[Span, ...]:  # noqa: ARG001
    return ()
