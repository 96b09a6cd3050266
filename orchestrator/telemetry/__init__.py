"""OpenTelemetry spans of runs, attempts and verdicts."""

from orchestrator.telemetry.run_tracer import RunTracer as RunTracer
from orchestrator.telemetry.run_tracer import VerdictTracer as VerdictTracer
from orchestrator.telemetry.run_tracer import export_traces as export_traces
from orchestrator.telemetry.run_tracer import export_verdicts as export_verdicts
