"""A run with a model of an Ollama server: its options, its rates, and where they are printed."""

from __future__ import annotations

import json

import pytest

from tests.fakes.protocol_server import ollama_reply

COUNTS = {
    "prompt_eval_count": 900,
    "eval_count": 100,
    "eval_duration": 2_000_000_000,
    "load_duration": 1_500_000_000,
}


def answer(body: dict[str, object]) -> bytes:
    is_judged = "format" in body
    verdict = json.dumps({"feedback": "it is good", "success": True})
    return ollama_reply(verdict if is_judged else "A brick is a doorstop.", **COUNTS)


@pytest.fixture
def ollama(loopback, monkeypatch):
    server = loopback(answer=answer)
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    return server


def test_each_role_has_settings_of_its_own(cli, ollama):
    models = (
        "--model",
        "ollama:m,reasoning=false,num_ctx=4096",
        "--model",
        "monitor=ollama:m,num_ctx=512,keep_alive=1h",
    )
    cli("run", "Name a use of a brick", *models, "--planning", "never", "--no-db")
    executor, monitor = ollama.bodies

    assert (executor["think"], executor["options"]["num_ctx"], "keep_alive" in executor) == (
        False,
        4096,
        False,
    )
    assert ("think" in monitor, monitor["options"]["num_ctx"], monitor["keep_alive"]) == (False, 512, "1h")
