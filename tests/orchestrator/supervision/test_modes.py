"""The modes of supervision, one for all steps or one for each, and the policy."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator import ConfigurationError
from tests.fakes.executor import FakeExecutor
from tests.fakes.runs import failure_kind, run
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor, halt, missed
from tests.orchestrator.supervision.supervised_runs import run_llm, supervision_of


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
                state = run_llm(
                    plan=[{"step": "one", "supervision": own}],
                    supervision=default,
                    checkpointer=InMemorySaver(),
                )

                assert modes_of(state) == [None if own == "none" else own]
                assert (state["question"] is not None) is (own == "human")


def test_a_plan_with_an_unknown_mode_fails_before_its_first_step(subtests):
    for own in ["LLM", "off", "", True, 3, ["llm"]]:
        with subtests.test(own=own):
            executor = SpeakingExecutor()
            state = run_llm(
                executor=executor, plan=["one", {"step": "two", "supervision": own}], supervision="none"
            )

            assert (failure_kind(state), executor.calls) == ("plan_invalid", [])
            assert (
                "step 2 of the plan: supervision: give 'none', 'llm' or 'human'"
                in state["failure"]["message"]
            )


def test_a_plan_with_a_mode_that_nobody_can_carry_out_fails_before_its_first_step(subtests):
    for own in ["human", "llm"]:
        with subtests.test(own=own):
            executor = FakeExecutor()
            plan = ["one", {"step": "two", "supervision": own}]
            state = run(executor, plan=plan, supervision=lambda step, index: "none")

            assert (failure_kind(state), executor.calls) == ("supervision_invalid", [])
            assert state["failure"]["message"].startswith(f"step 2: supervision is '{own}'; give 'none' (")


def test_in_mode_human_every_step_is_asked_about_without_a_supervising_call():
    supervisor = FakeSupervisor(halt())
    state = run_llm(supervisor, supervision="human", checkpointer=InMemorySaver())

    assert (state["question"]["text"], supervisor.requests) == ("Do you accept the output of step 1?", [])


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

            assert (failure_kind(state), executor.calls, executor.commitments) == (
                "supervision_invalid",
                [],
                [],
            )
            assert state["failure"]["message"].startswith(sentence)


def test_a_mode_that_nobody_can_carry_out_is_refused(subtests):
    for mode in ["human", "llm"]:
        with (
            subtests.test(mode=mode),
            pytest.raises(ConfigurationError, match=f"'{mode}'; give 'none' "),
        ):
            run(supervision=mode)
