"""What each verdict of a supervisor does to the run."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import Budget, RetryPolicy, SupervisionPolicy
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.runs import failure_kind, statuses, stored_state
from tests.fakes.supervision import (
    FakeSupervisor,
    SpeakingExecutor,
    ask_human,
    go_on,
    halt,
    met,
    missed,
    reorient,
)
from tests.orchestrator.supervision.supervised_runs import DONE, build_llm, run_llm, supervision_of


def test_continue_validates_a_step_that_the_evaluation_passed():
    state = run_llm(FakeSupervisor(go_on("good enough")), SpeakingExecutor(said=[missed()]))

    assert (state["status"], statuses(state)) == ("success", ["validated"])
    assert supervision_of(state)["verdict"]["verdict"] == "continue"
    assert supervision_of(state)["verdict"]["reason"] == "good enough"


def test_continue_does_not_undo_what_the_evaluation_refused():
    state = run_llm(FakeSupervisor(go_on()), SpeakingExecutor("bad"), contract=DONE, max_retries=1)

    assert (failure_kind(state), statuses(state)) == ("attempts_exhausted", ["failed", "failed"])


def test_reorient_executes_the_step_again_with_the_correction_in_its_instruction():
    executor = SpeakingExecutor(said=[missed(), met()])
    state = run_llm(FakeSupervisor(reorient("use fewer words")), executor)

    assert (state["status"], statuses(state)) == ("success", ["failed", "validated"])
    assert executor.calls[1].step == "one\n\nKeep to these corrections:\n- use fewer words"


def commitments_of(state):
    return [supervision_of(state, at)["commitment"] for at in range(len(state["results"]))]


def test_each_execution_has_a_commitment_of_its_kind_to_the_corrected_step():
    executor = SpeakingExecutor("bad", "good", "done", said=[missed(), met()])
    state = run_llm(
        FakeSupervisor(reorient("be brief"), go_on()), executor, contract=DONE, plan=["one"], max_retries=1
    )
    kinds = [(each["kind"], each["instruction"]) for each in commitments_of(state)]

    corrected = "one\n\nKeep to these corrections:\n- be brief"
    assert kinds == [("first", "one"), ("reorient", corrected), ("retry", corrected)]
    assert executor.commitments == ["one", corrected, corrected]


def test_a_supervisor_has_a_step_done_again_only_so_often(subtests):
    for bound in [1, 2, 3]:
        with subtests.test(bound=bound):
            executor = SpeakingExecutor(said=[missed()])
            policy = SupervisionPolicy(max_reorient_attempts=bound)
            state = run_llm(FakeSupervisor(reorient("shorter")), executor, supervision_policy=policy)

            assert (failure_kind(state), len(executor.calls)) == ("needs_review", bound + 1)
            assert f"all {bound} of max_reorient_attempts were made" in state["failure"]["message"]
            assert "shorter" in state["failure"]["message"]


def test_a_halt_ends_the_run_with_the_supervisors_reason():
    state = run_llm(FakeSupervisor(halt("this is dangerous")), SpeakingExecutor(said=[missed()]))

    assert (state["status"], failure_kind(state), statuses(state)) == ("failed", "halted", ["failed"])
    assert state["failure"]["message"] == "step 1: the supervisor halted the run: this is dangerous"


verdicts = st.sampled_from([go_on(), reorient(), ask_human(), halt(), "hmm", {"verdict": "no"}])

monitored = st.sampled_from([accept(), refuse(), "hmm"])

said = st.sampled_from([met(), missed(), "hmm"])


@settings(max_examples=30)
@given(st.lists(verdicts, min_size=1), st.lists(monitored, min_size=1), st.lists(said, min_size=1))
def test_whatever_those_who_take_part_say_a_run_keeps_its_bounds(decided, judged, assessed):
    executor = SpeakingExecutor(said=assessed)
    orchestrator = build_llm(
        FakeSupervisor(*decided),
        executor,
        FakeMonitor(*judged),
        plan=["one", "two"],
        checkpointer=InMemorySaver(),
        supervision_policy=SupervisionPolicy(human=False, max_reorient_attempts=2),
        max_retries=1,
    )
    state = orchestrator.run("x", "thread")

    assert len(executor.calls) <= 2 * (1 + 1 + 2)  # the first, the retry and the corrections of a step
    assert stored_state(orchestrator) == state
    for record in state["results"]:
        found = record["supervision"]["verdict"]
        if found is not None and found["verdict"] == "halt":
            assert (failure_kind(state), state["results"][-1]) == ("halted", record)
    assert statuses(state).count("validated") == state["current_step_index"]


def test_an_output_that_was_sent_back_is_never_kept_as_the_best(subtests):
    for verdict, answer in [(reorient("not this"), None), (ask_human(), {"answer": "correct", "text": "no"})]:
        with subtests.test(verdict=verdict):
            executor = SpeakingExecutor("done", "bad", said=[missed(), met()])
            policy = RetryPolicy(max_retries=0, exhausted="accept_best")
            options = {"contract": DONE, "retry_policy": policy, "checkpointer": InMemorySaver()}
            orchestrator = build_llm(FakeSupervisor(verdict, go_on()), executor, **options)
            state = orchestrator.run("x", "thread")
            state = state if answer is None else orchestrator.resume("thread", answer)

            assert (state["output"], state["basis"]) == ("bad", "unverified")


def test_supervision_counts_what_it_spent_for_the_run_and_the_execution():
    replies = ['{"interpretation": "I will"}', "out", '{"met": false}']
    executor = ExecutionAgent(ScriptedChatModel(replies, usage=(5, 1)))
    supervisor = ScriptedChatModel(['{"verdict": "continue", "text": "fine"}'], usage=(5, 1))
    state = run_llm(supervisor, executor)

    assert state["usage"]["model_calls"] == 4
    assert state["results"][0]["usage"]["model_calls"] == 1
    assert state["results"][0]["judge_usage"]["model_calls"] == 3


@pytest.mark.parametrize("phase", ["commit", "assess", "supervise"])
def test_supervision_that_goes_past_the_budget_ends_the_run(phase):
    verdict = json.dumps({"verdict": "continue", "text": "it is fine"})
    dear, cheap = ScriptedChatModel(lambda messages: verdict, usage=(90, 10)), FakeSupervisor(go_on())
    executor = SpeakingExecutor(
        committed=[lambda step: dear.invoke(step) and {"interpretation": "x"}] if phase == "commit" else (),
        said=[lambda *_: (phase == "assess" and dear.invoke("x") and met()) or missed()],
    )
    supervisor = dear if phase == "supervise" else cheap
    state = run_llm(supervisor, executor, plan=["one", "two"], budget=Budget(max_total_tokens=50))

    assert (failure_kind(state), state["question"]) == ("budget_exceeded", None)
    assert (len(dear.prompts), state["usage"]["total_tokens"]) == (1, 100)
    assert executor.commitments == ["one"]


def test_the_stored_state_of_a_supervised_run_equals_the_returned_one(subtests):
    for verdict in [go_on(), reorient(), ask_human(), halt(), "unreadable"]:
        for human in [True, False]:
            with subtests.test(verdict=verdict, human=human):
                policy = SupervisionPolicy(human=human)
                options = {"checkpointer": InMemorySaver(), "supervision_policy": policy}
                executor = SpeakingExecutor(said=[missed()])
                orchestrator = build_llm(FakeSupervisor(verdict), executor, **options)

                assert orchestrator.run("x", "thread") == stored_state(orchestrator)
