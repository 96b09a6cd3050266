"""Addresses and replies for the tests of models."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from tests.fakes.loopback import ollama_reply


@pytest.fixture
def closed_url() -> str:
    """An address at which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def chat_reply() -> Callable[[], bytes]:
    """The stream of an Ollama server for a short answer."""

    return lambda: ollama_reply().body
