"""OpenTelemetry spans of runs, attempts and verdicts. It needs the extra ``[otel]``.

The events of verdicts follow the semantic conventions for generative AI:
https://github.com/open-telemetry/semantic-conventions-genai.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, TypeAlias

from evaluation.cases.case_result import CaseResult
from evaluation.values import JsonObject, as_list, as_object
from orchestrator import events
from orchestrator.errors import require_extra
from orchestrator.state.records import Attempt, VerdictRecord

with require_extra("otel"):
    from opentelemetry import context, trace

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_NAME: Final = "plan-execute-monitor"
_PREFIX: Final = "plan_execute_monitor"
_CONTENT: Final = "TRACELOOP_TRACE_CONTENT"
"""Texts are recorded only if this variable is "true"."""
_LABELS: Final[Mapping[float | None, str]] = {1.0: "passed", 0.0: "failed"}
Place: TypeAlias = tuple[int, int]
"""The index of a step, and the number of its attempt."""
_ID: Final = re.compile("[0-9a-f]{16}|[0-9a-f]{32}")


def _add_results(span: trace.Span, verdict: JsonObject, report: JsonObject, response: str = "") -> None:
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
    has_texts = os.environ.get(_CONTENT) == "true"
    values = {
        "gen_ai.evaluation.name": event["name"],
        "gen_ai.evaluation.score.label": event.get("label", _LABELS.get(known, "undecided")),
        "gen_ai.evaluation.score.value": event.get("score", known),
        "gen_ai.evaluation.explanation": event.get("explanation") if has_texts else None,
        "gen_ai.response.id": response or None,
        f"{_PREFIX}.evaluator": event["by"],
    }
    kept = {name: each for name, each in values.items() if isinstance(each, str | float)}
    span.add_event("gen_ai.evaluation.result", kept)


def _name_attributes(**values: str | int) -> dict[str, str | int]:
    return {f"{_PREFIX}.{name}": value for name, value in values.items()}


class VerdictTracer:
    """Makes a span of the verdict on each recorded run, below the span that the run was read from, if any.

    Args:
        tracer_provider: Makes the spans. Default: the global one.
    """

    def __init__(self, *, tracer_provider: trace.TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer(_NAME, version(_NAME), tracer_provider)

    def record(self, result: CaseResult) -> None:
        """Makes the span of a result."""
        span = self._tracer.start_span("evaluate", _find_parent(result.operation))
        stated = {"case": result.name, "status": result.status, "basis": result.basis}
        span.set_attributes(_name_attributes(**stated, attempt=result.trial + 1))
        # Nothing is known of an accepted answer that nothing verifies.
        passed = None if result.accepted and not result.verified else result.accepted
        verdict = {"name": "evaluation", "label": result.status, "passed": passed, "basis": result.basis}
        reason = {"explanation": next(iter(result.reasons), None)}
        _add_results(span, {**verdict, **reason}, result.report, result.operation.get("response_id", ""))
        span.end()


def _find_parent(operation: Mapping[str, str]) -> context.Context | None:
    ids = [operation.get(name, "") for name in ("trace_id", "span_id")]
    if not all(map(_ID.fullmatch, ids)):
        return None
    trace_id, span_id = (int(each, 16) for each in ids)
    place = trace.SpanContext(trace_id, span_id, is_remote=True, trace_flags=trace.TraceFlags(1))
    return trace.set_span_in_context(trace.NonRecordingSpan(place)) if place.is_valid else None


def _build_provider() -> TracerProvider:
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
    return VerdictTracer(tracer_provider=_build_provider())


_End: TypeAlias = events.RunFinished | events.RunPaused | events.RunInterrupted


@dataclass(frozen=True, slots=True)
class _RunSpans:
    """The open spans of a run: its own, and one for each attempt."""

    run: trace.Span
    attempts: dict[Place, trace.Span] = field(default_factory=dict)


class RunTracer:
    """Makes a span of each run, and below it one of each attempt; pass it as a hook: ``hooks=[RunTracer()]``.

    Each verdict, each of its checks and a judge's score is an event ``gen_ai.evaluation.result`` of the
    attempt. Texts are recorded only if the variable ``TRACELOOP_TRACE_CONTENT`` is "true". OpenTelemetry's
    instrumentation of LangChain adds the calls of models and tools below the span of the run.

    Args:
        tracer_provider: Makes the spans. Default: the global one.
    """

    def __init__(self, *, tracer_provider: trace.TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer(_NAME, version(_NAME), tracer_provider)
        self._runs: dict[str, _RunSpans] = {}
        self._lock = threading.Lock()

    def __call__(self, event: events.Event, /) -> None:
        """Opens and closes the spans of a run and of its attempts."""
        with self._lock:
            if isinstance(event, events.RunStarted | events.RunResumed):
                self._start_run(event)
            elif (spans := self._runs.get(event.thread_id)) is not None:
                self._follow(spans, event)

    def _start_run(self, event: events.RunStarted | events.RunResumed) -> None:
        is_resumed = isinstance(event, events.RunResumed)
        attributes = _name_attributes(thread_id=event.thread_id, resumed=is_resumed)
        run = self._tracer.start_span("run", attributes=attributes)
        self._runs[event.thread_id] = _RunSpans(run)
        # The graph starts in this context, so that the spans of its calls stand below the run.
        context.attach(trace.set_span_in_context(run))

    def _follow(self, spans: _RunSpans, event: events.Event) -> None:
        if isinstance(event, events.StepStarted):
            place = event.step_index, event.attempt
            spans.attempts[place] = self._start_attempt(spans, event.thread_id, place)
        elif isinstance(event, events.StepJudged):
            self._end_attempt(spans, event.thread_id, event.record, event.verdict)
        elif isinstance(event, _End):
            self._end_run(spans, event)

    def _start_attempt(self, spans: _RunSpans, thread_id: str, place: Place) -> trace.Span:
        index, attempt = place
        return self._tracer.start_span(
            f"step {index + 1}, attempt {attempt}",
            trace.set_span_in_context(spans.run),
            attributes=_name_attributes(thread_id=thread_id, step_index=index, attempt=attempt),
        )

    def _end_attempt(self, spans: _RunSpans, thread_id: str, record: Attempt, verdict: VerdictRecord) -> None:
        place = record["step_index"], record["attempt"]
        # A run that is judged again after a crash has no span of the attempt yet.
        span = spans.attempts.pop(place, None) or self._start_attempt(spans, thread_id, place)
        status = record["status"]
        is_answered = record["supervision"] is not None and record["supervision"]["answer"] is not None
        basis = "approved" if is_answered else record.get("basis")
        stated = {"name": "monitor", "label": status, "passed": verdict["success"], "basis": basis}
        _add_results(span, {**stated, "explanation": verdict["feedback"]}, record["report"] or {})
        accepted = record.get("basis") if status == "validated" else None
        _end_span(span, status, accepted, is_error=not verdict["success"])

    def _end_run(self, spans: _RunSpans, event: _End) -> None:
        for span in spans.attempts.values():
            span.end()
        del self._runs[event.thread_id]
        state = event.state
        evidence: Mapping[str, object] = state.get("evidence") or {}
        spans.run.set_attributes({f"{_PREFIX}.evidence.{name}": str(each) for name, each in evidence.items()})
        stopped = {events.RunPaused: "waiting", events.RunInterrupted: "interrupted"}
        status = stopped.get(type(event), state["status"])
        _end_span(spans.run, status, state["basis"], is_error=status == "failed")


def _end_span(span: trace.Span, status: str, basis: str | None, *, is_error: bool) -> None:
    span.set_attributes(_name_attributes(status=status, basis=basis or "none"))
    if is_error:
        span.set_status(trace.Status(trace.StatusCode.ERROR, status))
    span.end()


@cache
def export_traces() -> RunTracer:
    """Returns a tracer whose spans, and the spans of LangChain's calls, go by OTLP to the named endpoint.

    The texts of the calls are sent only if the variable ``TRACELOOP_TRACE_CONTENT`` is "true".
    """
    from langchain.agents.middleware.types import AgentMiddleware  # noqa: PLC0415 - slow, as are the next
    from opentelemetry.instrumentation.langchain import LangchainInstrumentor  # noqa: PLC0415
    from opentelemetry.instrumentation.utils import unwrap  # noqa: PLC0415

    os.environ.setdefault(_CONTENT, "false")
    provider = _build_provider()
    LangchainInstrumentor().instrument(tracer_provider=provider)
    # LangChain takes a wrapped hook of this class for one of each middleware: an awaited agent would call it
    # in place of the middleware's own hook if that is not awaited.
    for hook in ("before_model", "after_model", "before_agent", "after_agent"):
        unwrap(AgentMiddleware, hook)
        unwrap(AgentMiddleware, f"a{hook}")
    return RunTracer(tracer_provider=provider)
