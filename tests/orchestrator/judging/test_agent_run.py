"""The run that a step is judged as: the end of a long context, and nothing that the step was given."""

from evaluation import evaluate
from orchestrator.judging.evaluator import MAX_CONTEXT, build_agent_run
from tests.fakes.records import record, usage


def test_an_execution_is_told_by_what_was_asked_said_done_and_spent():
    call = {"name": "search", "args": {"q": "haiku"}, "result": "found", "error": None, "latency_ms": 3.5}
    made = record(1, 2, tool_calls=[call], usage=usage(150), model="qwen3", transport_retries=1)
    run = build_agent_run(made, "Step 1: Read")
    spent = {"latency_ms": 1000.0, "input_tokens": 150, "output_tokens": 0, "total_tokens": 150}

    assert [message["content"] for message in run.pop("messages")] == ["Step 1: Read", "step 2", "the result"]
    assert run.pop("metadata") == {"step_index": 1, "attempt": 2, "timestamp": made["started_at"]}
    said = {"input": "step 2", "final_output": "the result", "model": "qwen3", "retries": 1, "model_calls": 1}
    assert run == {**said, **spent, "tool_calls": [call]}


def test_a_longer_context_shows_its_end_and_says_how_much_is_left_out():
    shown = build_agent_run(record(), "old" + "n" * MAX_CONTEXT)["messages"][0]["content"]

    assert shown == "[the first 3 characters of the context are left out]\n" + "n" * MAX_CONTEXT


def test_a_credential_in_what_a_step_was_given_is_no_finding_against_it():
    run = build_agent_run(record(step="log in with password=hunter2"), "api_key=sk-abcdefghijklmnop1234")

    assert evaluate({"agent_run": run, "required_content": [{"text": "r"}]})["audit_findings"] == []
