from __future__ import annotations

import pytest

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import SupervisionPolicy
from orchestrator.supervision.phases import TRIGGER_LIMIT, reconcile
from tests.fakes.runs import failure_kind
from tests.fakes.supervised import a_commitment, an_assessment
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor, halt, met, missed
from tests.orchestrator.supervision.supervised_runs import DONE, replying, run_llm, supervision_of


def test_a_clean_step_asks_the_model_to_commit_and_to_assess_and_nothing_else():
    model = ScriptedChatModel(['{"interpretation": "I will"}', "out", '{"met": true}'])
    supervisor = ScriptedChatModel([])
    state = run_llm(supervisor, ExecutionAgent(model))

    assert (state["status"], len(model.prompts), supervisor.prompts) == ("success", 3, [])


def test_a_step_that_is_not_clean_is_supervised_once_with_its_triggers(subtests):
    for statements, triggers in [
        ({"said": [missed()]}, ["commitment_not_met"]),
        ({"said": [met(concerns=["c"])]}, ["concern:c"]),
        ({"said": [met(deviations=["a title"])]}, ["deviation:a title"]),
        ({"said": [met(unexpected=["a frog"])]}, ["unexpected:a frog"]),
        ({"said": ["as planned"]}, ["commitment_not_met"]),
        ({"said": [{"met_commitment": "perhaps"}]}, ["commitment_not_met"]),
        ({"committed": ["I will"]}, ["commitment_unreadable"]),
        ({"committed": [{"interpretation": "x", "assumptions": ["a", "b"]}]}, ["excess_assumptions:2"]),
    ]:
        with subtests.test(statements=statements):
            model = replying(halt())
            policy = SupervisionPolicy(max_assumptions=1)
            state = run_llm(model, SpeakingExecutor(**statements), supervision_policy=policy)

            assert (failure_kind(state), len(model.prompts)) == ("halted", 1)
            assert supervision_of(state)["triggers"][: len(triggers)] == triggers


def test_a_step_with_which_the_evaluation_finds_fault_is_supervised_even_if_the_comparison_omits_it(subtests):
    for reconciled in [None, lambda *_: {"triggers": [], "escalate": False}]:
        with subtests.test(reconciled=reconciled):
            supervisor = FakeSupervisor(halt(), reconciled=reconciled)
            state = run_llm(supervisor, SpeakingExecutor("bad"), contract=DONE)

            assert (failure_kind(state), len(supervisor.requests)) == ("halted", 1)
            assert all(trigger.startswith("evaluation:") for trigger in supervision_of(state)["triggers"])


@pytest.mark.parametrize("reconciled", [None, {"triggers": [], "escalate": "no"}, ValueError("no")], ids=str)
def test_a_comparison_that_does_not_say_that_a_step_is_clean_escalates(reconciled):
    supervisor = FakeSupervisor(halt(), reconciled=lambda *_: reconciled)
    state = run_llm(supervisor)

    assert (failure_kind(state), len(supervisor.requests)) == ("halted", 1)


def test_what_is_certain_comes_before_what_the_executor_says():
    reconciled = reconcile(
        a_commitment(readable=False, assumptions=["x"]),
        an_assessment(met_commitment=False, deviations=["d1", "d2"], concerns=["c"], unexpected=["u"]),
        ["f"],
        0,
    )
    assert reconciled["triggers"] == [
        *("commitment_unreadable", "evaluation:f", "commitment_not_met", "excess_assumptions:1"),
        *("deviation:d1", "deviation:d2", "concern:c", "unexpected:u"),
    ]


def test_there_is_a_most_number_of_triggers():
    triggers = reconcile(a_commitment(), an_assessment(concerns=["x"] * (TRIGGER_LIMIT + 10)))["triggers"]

    assert triggers == ["concern:x"] * TRIGGER_LIMIT
