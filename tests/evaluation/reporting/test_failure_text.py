"""A result that is not accepted, as the text of a failed test."""

from evaluation.cases.case_result import CaseResult
from evaluation.reporting.action_pairs import describe_failure

EXPECTED = [
    {"name": "find_book", "args": {"title": "emma"}},
    {"name": "reserve", "args": {"book": 7}},
]
CALLS = [
    {"name": "find_book", "args": {"title": "persuasion"}},
    {"name": "delete_account", "args": {}},
]


def build_result(**fields):
    return CaseResult(
        **{"name": "loan", "status": "failed", "basis": "unverified", "accepted": False, **fields}
    )


def test_expected_and_actual_calls_stand_side_by_side():
    run = {"final_output": "Reserved.", "tool_calls": CALLS}
    expected = {"expected_trajectory": EXPECTED, "trajectory_match_mode": "exact"}

    text = describe_failure(build_result(agent_run=run, expected=expected, reasons=("a", "b")))

    assert text.splitlines() == [
        "failed: a",
        "  b",
        "    expected call            actual call",
        '  ! find_book(title="emma")  1. find_book(title="persuasion")',
        "  - reserve(book=7)",
        "  +                          2. delete_account()",
        "  answer: Reserved.",
    ]


def test_calls_are_listed_if_no_trajectory_is_expected():
    run = {"tool_calls": [{"name": "pay", "args": {}, "error": "no funds"}]}

    assert describe_failure(build_result(agent_run=run)).splitlines()[1:] == [
        "      actual call",
        "      1. pay() -> no funds",
        "  no answer",
    ]


def test_twenty_calls_are_shown_and_the_others_counted():
    run = {"tool_calls": [{"name": "look", "args": {"page": page}} for page in range(25)]}

    text = describe_failure(build_result(agent_run=run))

    assert text.count("look(") == 20
    assert "and 5 more" in text


def test_a_long_text_of_the_run_is_one_short_line_that_no_terminal_obeys(subtests):
    for field in ["answer", "reason", "tool", "argument", "error"]:
        with subtests.test(field=field):
            bad = "\x1b[2J\u202e\n\x00" + "word " * 1000
            run = {
                "final_output": bad if field == "answer" else "",
                "tool_calls": [
                    {
                        "name": bad if field == "tool" else "look",
                        "args": {"page": bad if field == "argument" else 1},
                        "error": bad if field == "error" else None,
                    }
                ],
            }

            text = describe_failure(build_result(agent_run=run, reasons=(bad if field == "reason" else "a",)))

            assert len(text.splitlines()) == 4
            assert len(text) < 700
            assert not {"\x1b", "\u202e", "\x00"} & set(text)
