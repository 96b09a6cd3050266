"""Runs documented programs on a scripted model: a loopback server answers in place of the local model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tests.fakes.chat_server import answers, serving

_LOCAL, _SCRIPTED = '("local"', '("openai:scripted"'


def with_scripted_model(source: str) -> str:
    """Replace the local model of a program by one that ``scripted_endpoint`` serves."""
    return source.replace(_LOCAL, _SCRIPTED)


@contextmanager
def scripted_endpoint() -> Iterator[None]:
    """Serve plans, results and verdicts that pass, and let ``openai:`` models of this process use them."""
    before = dict(os.environ)
    with serving(answers()) as server:
        os.environ.update(server.environment)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
