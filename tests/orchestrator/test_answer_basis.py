"""What the success of a run rests on if its answer was written from the results of several steps."""

from __future__ import annotations

from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator, Result
from tests.fakes.executor import FakeExecutor, SynthesizingExecutor
from tests.fakes.hook import RecordingHook
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

MODEL_ALONE = "Answer: not verified (the model's own word)."
SHORT = EvaluationContract(checks=[{"check": "word_count", "max": 2}], complete=True)


def run_two_steps(**options):
    hook = RecordingHook()
    options = {"step_contract": SHORT, "hooks": [hook], **options}
    orchestrator = LangGraphOrchestrator(
        FakePlanner(["one", "two"]), SynthesizingExecutor(), FakeMonitor(), **options
    )
    return orchestrator.run("Name a fruit"), hook.events[-1]


def test_an_answer_has_its_own_reason_alone(subtests):
    for options, basis, reason in [
        (
            {
                "synthesis": True,
                "contract": EvaluationContract(checks=[{"check": "word_count", "max": 5}], complete=True),
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
    ]:
        with subtests.test(options=options):
            state, event = run_two_steps(**options)

            assert (state["basis"], Result(state).basis_reason, event.basis_reason) == (basis, reason, reason)


def test_what_an_answer_does_not_say_proves_nothing(subtests):
    for stated, basis in [
        ({"forbidden_content": [{"text": "rotten"}]}, "unverified"),
        ({"forbidden_content": [{"pattern": "rot+en"}]}, "unverified"),
        ({"forbidden_content": [{"number": 7}]}, "unverified"),
        ({"forbidden_content": [{"number": 7}], "thresholds": {"forbidden_content": 0}}, "unverified"),
        ({"expected_trajectory": [], "trajectory": {"acting_tools": ["buy"]}}, "unverified"),
        ({"checks": [{"check": "excludes", "texts": ["rotten"]}]}, "unverified"),
        ({"checks": [{"check": "occurrences", "text": "the", "max": 2}]}, "unverified"),
        ({"checks": [{"check": "occurrences", "text": "apple", "min": 1}]}, "checked"),
        ({"required_content": [{"pattern": "app.e"}]}, "checked"),
        ({"required_content": [{"text": "apple"}], "forbidden_content": [{"text": "rotten"}]}, "checked"),
    ]:
        with subtests.test(stated=stated):
            contract = EvaluationContract.model_validate(stated)
            orchestrator = LangGraphOrchestrator(
                FakePlanner(["one"]), FakeExecutor("An apple"), FakeMonitor(), contract=contract
            )

            assert orchestrator.run("Name a fruit")["basis"] == basis


def test_the_evidence_stands_in_the_record_the_state_and_the_event():
    state, event = run_two_steps(contract=EvaluationContract(required_content=[{"text": "answered"}]))
    parts = {"form": "nothing", "content": "code", "actions": "nothing"}

    assert (state["evidence"], event.evidence, Result(state).evidence) == (parts, parts, parts)
    assert state["synthesis"][-1]["evidence"] == {
        "form": {"by": "nothing", "checks": []},
        "content": {"by": "code", "checks": ["required_content"]},
        "actions": {"by": "nothing", "checks": []},
    }
