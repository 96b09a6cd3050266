"""What is printed when a run is over."""

import pytest

from orchestrator.cli.summary import summary
from tests.orchestrator.cli.made import drawn, failure, record, state

GOOD = {"success": True, "feedback": "good"}
BAD = {"success": False, "feedback": "too short"}


def words(**changes):
    return summary(state(**changes)).plain


def test_the_last_result_stands_last_under_a_heading_of_its_own():
    results = [
        record(0, result="first", status="validated", verdict=GOOD),
        record(1, result="second\n", status="validated", verdict=GOOD),
    ]

    assert words(status="success", results=results) == "Step 1: step 1\nfirst\n\nResult\nsecond"


def test_a_step_that_was_tried_again_shows_its_last_result_only():
    results = [
        record(0, 1, result="refused", status="failed", verdict=BAD),
        record(0, 2, result="accepted", status="validated", verdict=GOOD),
    ]

    assert words(status="success", results=results) == "Result\naccepted"


def test_an_empty_result_is_called_empty():
    assert words(status="success", results=[record(result=" \n".strip(" "))]) == "Result\n(empty)"


def test_a_failure_without_a_plan_says_its_cause_and_that_nothing_was_done():
    said = words(status="failed", plan=[], failure=failure("cancelled", "interrupted"))

    assert said == "Failed (cancelled): interrupted\n\nNothing was done."


def test_a_failure_shows_what_was_done_and_how_each_step_ended():
    results = [
        record(0, result="first", status="validated", verdict=GOOD),
        record(1, 2, result="second", status="failed", verdict=BAD),
    ]

    said = words(status="failed", results=results, failure=failure("attempts_exhausted", "refused"))

    assert said == (
        "Failed (attempts_exhausted): refused\n\nDone so far: 1 of 2 steps\n\n"
        "Step 1: step 1 (accepted)\nfirst\n\n"
        "Step 2: step 2 (attempt 2 refused: too short)\nsecond"
    )


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"status": "failed", "error": "it broke", "result": ""}, "(it broke)\n(empty)"),
        ({"status": "pending_validation"}, "(pending)\nthe result"),
        ({"status": "needs_review", "verdict": BAD}, "(attempt 1 not judged: too short)\nthe result"),
    ],
)
def test_every_outcome_of_a_step_has_its_words(changes, outcome):
    said = words(status="failed", results=[record(**changes)], failure=failure())

    assert said.endswith(f"Step 1: step 1 {outcome}")


def test_a_run_that_ended_without_a_cause_says_so():
    assert words(status="executing").startswith("Failed (executing): no cause was noted")


def test_markup_and_terminal_commands_in_a_result_are_printed_as_text():
    results = [record(result="[red]x[/] :wave:\x1b[2J\n\tindented", status="validated")]

    assert "[red]x[/] :wave:[2J\n        indented" in drawn(summary(state(status="success", results=results)))
