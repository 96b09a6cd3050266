"""Servers of Ollama's protocol that accept no schema, or fail."""

from __future__ import annotations

import pytest

from agents import MonitoringAgent, TransportRetry
from agents.models.spec import load_model
from tests.fakes.protocol_server import encode, ollama_reply

ONCE = TransportRetry(max_attempts=1)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (422, "format: Input should be 'json'"),
        (400, "json: cannot unmarshal object into Go struct field ChatRequest.format of type string"),
        (400, "invalid request"),
        (501, "not implemented"),
    ],
)
def test_a_server_that_refuses_the_format_is_asked_once_without_it(loopback, status, error):
    refusal, met = encode({"error": error}, status), ollama_reply('{"success": true, "feedback": "met"}')
    server = loopback(answer=lambda body: refusal if "format" in body else met)
    monitor = MonitoringAgent(load_model("ollama:m", base_url=server.url), transport_retry=ONCE)

    assert [monitor.evaluate("objective", "output")["success"] for _ in range(2)] == [True, True]
    assert ["format" in body for body in server.bodies] == [True, False, False]
