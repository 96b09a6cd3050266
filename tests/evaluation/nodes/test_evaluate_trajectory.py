from evaluation import evaluate


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
