from evaluation.reporting.summaries import describe_failure
from tests.evaluation.reporting.results import stored


def test_reasons_calls_and_answer_are_listed():
    calls = [{"name": "find_book", "args": {"title": "emma"}}, {"name": "pay", "error": "no funds"}, "look"]
    run = {"final_output": "Reserved.", "tool_calls": calls}

    assert describe_failure(stored(status="failed", agent_run=run, reasons=("a", "b"))).splitlines() == [
        "failed: a",
        "  b",
        '  1. find_book(title="emma")',
        "  2. pay() -> no funds",
        "  3. look()",
        "  answer: Reserved.",
    ]
    assert describe_failure(stored(status="failed")).splitlines()[1:] == ["  no answer"]


def test_twenty_calls_are_shown_and_the_others_counted():
    run = {"tool_calls": [{"name": "look", "args": {"page": page}} for page in range(25)]}

    text = describe_failure(stored(status="failed", agent_run=run))

    assert text.count("look(") == 20
    assert "and 5 more" in text


def test_a_long_text_of_the_run_is_one_short_line_that_no_terminal_obeys(subtests):
    for field in ["answer", "reason", "tool", "argument", "error"]:
        with subtests.test(field=field):
            bad = "\x1b[2J\u202e\n\x00" + "word " * 1000
            call = {
                "name": bad if field == "tool" else "look",
                "args": {"page": bad if field == "argument" else 1},
                "error": bad if field == "error" else None,
            }
            run = {"final_output": bad if field == "answer" else "", "tool_calls": [call]}
            reasons = (bad if field == "reason" else "a",)
            text = describe_failure(stored(status="failed", agent_run=run, reasons=reasons))

            assert len(text.splitlines()) == 3
            assert len(text) < 700
            assert not {"\x1b", "\u202e", "\x00"} & set(text)
