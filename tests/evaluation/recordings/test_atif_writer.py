"""A run that is written as ATIF and read again is the same run, and ATIF's own models accept it."""

import json

import pytest

from evaluation import ContractError, evaluate, run_from_messages, run_to_atif
from evaluation.recordings.run_files import read_runs

LOOKUP = {"name": "price_of", "args": {"title": "Moby Dick"}, "result": "12.5"}
RUNS = {
    "answer alone": {"input": "Hi", "final_output": "Hello"},
    "call": {"input": "Price?", "tool_calls": [LOOKUP], "final_output": "12.5"},
    "parallel calls": {
        "tool_calls": [{**LOOKUP, "message": 1}, {**LOOKUP, "message": 1}],
        "final_output": "x",
    },
    "failed call": {"tool_calls": [{**LOOKUP, "result": None, "error": "closed"}], "final_output": "x"},
    "denied call": {"tool_calls": [{"name": "rm", "error": True, "not_run": "denied"}], "final_output": "x"},
    "object as result": {"tool_calls": [{**LOOKUP, "result": {"price": 12.5}}], "final_output": "x"},
    "arguments that are no JSON": {"tool_calls": [{**LOOKUP, "args": "{broken"}], "final_output": "x"},
    "agents and times": {
        "tool_calls": [{**LOOKUP, "agent": "clerk", "latency_ms": 5.0}],
        "final_output": "x",
    },
    "failed run": {"input": "Price?", "tool_calls": [LOOKUP], "error": "the budget is spent"},
    "sources and probes": {"final_output": "x", "sources": ["A fact."], "probes": [LOOKUP], "plan": ["look"]},
    "usage": {"final_output": "x", "input_tokens": 40, "output_tokens": 8, "cost_usd": 0.5, "model": "m"},
    "writing tools": {
        "tool_calls": [LOOKUP],
        "final_output": "x",
        "writing_tools": ["price_of"],
        "retries": 2,
    },
}
KEPT = ("error", "sources", "probes", "plan", "input_tokens", "output_tokens", "cost_usd", "model", "retries")


def read_again(trajectory, tmp_path):
    file = tmp_path / "run.json"
    file.write_text(json.dumps(trajectory))
    [run] = read_runs(file)
    return run


@pytest.mark.parametrize("name", RUNS)
def test_a_written_run_is_read_as_the_same_run(name, tmp_path):
    run = RUNS[name]
    read = read_again(run_to_atif(run, name="r"), tmp_path)
    found = read.case["agent_run"]

    assert (read.case["case_id"], found["input"]) == ("r", run.get("input", ""))
    assert {key: found.get(key) for key in KEPT} == {key: run.get(key) for key in KEPT}
    for call, original in zip(found["tool_calls"], run.get("tool_calls", []), strict=True):
        assert {key: call[key] for key in original if key != "message"} == {
            key: value for key, value in original.items() if key != "message"
        }
    asked = {"required_content": [{"text": "x"}]}
    statuses = [evaluate({"agent_run": each, **asked}).status for each in (run, found)]
    assert statuses[0] == statuses[1]


@pytest.mark.parametrize("name", RUNS)
def test_the_models_of_atif_accept_a_written_run(name):
    atif = pytest.importorskip("atif")

    atif.Trajectory.model_validate(run_to_atif(RUNS[name], name="r"))


def test_what_atif_has_no_field_for_is_named():
    trajectory = run_to_atif(RUNS["sources and probes"], name="r")

    assert trajectory["notes"] == "ATIF has no field for probes, sources, plan; see extra.agent_run."
    assert "notes" not in run_to_atif(RUNS["call"], name="r")


def test_a_conversation_keeps_its_turns_and_the_place_of_its_calls(tmp_path):
    call = {"id": "c", "function": {"name": "price_of", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Price?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "12.5"},
        {"role": "assistant", "content": "12.5"},
        {"role": "user", "content": "Thanks"},
        {"role": "assistant", "content": "Bye"},
    ]
    trajectory = run_to_atif(run_from_messages(messages), name="r")

    assert [step["message"] for step in trajectory["steps"]] == ["Price?", "I look.", "12.5", "Thanks", "Bye"]
    assert [call["name"] for call in read_again(trajectory, tmp_path).case["agent_run"]["tool_calls"]] == [
        "price_of"
    ]


def test_a_value_that_is_no_run_is_refused():
    with pytest.raises(ContractError, match="a run needs 'final_output'"):
        run_to_atif({"input": "x"}, name="r")
