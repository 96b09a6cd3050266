"""What the success of a run rests on if its answer was written from the results of several steps."""

from __future__ import annotations

import pytest

from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator, Result
from tests.fakes.executor import FakeExecutor, SynthesizingExecutor
from tests.fakes.hook import RecordingHook
from tests.fakes.monitor import FakeMonitor, refuse
from tests.fakes.planner import FakePlanner

MODEL_ALONE = "Answer: not verified (the model's own word)."
UNCHECKED_ANSWER = (
    "but nothing checks the answer that was written from them; say what it has to meet with "
    "contract= or checks= (on the command line --contract FILE)."
)
SHORT = EvaluationContract(checks=[{"check": "word_count", "max": 2}], complete=True)


def run_two_steps(**options):
    hook = RecordingHook()
    options = {"step_contract": SHORT, "hooks": [hook], **options}
    orchestrator = LangGraphOrchestrator(
        FakePlanner(["one", "two"]), SynthesizingExecutor(), FakeMonitor(), **options
    )
    return orchestrator.run("Name a fruit"), hook.events[-1]


def test_an_answer_that_nothing_checks_says_so_after_checked_steps():
    state, event = run_two_steps()
    reason = f"{MODEL_ALONE} The 2 steps were checked, {UNCHECKED_ANSWER}"

    assert (state["basis"], state["synthesis"][0]["basis_reason"]) == ("unverified", reason)
    assert (event.basis_reason, Result(state).basis_reason) == (reason, reason)


def test_it_says_how_many_of_the_steps_were_checked():
    state, _ = run_two_steps(step_contract=lambda _, index: None if index else SHORT)

    assert f" 1 of 2 steps was checked, {UNCHECKED_ANSWER}" in state["synthesis"][0]["basis_reason"]


def test_a_requirement_says_it_in_its_failure():
    state, _ = run_two_steps(require="checked")

    assert state["failure"]["message"].endswith(UNCHECKED_ANSWER)


@pytest.mark.parametrize(
    ("options", "basis", "reason"),
    [
        (
            {
                "output_contract": EvaluationContract(
                    checks=[{"check": "word_count", "max": 5}], complete=True
                )
            },
            "checked",
            "Form: 1 check passed. Answer: the contract asks for no more.",
        ),
        ({"step_contract": None}, "unverified", MODEL_ALONE),
        (
            {"step_contract": lambda _, index: SHORT if index else None, "synthesis": False},
            "checked",
            "Form: 1 check passed. Answer: the contract asks for no more.",
        ),
    ],
)
def test_an_answer_with_checks_or_after_unchecked_steps_has_its_own_reason_alone(options, basis, reason):
    state, event = run_two_steps(**options)

    assert (state["basis"], Result(state).basis_reason, event.basis_reason) == (basis, reason, reason)


def test_a_run_without_a_success_has_no_reason():
    orchestrator = LangGraphOrchestrator(FakePlanner(["one"]), FakeExecutor(), FakeMonitor(refuse("no")))

    assert Result(orchestrator.run("x")).basis_reason == ""
