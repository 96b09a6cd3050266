"""What is printed when a run is over."""

import pytest

from orchestrator.cli.view.summary import format_summary
from tests.orchestrator.cli.builders import answered, drawn, failure, record, state, supervised

GOOD = {"success": True, "feedback": "good"}
BAD = {"success": False, "feedback": "too short"}


def words(**changes):
    return format_summary(state(**changes)).plain


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
    assert words(status="success", results=[record(result="\n", status="validated")]) == "Result\n(empty)"


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
        "Failed (no attempts left): refused\n\nDone so far: 1 of 2 steps\n\n"
        "Step 1: step 1 (accepted)\nfirst\n\n"
        "Step 2: step 2 (attempt 2 refused: too short)\nsecond"
    )


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"status": "failed", "error": "it broke", "result": ""}, "(it broke)\n(empty)"),
        ({"status": "pending_validation"}, "(pending)\nthe result"),
        ({"status": "needs_review", "verdict": BAD}, "(attempt 1 not judged: too short)\nthe result"),
        ({"status": "warning", "verdict": BAD}, "(kept with a warning)\nthe result"),
        (
            {"status": "failed", "verdict": GOOD, "supervision": answered("deny", "no\ngood")},
            "(attempt 1 refused: denied by ada: no good)\nthe result",
        ),
    ],
)
def test_every_outcome_of_a_step_has_its_words(changes, outcome):
    said = words(status="failed", results=[record(**changes)], failure=failure())

    assert said.endswith(f"Step 1: step 1 {outcome}")


def test_a_run_that_ended_without_a_cause_says_so():
    assert words(status="executing").startswith("Failed (executing): no cause was recorded")


def test_markup_and_terminal_commands_in_a_result_are_printed_as_text():
    results = [record(result="[red]x[/] :wave:\x1b[2J\n\tindented", status="validated")]

    assert "[red]x[/] :wave:[2J\n        indented" in drawn(
        format_summary(state(status="success", results=results))
    )


def test_of_a_step_of_which_an_earlier_execution_stands_that_one_is_shown():
    results = [
        record(0, 1, result="best", status="warning", verdict=BAD),
        record(0, 2, result="worse", status="failed", verdict=BAD),
    ]

    assert words(status="success", results=results) == "Result (kept with a warning)\nbest"


def test_warnings_stand_before_the_result():
    results = [record(status="validated", verdict=GOOD)]

    said = words(status="success", results=results, warnings=["step 1: slow", "step 1: a\nb"])

    assert said == "Warnings\n- step 1: slow\n- step 1: a b\n\nResult\nthe result"


def test_steps_that_were_given_up_are_no_part_of_a_success():
    results = [
        record(0, result="lost", status="failed", verdict=BAD),
        record(1, result="found", status="validated", verdict=GOOD),
    ]

    assert words(status="success", results=results, replaced=[0]) == "Result\nfound"


def test_steps_that_were_given_up_are_called_so_in_a_failure():
    results = [record(0, result="lost", status="failed", verdict=BAD)]

    said = words(status="failed", results=results, replaced=[0], failure=failure())

    assert "Done so far: 0 of 1 step" in said
    assert said.endswith("Step 1: step 1 (attempt 1 refused: too short, given up)\nlost")


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ({"verdict": "halt", "reason": "off the rails"}, "the supervisor stops the run: off the rails"),
        ({"verdict": "reorient", "correction": "shorter"}, "the supervisor corrects it: shorter"),
        ({"verdict": "ask_human", "question": "is it?"}, "the supervisor asks: is it?"),
        ({"verdict": "continue"}, "the supervisor accepts it"),
    ],
)
def test_what_a_supervisor_decided_is_said_of_a_refused_step(verdict, said):
    whole = {"correction": "", "question": "", "reason": "", **verdict}
    results = [record(status="failed", verdict=GOOD, supervision=supervised(verdict=whole))]

    assert f"(attempt 1 refused: {said})" in words(status="failed", results=results, failure=failure())


@pytest.mark.parametrize(
    ("answer", "said"),
    [(("approve",), "approved by ada"), (("correct", "shorter"), "corrected by ada: shorter")],
)
def test_what_a_person_answered_is_said_before_what_anybody_else_did(answer, said):
    results = [record(status="failed", verdict=GOOD, supervision=answered(*answer))]

    assert f"refused: {said})" in words(status="failed", results=results, failure=failure())
