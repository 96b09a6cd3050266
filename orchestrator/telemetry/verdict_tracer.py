"""The events of verdicts, by the semantic conventions for generative AI, and a span for each recorded run.

Source: https://github.com/open-telemetry/semantic-conventions-genai. It needs the extra ``[otel]``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from evaluation.cases.case_result import CaseResult
from evaluation.values import JsonObject, as_list, as_object
from orchestrator.errors import require_extra

with require_extra("otel"):
    from opentelemetry import context, trace

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

NAME: Final = "plan-execute-monitor"
PREFIX: Final = "plan_execute_monitor"
CONTENT: Final = "TRACELOOP_TRACE_CONTENT"
"""Texts are recorded only if this variable is "true"."""
_LABELS: Final[Mapping[float | None, str]] = {1.0: "passed", 0.0: "failed"}
_ID: Final = re.compile("[0-9a-f]{16}|[0-9a-f]{32}")


def add_results(span: trace.Span, verdict: JsonObject, report: JsonObject, response: str = "") -> None:
    """Adds an event ``gen_ai.evaluation.result`` for a verdict, for each check and for the judge's score.

    Args:
        span: The span of the run or attempt that was judged.
        verdict: The ``name`` and the ``label`` of the verdict, ``passed``, its ``basis`` and ``explanation``.
        report: The fields of its EvaluationReport, or some of them.
        response: The id of the reply that was judged; empty if it is not known.
    """
    checks = [as_object(each) for each in as_list(report.get("checks"))]
    judge = as_object(report.get("judge"))
    model = str(as_object(judge.get("usage")).get("model") or "model")
    # A verdict without a check is the one of the judge.
    is_judged = verdict.get("basis") == "judged" or (bool(judge.get("called")) and not checks)
    by = "person" if verdict.get("basis") == "approved" else model if is_judged else "code"
    _add_result(span, {**verdict, "by": by}, response)
    for check in checks:
        named = {"name": check["check"], "by": "code", "explanation": check["sentence"]}
        _add_result(span, {**check, **named}, response)
    if judge.get("called"):
        score = as_object(judge.get("result"))
        named = {"name": "judge", "by": model, "explanation": score.get("rationale")}
        _add_result(span, {**score, **named}, response)


def _add_result(span: trace.Span, event: JsonObject, response: str) -> None:
    passed = event.get("passed")
    known = float(passed) if isinstance(passed, bool) else None
    has_texts = os.environ.get(CONTENT) == "true"
    values = {
        "gen_ai.evaluation.name": event["name"],
        "gen_ai.evaluation.score.label": event.get("label", _LABELS.get(known, "undecided")),
        "gen_ai.evaluation.score.value": event.get("score", known),
        "gen_ai.evaluation.explanation": event.get("explanation") if has_texts else None,
        "gen_ai.response.id": response or None,
        f"{PREFIX}.evaluator": event["by"],
    }
    kept = {name: each for name, each in values.items() if isinstance(each, str | float)}
    span.add_event("gen_ai.evaluation.result", kept)


class VerdictTracer:
    """Makes a span of the verdict on each recorded run, below the span that the run was read from, if any.

    Args:
        tracer_provider: Makes the spans. Default: the global one.
    """

    def __init__(self, *, tracer_provider: trace.TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer(NAME, version(NAME), tracer_provider)

    def record(self, result: CaseResult) -> None:
        """Makes the span of a result."""
        span = self._tracer.start_span("evaluate", _find_parent(result.operation))
        named = {"case": result.name, "status": result.status, "basis": result.basis}
        span.set_attributes({f"{PREFIX}.{name}": value for name, value in named.items()})
        span.set_attribute(f"{PREFIX}.attempt", result.trial + 1)
        # Nothing is known of an accepted answer that nothing verifies.
        passed = None if result.accepted and not result.verified else result.accepted
        verdict = {"name": "evaluation", "label": result.status, "passed": passed, "basis": result.basis}
        reason = {"explanation": next(iter(result.reasons), None)}
        add_results(span, {**verdict, **reason}, result.report, result.operation.get("response_id", ""))
        span.end()


def _find_parent(operation: Mapping[str, str]) -> context.Context | None:
    ids = [operation.get(name, "") for name in ("trace_id", "span_id")]
    if not all(map(_ID.fullmatch, ids)):
        return None
    trace_id, span_id = (int(each, 16) for each in ids)
    place = trace.SpanContext(trace_id, span_id, is_remote=True, trace_flags=trace.TraceFlags(1))
    return trace.set_span_in_context(trace.NonRecordingSpan(place)) if place.is_valid else None


def build_provider() -> TracerProvider:
    """Builds a provider whose spans go by OTLP to the endpoint that the environment names."""
    # Here, because they take half a second to import.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def export_verdicts() -> VerdictTracer:
    """Returns a tracer whose spans go by OTLP to the endpoint that the environment names."""
    return VerdictTracer(tracer_provider=build_provider())
