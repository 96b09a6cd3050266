"""Runs of the command line send their traces by OTLP if an endpoint is named."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from orchestrator.telemetry.otlp_export import build_exporting_hooks


@pytest.fixture
def received() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """A receiver of OTLP, and what it received: the path and the body of each request."""
    requests: list[tuple[str, bytes]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()


def test_a_run_is_sent_to_the_endpoint(
    received: tuple[str, list[tuple[str, bytes]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, requests = received
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
    hooks = build_exporting_hooks({"OTEL_EXPORTER_OTLP_ENDPOINT": address})
    model = ScriptedChatModel(["Blue", '{"success": true, "feedback": ""}'])
    LangGraphOrchestrator.from_model(model, hooks=hooks).run("Name a colour")
    names: set[str] = set()
    for _ in range(200):
        bodies = [
            ExportTraceServiceRequest.FromString(body) for path, body in requests if path == "/v1/traces"
        ]
        names = {
            span.name
            for body in bodies
            for resource in body.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        }
        if "invoke_workflow plan_execute_monitor" in names:
            break
        threading.Event().wait(0.1)
    assert {"invoke_workflow plan_execute_monitor", "step 1", "attempt 1", "chat"} <= names
    assert {path for path, _ in requests} == {"/v1/traces"}


def test_no_endpoint_needs_no_tracer() -> None:
    assert build_exporting_hooks({"HOME": "/root"}) == ()
