"""OpenTelemetry spans of runs and attempts, and an event for each verdict. It needs the extra ``[otel]``."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import TypeAlias

from orchestrator import events
from orchestrator.errors import require_extra
from orchestrator.state.graph_state import ACCEPTED
from orchestrator.state.records import Attempt, VerdictRecord
from orchestrator.telemetry.verdict_tracer import CONTENT, NAME, PREFIX, add_results, build_provider

with require_extra("otel"):
    from opentelemetry import context, trace

Place: TypeAlias = tuple[int, int]
"""The index of a step, and the number of its attempt."""
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
        self._tracer = trace.get_tracer(NAME, version(NAME), tracer_provider)
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
        attributes: dict[str, str | bool] = {
            f"{PREFIX}.thread_id": event.thread_id,
            f"{PREFIX}.resumed": is_resumed,
        }
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
        values: dict[str, str | int] = {"thread_id": thread_id, "step_index": place[0], "attempt": place[1]}
        return self._tracer.start_span(
            f"step {place[0] + 1}, attempt {place[1]}",
            trace.set_span_in_context(spans.run),
            attributes={f"{PREFIX}.{name}": value for name, value in values.items()},
        )

    def _end_attempt(self, spans: _RunSpans, thread_id: str, record: Attempt, verdict: VerdictRecord) -> None:
        place = record["step_index"], record["attempt"]
        # A run that is judged again after a crash has no span of the attempt yet.
        span = spans.attempts.pop(place, None) or self._start_attempt(spans, thread_id, place)
        is_accepted = record["status"] in ACCEPTED
        is_answered = record["supervision"] is not None and record["supervision"]["answer"] is not None
        basis = "approved" if is_answered else record.get("basis")
        stated = {"name": "monitor", "label": record["status"], "passed": verdict["success"], "basis": basis}
        add_results(span, {**stated, "explanation": verdict["feedback"]}, record["report"] or {})
        _end_span(
            span,
            record["status"],
            record.get("basis") if is_accepted else None,
            is_error=not verdict["success"],
        )

    def _end_run(self, spans: _RunSpans, event: _End) -> None:
        for span in spans.attempts.values():
            span.end()
        del self._runs[event.thread_id]
        state = event.state
        evidence: Mapping[str, object] = state.get("evidence") or {}
        spans.run.set_attributes({f"{PREFIX}.evidence.{name}": str(each) for name, each in evidence.items()})
        stopped = {events.RunPaused: "waiting", events.RunInterrupted: "interrupted"}
        status = stopped.get(type(event), state["status"])
        _end_span(spans.run, status, state["basis"], is_error=status == "failed")


def _end_span(span: trace.Span, status: str, basis: str | None, *, is_error: bool) -> None:
    span.set_attributes({f"{PREFIX}.status": status, f"{PREFIX}.basis": basis or "none"})
    if is_error:
        span.set_status(trace.Status(trace.StatusCode.ERROR, status))
    span.end()


@cache
def export_traces() -> RunTracer:
    """Returns a tracer whose spans, and the spans of LangChain's calls, go by OTLP to the named endpoint.

    The texts of the calls are sent only if the variable ``TRACELOOP_TRACE_CONTENT`` is "true".
    """
    from opentelemetry.instrumentation.langchain import LangchainInstrumentor  # noqa: PLC0415 - slow

    os.environ.setdefault(CONTENT, "false")
    provider = build_provider()
    LangchainInstrumentor().instrument(tracer_provider=provider)
    return RunTracer(tracer_provider=provider)
