"""Sends the traces of command-line runs by OTLP if the standard environment variables name an endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from orchestrator.errors import ConfigurationError
from orchestrator.runtime.events import Hook

_ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
_OF_TRACES: Final = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
_OF_METRICS: Final = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
_OF_EVENTS: Final = "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"


def build_exporting_hooks(environment: Mapping[str, str]) -> Sequence[Hook]:
    """Builds a tracer that exports by OTLP over HTTP; nothing is imported if no endpoint is named.

    Args:
        environment: Variables such as ``os.environ``. ``OTEL_EXPORTER_OTLP_ENDPOINT`` names the endpoint of
            traces; metrics and events are sent only if they have an endpoint of their own, because many
            receivers of traces refuse them.

    Returns:
        The tracer, or an empty sequence.

    Raises:
        ConfigurationError: The extra ``[otel]`` is not installed.
    """
    if not any(environment.get(name) for name in (_ENDPOINT, _OF_TRACES, _OF_METRICS, _OF_EVENTS)):
        return ()
    try:
        return (_build_tracer(environment),)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"{_ENDPOINT} is set, and the package {error.name} is missing; install "
            "plan-execute-monitor[otel], or unset the variable"
        ) from error


def _build_tracer(environment: Mapping[str, str]) -> Hook:
    # Here, because the packages belong to an extra, and take half a second to import.
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter  # noqa: PLC0415
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # noqa: PLC0415
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk._logs import LoggerProvider  # noqa: PLC0415
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor  # noqa: PLC0415
    from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    from orchestrator.telemetry.run_tracer import RunTracer  # noqa: PLC0415

    spans, events = TracerProvider(), LoggerProvider()
    if environment.get(_ENDPOINT) or environment.get(_OF_TRACES):
        spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    if environment.get(_OF_EVENTS):
        events.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    readers = [PeriodicExportingMetricReader(OTLPMetricExporter())] if environment.get(_OF_METRICS) else []
    return RunTracer(tracer_provider=spans, logger_provider=events, meter_provider=MeterProvider(readers))
