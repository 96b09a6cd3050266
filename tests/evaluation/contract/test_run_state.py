import pytest

from evaluation import ContractError, evaluate, run_from_state

NO_USAGE = {"model_calls": 1, "total_tokens": 9, "latency_ms": 5.0}


def call(name="price_of", **changes):
    return {
        "name": name,
        "args": {"title": "x"},
        "result": "12.5",
        "error": None,
        "latency_ms": 3.5,
        **changes,
    }


def record(index=0, *calls, **changes):
    return {
        "step_index": index,
        "step": "find it",
        "attempt": 1,
        "status": "validated",
        "result": "12.5",
        "error": None,
        "tool_calls": list(calls),
        "usage": NO_USAGE,
        "model": "qwen3",
        "started_at": f"2026-01-01T10:00:0{index}+00:00",
        **changes,
    }


def state(*records, **changes):
    return {
        "task": "What does it cost?",
        "status": "success",
        "output": "12.50 euros",
        "basis": "checked",
        "failure": None,
        "plan": ["find it"],
        "results": list(records) or [record()],
        "synthesis": [],
        "retries": {"transport": 1, "semantic": 2, "replans": 0},
        "usage": {
            "model_calls": 4,
            "failed_model_calls": 0,
            "input_tokens": 100,
            "output_tokens": 20,
            "total_tokens": 120,
            "token_source": "measured",
            "cost_usd": 0.01,
            "latency_ms": 812.5,
        },
        **changes,
    }


def test_task_output_tokens_cost_and_time_carry_over():
    assert run_from_state(state()) == {
        "input": "What does it cost?",
        "final_output": "12.50 euros",
        "tool_calls": [],
        "model": "qwen3",
        "latency_ms": 812.5,
        "input_tokens": 100,
        "output_tokens": 20,
        "total_tokens": 120,
        "model_calls": 4,
        "cost_usd": 0.01,
        "retries": 3,
        "metadata": {"timestamp": "2026-01-01T10:00:00+00:00", "status": "success", "basis": "checked"},
    }


def test_tool_calls_carry_over_and_one_that_never_ended_is_an_error():
    failed, open_call = call(result=None, error="no such book"), call(result=None)
    run = run_from_state(state(record(0, failed, call(), open_call)))
    unended = {"error": "the call had not ended when the step returned", "outcome": "unknown"}

    assert run["tool_calls"] == [failed, call(), {**open_call, **unended}]


def test_the_calls_of_refused_attempts_and_of_the_answer_are_calls_of_the_run():
    later = record(2, call("b"))  # a parallel step that began later
    refused, answer = record(1, call("a"), status="failed"), record(3, call("c"))
    run = run_from_state(state(later, refused, synthesis=[answer]))

    assert [each["name"] for each in run["tool_calls"]] == ["a", "b", "c"]


def test_a_failed_run_has_its_error_and_no_output():
    failure = {"kind": "denied", "message": "denied by ada", "step_index": 0, "error_type": None}
    run = run_from_state(state(status="failed", output=None, failure=failure))

    assert ("final_output" in run, run["error"]) == (False, "denied by ada")
    assert evaluate({"agent_run": run, "required_content": [{"text": "euros"}]}).status == "failed"


def test_anything_else_is_refused_with_its_place_and_what_to_give(subtests):
    for document, problem in [
        (state(status="executing", output=None), "the run has not ended (its status is 'executing')"),
        ({"final_output": "x"}, "task: "),
        (state(record(0, usage=None)), "results[0].usage: "),
        (state(record(0, {"name": "x"})), "results[0].tool_calls[0].args: "),
        (state(record(0, call(name=5))), "results[0].tool_calls[0].name: "),
        (state(results={"a": 1}), "results: "),
        (["x"], "a list"),
    ]:
        with subtests.test(document=document):
            with pytest.raises(ContractError) as raised:
                run_from_state(document)

            assert problem in str(raised.value)
            assert ("--json" in str(raised.value)) != ("has not ended" in problem)


def test_a_call_that_was_answered_from_an_earlier_one_is_no_second_call():
    paid = call("pay", result="paid 12.5")
    reused = {**paid, "gate": "reused", "made_in": {"step_index": 0, "attempt": 1}}
    run = run_from_state(state(record(0, paid), record(0, reused), record(1, reused)))

    expected = {"expected_trajectory": [{"name": "pay", "args": {"title": "x"}}]}
    report = evaluate({"agent_run": run, **expected, "trajectory": {"acting_tools": ["pay"]}})

    assert (len(run["tool_calls"]), report.status) == (1, "passed")
