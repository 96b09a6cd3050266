import json

import pytest

from evaluation import ContractError, EvaluationCase, build_evaluation_graph, evaluate, read_cases

RUN = {"final_output": "Done.", "tool_calls": ["a", "a", "a"], "latency_ms": 5}
ASKING = [
    {"reference_output": "Done."},
    {"keywords": ["done"]},
    {"required_content": [{"text": "done"}]},
    {"forbidden_content": [{"text": "sorry"}]},
    {"checks": [{"check": "word_count", "max": 5}]},
    {"expected_trajectory": ["a", "a", "a"]},
    {"thresholds": {"latency_ms": 10}},
    {"trajectory": {"forbidden_tools": ["b"]}},
    {"audit": {"rules": [{"id": "r", "forbidden": {"text": "sorry"}}]}},
    {"baseline_metrics": {"latency_ms": 5}},
]
SILENT = [
    {"keywords": []},
    {"thresholds": {}},
    {"trajectory": {"arguments": {"match": "ignore"}}},
    {"audit": {"credentials": "warning"}},
    {"baseline_metrics": {}},
    {"owner": "ops"},
]


def test_a_run_that_does_what_was_asked_is_conclusive(subtests):
    for asked in ASKING:
        with subtests.test(asked=asked):
            report = evaluate({"agent_run": RUN, **asked})

            assert report.status in {"passed", "warning"}, report.summary
            assert report.judge.reason == "the deterministic checks are conclusive"


def test_a_run_of_which_nothing_was_asked_needs_review(subtests):
    for silent in SILENT:
        with subtests.test(silent=silent):
            report = evaluate({"agent_run": RUN, **silent})

            assert report.status == "needs_review"
            assert "the contract contains no check" in report.summary


def test_a_run_without_a_contract_has_one_verdict_in_every_form(subtests, tmp_path):
    asked = {"role": "user", "content": "Refund order 884."}
    for said, statuses in [
        ("I have refunded it.", {"failed"}),
        ("It cannot be refunded.", {"passed"}),
    ]:
        messages = [asked, {"role": "assistant", "content": said, "tool_calls": []}]
        run = {"agent_run": {"messages": messages}}
        file = tmp_path / "runs.json"
        file.write_text(json.dumps([run]))
        forms = (messages, {"messages": messages}, run, EvaluationCase(**run), *read_cases(file))
        with subtests.test(said=said):
            assert {evaluate(form).status for form in forms} == statuses
            assert evaluate(run, contract={}).status != "passed"


@pytest.mark.parametrize("fields", [{"error": "Timeout"}, {"tool_calls": []}])
def test_what_stands_beside_the_messages_counts_as_in_a_file(fields, tmp_path):
    said = [{"role": "user", "content": "Refund it."}, {"role": "assistant", "content": "I refunded it."}]
    state = {"messages": said, "files": {}, **fields}
    (tmp_path / "run.json").write_text(json.dumps(state))

    assert [evaluate(each).status for each in (state, *read_cases(tmp_path / "run.json"))] == ["failed"] * 2


def test_an_evaluated_state_has_the_verdict_of_its_run_under_each_contract(subtests):
    graph, run = build_evaluation_graph(), {"agent_run": {**RUN, "tool_calls": []}}
    for stated in [{}, {"reference_output": None}, {"must_call": ["a"]}]:
        state = graph.invoke({**run, **stated})
        with subtests.test(stated=stated):
            assert evaluate(state).status == evaluate({**run, **stated}).status
        for contract in [{}, *ASKING[:7], {"thresholds": {"words": {"max": 0, "severity": "critical"}}}]:
            with subtests.test(stated=stated, contract=contract):
                assert evaluate(state, contract=contract).status == evaluate(run, contract=contract).status


def test_a_contract_takes_the_place_of_no_run():
    lying = {"agent_run": {"input": "Refund it.", "final_output": "I refunded it.", "tool_calls": []}}
    contract = EvaluationCase(agent_run={"final_output": "Hi"}, forbidden_content=[{"text": "zzz"}])

    assert evaluate(lying, contract=contract).status == "failed"
    with pytest.raises(ContractError, match=r"^contract has agent_run, which demands nothing; "):
        evaluate(lying, contract={"agent_run": {"final_output": "Hi"}})


def test_a_run_without_a_contract_is_judged_if_a_judge_is_given():
    refusing = evaluate({"agent_run": RUN}, judge=lambda _: {"score": 1, "rationale": "poor"})

    assert (refusing.status, refusing.judge.called) == ("failed", True)


def test_nothing_passes_by_actions_that_nobody_recorded(subtests):
    for asked, status in [
        ({"expected_trajectory": []}, "needs_review"),
        ({"expected_trajectory": ["a"]}, "failed"),
        ({"trajectory": {"forbidden_tools": ["a"]}}, "needs_review"),
        ({"audit": {"rules": [{"id": "r", "forbidden_tools": ["a"]}]}}, "needs_review"),
        ({"audit": {"rules": [{"id": "r", "allowed_tools": ["a"]}]}}, "needs_review"),
        ({"thresholds": {"tool_calls": 0}}, "needs_review"),
    ]:
        with subtests.test(asked=asked):
            recorded = {"final_output": "Done.", "tool_calls": []}

            assert evaluate({"agent_run": {"final_output": "Done."}, **asked}).status == status
            assert evaluate({"agent_run": recorded, **asked}).status == (
                "failed" if status == "failed" else "passed"
            )


def test_some_keywords_are_enough_where_a_threshold_says_so():
    case = {"agent_run": RUN | {"tool_calls": []}, "keywords": ["done", "refund"]}

    assert evaluate({**case, "thresholds": {"keyword_coverage": 0.5}}).status == "passed"


def test_what_was_asked_and_had_no_answer_is_no_pass():
    report = evaluate({"agent_run": RUN | {"tool_calls": []}, "baseline_metrics": {"runs": []}})

    assert report.status == "needs_review"
