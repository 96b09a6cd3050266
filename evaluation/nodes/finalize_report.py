"""Node: the report, and the one place where evidence is redacted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from evaluation.metrics.registry import METRICS
from evaluation.plugins import Plugins
from evaluation.results.findings import build_group
from evaluation.results.redaction import UNSEARCHED, Redactor, build_excerpt, find_nothing
from evaluation.results.report import SCHEMA_VERSION
from evaluation.results.state import EvaluationState
from evaluation.results.status import STATUS, metric_groups
from evaluation.results.thresholds import limit_name
from evaluation.values import JsonObject, as_list

_METRICS: Final = frozenset(
    name for metric in METRICS for name in (metric, limit_name(metric), limit_name(metric, "minimum"))
)
"""The names that are told of a run whatever it holds."""
_QUOTED: Final = 3
"""Reasons that a summary quotes."""
_NOTHING: Final = "No action needed."
_LATER: Final = ("errors", "judge_result")
"""The fields that hold what came from outside after the case was searched."""
_SOURCES: Final = (
    "input",
    "case_id",
    "agent_run",
    "run_metadata",
    "contract",
    "thresholds",
    "rubric",
    "baseline_metrics",
    *_LATER,
)
"""The fields that hold what came from outside."""

Quote = Callable[[object], object]


def finalize_report(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Put the report together; whatever it quotes is redacted here, and nowhere else."""
    harmless = not (state.get("may_be_sensitive", True) or plugins.recognizers)
    quote: Quote = _raw if plugins.include_raw else _harmless if harmless else build_excerpt
    told = _told(state, quote)
    sources = [*_sources(state, _LATER if harmless else _SOURCES)]
    if plugins.include_raw or not sources:
        return told
    redactor = Redactor.of(sources, plugins.recognizers, _METRICS)
    return redactor.clean(_withholding(state, quote) if redactor.withholds else told)


def _withholding(state: EvaluationState, quote: Quote) -> EvaluationState:
    """Say among the errors why hardly anything of a run is told."""
    saying: EvaluationState = {**state, "errors": [*state["errors"], UNSEARCHED]}
    return _told(saying, quote)


def _told(state: EvaluationState, quote: Quote) -> EvaluationState:
    return {
        "alerts": state["alerts"],
        "errors": state["errors"],
        "evaluation_report": report_of(state, quote),
    }


def _sources(state: EvaluationState, names: Iterable[str]) -> Iterator[object]:
    """Yield what came from outside; a run field by field, so that only what needs it is searched."""
    for name in names:
        value = state.get(name)
        if name == "agent_run" and isinstance(value, Mapping):
            yield from ({field: part} for field, part in value.items())
        elif value:
            yield value


_harmless: Quote = partial(build_excerpt, search=find_nothing)


def report_of(state: EvaluationState, quote: Quote) -> JsonObject:
    """Lay the findings of a state out as a report; ``quote`` says how evidence is shown."""
    return {
        "schema_version": SCHEMA_VERSION,
        "status": state["evaluation_status"],
        "summary": _summary(state),
        "input": state["input"],
        "case_id": state["case_id"],
        "metrics": {name: _shown(values, quote) for name, values in metric_groups(state).items()},
        "audit_findings": state["audit_findings"],
        "judge": _judge(state),
        "drift_signals": {key: value for key, value in state["drift_signals"].items() if key != "checks"},
        "alerts": state["alerts"],
        "failures": _failures(state),
        "evidence": _evidence(state, quote),
        "errors": state["errors"],
        "recommended_action": state["alerts"][0]["recommended_action"] if state["alerts"] else _NOTHING,
    }


def _shown(values: JsonObject, quote: Quote) -> JsonObject:
    """Show a metric group; arguments that differed are quoted as evidence is."""
    if not values:
        return build_group({}, {}, [])
    found = values.get("argument_mismatches")
    if not isinstance(found, list) or not found:
        return values
    return {**values, "argument_mismatches": [_mismatch(one, quote) for one in found]}


def _mismatch(one: object, quote: Quote) -> JsonObject:
    shown = dict(one) if isinstance(one, Mapping) else {}
    return {**shown, **{side: quote(shown.get(side)) for side in ("expected", "actual")}}


def _judge(state: EvaluationState) -> JsonObject:
    decision, result = state["judge_decision"], state["judge_result"]
    return {
        "needed": decision.get("needed", False),
        "called": decision.get("called", False),
        "reason": decision.get("reason", "the case was not evaluated"),
        "usage": decision.get("usage", {}),
        "result": result if result is None else {key: result[key] for key in result if key != "checks"},
    }


def _failures(state: EvaluationState) -> list[str]:
    """List the reasons of all alerts that keep a run from passing."""
    return [one["reason"] for one in state["alerts"] if STATUS[one["kind"]][one["severity"]] != "passed"]


def _summary(state: EvaluationState) -> str:
    failures = _failures(state)
    status = state["evaluation_status"]
    if not failures:
        return f"{status}: {_counted(state)}"
    more = len(failures) - _QUOTED
    rest = f"; and {more} more" if more > 0 else ""
    return f"{status}: {'; '.join(failures[:_QUOTED])}{rest}"


def _counted(state: EvaluationState) -> str:
    checks = [one for values in metric_groups(state).values() for one in as_list(values.get("checks"))]
    judged = ", the judge approved" if (state["judge_result"] or {}).get("passed") is True else ""
    return f"{len(checks)} checks, none failed{judged}"


def _evidence(state: EvaluationState, quote: Quote) -> list[object]:
    if "final_output" not in state["agent_run"]:
        return []
    shown = quote(state["actual_output"])
    return [
        {"of": "final_output", **shown}
        if isinstance(shown, Mapping)
        else {"of": "final_output", "raw": shown}
    ]


def _raw(value: object) -> object:
    return value
