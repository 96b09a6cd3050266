from evaluation import evaluate


def metrics(tool_calls, run=None, **contract):
    recorded = {"final_output": "done", "tool_calls": tool_calls, **(run or {})}
    return evaluate({"agent_run": recorded, **contract})["metrics"]["trajectory"]


def test_rules_and_thresholds_of_the_contract_are_used():
    found = metrics(
        [{"name": "a", "args": {"x": 1}}, "read"],
        expected_trajectory=[{"name": "a", "args": {"x": 2}}],
        trajectory_match_mode="exact",
        trajectory={"ignored_tools": ["read"], "tools": {"a": {"match": "ignore"}}},
        thresholds={"trajectory_recall": 0.5, "latency_ms": 5},
    )

    assert found["passed"] is True
    assert [check["metric"] for check in found["checks"]] == ["trajectory", "trajectory_recall"]


def test_the_work_of_several_agents_is_judged_beside_it():
    found = metrics(
        [{"name": "a", "agent": "ann"}, {"name": "a"}],
        run={"plan": ["a"]},
        expected_trajectory=["a"],
        thresholds={"collaboration_confidence": 0.9},
    )

    assert (found["collaboration_confidence"], found["plan_adherence"]) == (0.5, 1.0)
    assert found["checks"][1]["metric"] == "collaboration_confidence"


def test_a_tool_called_by_a_whole_text_is_named_by_its_beginning():
    text = "the user said " * 1_000
    calls = [{"name": text, "args": {"x": 1}, "error": True}, {"name": text, "args": "no JSON"}]
    report = evaluate(
        {
            "agent_run": {"final_output": "Done.", "tool_calls": calls},
            "expected_trajectory": [{"name": text, "args": {"x": 2}}],
            "trajectory": {"forbidden_tools": [text]},
        }
    )

    assert len(report.model_dump_json()) < len(text)
