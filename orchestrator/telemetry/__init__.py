"""OpenTelemetry spans of runs and attempts, with verdict events."""

from orchestrator.telemetry.run_tracer import RunTracer as RunTracer
from orchestrator.telemetry.run_tracer import export_traces as export_traces
