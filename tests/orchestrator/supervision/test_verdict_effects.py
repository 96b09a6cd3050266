import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import Budget, ConfigurationError, SupervisionPolicy
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.runs import failure_kind, run, statuses, stored_state
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
    supervisor = FakeSupervisor(reorient("be brief"), go_on())
    state = run_llm(supervisor, executor, contract=DONE, max_retries=1)
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


@settings(max_examples=15)
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


def test_in_mode_none_nothing_of_it_runs(subtests):
    for options in [{"supervision": "none"}, {"supervision": lambda step, index: "none"}]:
        with subtests.test(options=options):
            executor, supervisor = SpeakingExecutor(said=[missed()]), FakeSupervisor(halt())
            state = run_llm(supervisor, executor, **options)

            assert (state["status"], supervision_of(state)) == ("success", None)
            assert (executor.commitments, executor.assessments, supervisor.compared) == ([], [], [])


def test_a_step_has_its_own_mode():
    executor, supervisor = SpeakingExecutor(said=[missed()]), FakeSupervisor()
    modes = {"one": "none", "two": "llm", "three": "human"}
    options = {"plan": list(modes), "supervision": lambda step, index: modes[step]}
    state = run_llm(supervisor, executor, checkpointer=InMemorySaver(), **options)

    assert modes_of(state) == [None, "llm", "human"]
    assert (len(supervisor.requests), state["question"]["step_index"]) == (1, 2)


def modes_of(state):
    return [record["supervision"] and record["supervision"]["mode"] for record in state["results"]]


def test_the_mode_that_a_plan_gives_a_step_beats_the_orchestrators(subtests):
    for default in ["none", "llm", "human", lambda step, index: "none"]:
        for own in ["none", "llm", "human"]:
            with subtests.test(default=default, own=own):
                options = {"supervision": default, "checkpointer": InMemorySaver()}
                state = run_llm(plan=[{"step": "one", "supervision": own}], **options)

                assert modes_of(state) == [None if own == "none" else own]
                assert (state["question"] is not None) is (own == "human")


def test_a_plan_with_an_unknown_mode_fails_before_its_first_step(subtests):
    for own in ["LLM", "off", "", True, 3, ["llm"]]:
        with subtests.test(own=own):
            executor, plan = SpeakingExecutor(), ["one", {"step": "two", "supervision": own}]
            state = run_llm(executor=executor, plan=plan, supervision="none")

            told = "step 2 of the plan: supervision: give 'none', 'llm' or 'human'"
            assert (failure_kind(state), executor.calls) == ("plan_invalid", [])
            assert told in state["failure"]["message"]


def test_a_plan_with_a_mode_that_nobody_can_carry_out_fails_before_its_first_step(subtests):
    for own in ["human", "llm"]:
        with subtests.test(own=own):
            executor = FakeExecutor()
            plan = ["one", {"step": "two", "supervision": own}]
            state = run(executor, plan=plan, supervision=lambda step, index: "none")

            assert (failure_kind(state), executor.calls) == ("supervision_invalid", [])
            assert state["failure"]["message"].startswith(f"step 2: supervision is '{own}'; give 'none' (")


def test_a_function_of_modes_that_gives_none_ends_the_run_before_the_first_step(subtests):
    for mode, sentence in [
        (lambda step, index: "maybe" if index else "none", "step 2: supervision is 'maybe'; give 'none'"),
        (lambda step, index: None, "step 1: supervision is None"),
        (lambda step, index: 1 / (1 - index), "step 1: supervision is 1.0"),
        (lambda step, index: {0: "none"}[index], "step 2: supervision raised KeyError"),
        (lambda step, index: "human", "step 1: supervision is 'human'; give 'none'"),
    ]:
        with subtests.test(mode=mode):
            executor = SpeakingExecutor()
            state = run_llm(executor=executor, plan=["one", "two"], supervision=mode)

            assert failure_kind(state) == "supervision_invalid"
            assert (executor.calls, executor.commitments) == ([], [])
            assert state["failure"]["message"].startswith(sentence)


def test_a_mode_that_nobody_can_carry_out_is_refused(subtests):
    for mode in ["human", "llm"]:
        with subtests.test(mode=mode), pytest.raises(ConfigurationError, match=f"'{mode}'; give 'none' "):
            run(supervision=mode)
