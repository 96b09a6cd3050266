"""OpenTelemetry spans of runs and attempts, with verdict events."""

from orchestrator.telemetry.run_tracer import RunTracer as RunTracer
from orchestrator.telemetry.run_tracer import export_traces as export_traces
from orchestrator.telemetry.verdict_tracer import VerdictTracer as VerdictTracer
from orchestrator.telemetry.verdict_tracer import export_verdicts as export_verdicts
