"""Runs documented programs on a scripted model: a loopback server answers in place of the local model."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from tests.fakes.chat_server import answers, serving

_LOCAL = re.compile(r'(\\?")local\1')  # the quotes within a notebook are escaped


def with_scripted_model(source: str) -> str:
    """Replace the local model of a program by one that ``scripted_endpoint`` serves."""
    return _LOCAL.sub(r"\1openai:scripted\1", source)


@contextmanager
def scripted_endpoint() -> Iterator[None]:
    """Serve plans, results and verdicts that pass, and let ``openai:`` models of this process use them."""
    before = dict(os.environ)
    with serving(answers(steps=["A result that mentions the light."])) as server:
        os.environ.update(server.environment)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
