"""OpenTelemetry spans, events and metrics of runs. It needs the extra ``[otel]``; nothing else imports it."""
