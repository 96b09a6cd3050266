"""Node: builds the report, and redacts it; no other place does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, get_args

from evaluation.checks.custom import CustomSource
from evaluation.metrics.metric_table import METRICS
from evaluation.plugins import Plugins
from evaluation.results.findings import build_group
from evaluation.results.redaction import UNSEARCHED, Redactor, build_excerpt
from evaluation.results.report import SCHEMA_VERSION
from evaluation.results.state import EvaluationState
from evaluation.results.status import STATUS, metric_groups, metric_outcomes
from evaluation.results.thresholds import limit_name
from evaluation.sensitive.scanner import Search, find_sensitive
from evaluation.sensitive.spans import Span
from evaluation.values import JsonObject, as_list, as_object

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
