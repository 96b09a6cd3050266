"""The environment of tests that start a process or read environment variables."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.fakes.chat_server import ChatServer, answers, serving

_UNSET = re.compile(r"(OPENAI|OLLAMA|PEM)_.*|.*_PROXY|(FORCE|NO)_COLOR|COLUMNS|LINES", re.IGNORECASE)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """The environment without what the command line reads, and with a data folder of its own."""
    for name in filter(_UNSET.fullmatch, [*os.environ]):
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return {**os.environ}


@pytest.fixture
def chat() -> Iterator[Callable[..., ChatServer]]:
    """Start scripted endpoints: `chat(plans=[...], steps=[...], verdicts=[...])`."""
    with ExitStack() as stack:
        yield lambda **script: stack.enter_context(serving(answers(**script)))


@pytest.fixture
def served(chat: Callable[..., ChatServer], monkeypatch: pytest.MonkeyPatch) -> Callable[..., ChatServer]:
    """Start a scripted endpoint for the whole test: `served(steps=[...])`."""

    def start(**script: object) -> ChatServer:
        server = chat(**script)
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        return server

    return start
