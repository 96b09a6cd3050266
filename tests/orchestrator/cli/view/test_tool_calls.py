"""Tool calls as a line, and as compact JSON."""

from __future__ import annotations

import pytest

from orchestrator.cli.view.records import format_tool_call, tool_call_to_plain


def answer(word, text=""):
    return {"answer": word, "text": text, "answered_by": "ada", "answered_at": "2026-01-01T10:00:00+00:00"}


CALL = {"name": "buy", "args": {"id": 7}, "result": "ok", "error": None, "latency_ms": 1.0}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, 'buy {"id": 7}'),
        ({"args": None}, "buy"),
        ({"result": None, "error": "sold\nout"}, 'buy {"id": 7} failed: sold out'),
        ({"result": None}, 'buy {"id": 7} did not end'),
        ({"result": None, "error": "denied by ada", "gate": "denied"}, 'buy {"id": 7} denied'),
        ({"gate": "reused"}, 'buy {"id": 7} reused'),
        (
            {"gate": "reused", "made_in": {"step_index": 0, "attempt": 2}},
            'buy {"id": 7} reused from step 1, attempt 2',
        ),
        ({"answer": answer("approve")}, 'buy {"id": 7} approved by ada'),
        (
            {"answer": answer("deny", "too\nlate"), "result": None, "error": "no", "gate": "denied"},
            'buy {"id": 7} denied by ada: too late',
        ),
        (
            {"result": None, "error": "no", "gate": "unknown"},
            'buy {"id": 7} not made again, its outcome is unknown',
        ),
        (
            {"answer": answer("correct", "receipt\n7"), "result": "receipt\n7", "gate": "stated"},
            'buy {"id": 7} not run, its result is from ada: receipt 7',
        ),
        ({"args": ["a" * 200]}, f'buy ["{"a" * 97}…'),
    ],
)
def test_a_call_is_a_line(changes, line):
    assert format_tool_call({**CALL, **changes}) == line


@pytest.mark.parametrize(
    ("changes", "plain"),
    [
        ({}, {"name": "buy", "args": {"id": 7}, "error": None}),
        ({"args": {"a": ["b" * 200]}}, {"name": "buy", "args": {"a": f'["{"b" * 97}…'}, "error": None}),
        ({"args": "c" * 200}, {"name": "buy", "args": f"{'c' * 99}…", "error": None}),
        ({"gate": "reused"}, {"name": "buy", "args": {"id": 7}, "error": None, "gate": "reused"}),
    ],
)
def test_a_call_is_compact_json(changes, plain):
    assert tool_call_to_plain({**CALL, **changes}) == plain
