"""Tool calls as a line."""

from __future__ import annotations

import pytest

from orchestrator.cli.view.executions import format_tool_call


def answer(word, text=""):
    return {"answer": word, "text": text, "answered_by": "ada", "answered_at": "2026-01-01T10:00:00+00:00"}


CALL = {"name": "buy", "args": {"id": 7}, "result": "ok", "error": None, "latency_ms": 1.0}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, 'buy {"id": 7}'),
        ({"args": None}, "buy"),
        ({"result": None, "error": "sold\nout"}, 'buy {"id": 7}, failed: sold out'),
        ({"result": None, "error": "no", "gate": "denied"}, 'buy {"id": 7}, denied, failed: no'),
        ({"gate": "reused"}, 'buy {"id": 7}, reused'),
        ({"answer": answer("approve")}, 'buy {"id": 7}, ada says approve'),
        (
            {"answer": answer("correct", "receipt\n7"), "result": "receipt\n7", "gate": "stated"},
            'buy {"id": 7}, stated, ada says correct: receipt 7',
        ),
        ({"args": ["a" * 200]}, f'buy ["{"a" * 97}…'),
    ],
)
def test_a_call_is_a_line(changes, line):
    assert format_tool_call({**CALL, **changes}) == line
