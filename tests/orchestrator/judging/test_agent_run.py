"""What a step did, as an AgentRun: always a valid one, which tells nothing that was not measured."""

import math

from evaluation import evaluate
from orchestrator.judging.evaluator import MAX_CONTEXT, build_agent_run
from orchestrator.state.records import Attempt, ToolCallRecord, Usage
from tests.fakes.records import record as build_record

USAGE = Usage(
    model_calls=2,
    failed_model_calls=0,
    input_tokens=120,
    output_tokens=30,
    total_tokens=150,
    token_source="measured",
    cost_usd=0.004,
    latency_ms=812.5,
)


def call(name="search", args=None, result="found", error=None, latency_ms=3.5):
    return ToolCallRecord(name=name, args=args, result=result, error=error, latency_ms=latency_ms)


def record(**changed) -> Attempt:
    made = build_record(1, 2, step="Write the summary", result="The summary.", usage=USAGE, model="qwen3")
    return {**made, "transport_retries": 1, "started_at": "2026-01-01T10:00:00+00:00", **changed}


def test_an_execution_is_told_by_what_was_asked_said_done_and_spent():
    assert build_agent_run(record(tool_calls=[call(args={"q": "haiku"})]), "Step 1: Read\nResult: Done.") == {
        "input": "Write the summary",
        "final_output": "The summary.",
        "tool_calls": [
            {"name": "search", "args": {"q": "haiku"}, "result": "found", "error": None, "latency_ms": 3.5}
        ],
        "messages": [
            {"role": "user", "content": "Step 1: Read\nResult: Done."},
            {"role": "user", "content": "Write the summary"},
            {"role": "assistant", "content": "The summary."},
        ],
        "latency_ms": 812.5,
        "input_tokens": 120,
        "output_tokens": 30,
        "total_tokens": 150,
        "model_calls": 2,
        "cost_usd": 0.004,
        "retries": 1,
        "model": "qwen3",
        "metadata": {"step_index": 1, "attempt": 2, "timestamp": "2026-01-01T10:00:00+00:00"},
    }


def test_a_count_or_an_amount_that_cannot_be_true_is_absent(subtests):
    for name, value, shown in [
        *[("total_tokens", count, None) for count in (-1, 2**63, 10**400)],
        *[("cost_usd", amount, None) for amount in (-0.1, math.inf, math.nan, 10**400)],
        ("output_tokens", 0, 0),
        ("cost_usd", 0.0, 0.0),
    ]:
        with subtests.test(name=name, value=value, shown=shown):
            assert build_agent_run(record(usage={**USAGE, name: value}), "").get(name) == shown


def test_a_longer_context_shows_its_end_and_says_how_much_is_left_out():
    shown = build_agent_run(record(), "old" + "n" * MAX_CONTEXT)["messages"][0]["content"]

    assert shown == "[the first 3 characters of the context are left out]\n" + "n" * MAX_CONTEXT


def test_a_credential_in_what_a_step_was_given_is_no_finding_against_it():
    run = build_agent_run(
        {**record(), "step": "log in with password=hunter2"}, "api_key=sk-abcdefghijklmnop1234"
    )

    assert evaluate({"agent_run": run, "required_content": [{"text": "r"}]})["audit_findings"] == []
