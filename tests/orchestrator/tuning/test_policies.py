"""Retry policies and stored runs in the form that replay reads."""

from __future__ import annotations

from dataclasses import replace

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import (
    AskHumanRule,
    FeedbackRule,
    LangGraphOrchestrator,
    ParallelRule,
    ResampleRule,
    RetryPolicy,
    StallRules,
)
from orchestrator.retry.attempts import Attempt
from orchestrator.tuning.replay.attempts import RecordedRun, RecordedStep
from orchestrator.tuning.replay.policies import NamedPolicy, describe_rule, is_success, read_run
from orchestrator.tuning.replay.replaying import replay
from tests.fakes.monitor import FakeMonitor, refuse
from tests.fakes.planner import FakePlanner

YES, NO = '{"success": true, "feedback": "good"}', '{"success": false, "feedback": "no"}'


def refused(kind="content", strategy="first", **options):
    return Attempt(number=1, strategy=strategy, outcome="failed", kinds=(kind,), **options)


def next_strategy(policy, *attempts):
    return NamedPolicy("policy", policy).next_strategy(attempts)


def record(policy, *replies):
    model = ScriptedChatModel(['{"plan": ["Say hello"]}', *replies], usage=(8, 2))
    return LangGraphOrchestrator.from_model(model, retry_policy=policy, contract=None).run("Be polite")


RULES = RetryPolicy(
    max_retries=3,
    strategies=[FeedbackRule(after="format", times=1), ResampleRule(temperature=0.2)],
)


@pytest.mark.parametrize(
    ("attempts", "strategy"),
    [
        ([refused("format")], "feedback"),
        ([refused("content")], "resample(temperature=0.2)"),
        ([refused("format"), refused("format", "feedback")], "resample(temperature=0.2)"),
        ([refused()] * 4, None),
    ],
)
def test_a_policy_is_asked_as_a_run_would_ask_it(attempts, strategy):
    assert next_strategy(RULES, *attempts) == strategy


def test_a_rule_that_another_policy_used_up_is_not_used_up_here():
    assert next_strategy(RULES, refused(), refused("format", "feedback", rule=0)) == "feedback"


def test_a_sample_of_several_is_one_that_is_drawn_alone():
    assert describe_rule(ParallelRule(n=3)) == describe_rule(ResampleRule()) == "resample"


def test_every_sample_of_a_parallel_rule_is_drawn():
    policy = RetryPolicy(max_retries=3, strategies=[ParallelRule(n=3)])
    assert next_strategy(policy, refused(), refused(strategy="resample")) == "resample"


def test_a_stall_ends_the_attempts():
    policy = RetryPolicy(max_retries=5, stall=StallRules(same_output=2))
    assert next_strategy(policy, refused(output="a"), refused(output="a")) is None
    assert next_strategy(policy, refused(output="a"), refused(output="b")) is not None


def test_planning_anew_is_a_strategy_of_its_own_that_ends():
    policy = RetryPolicy(max_retries=0, max_replans=1)
    assert next_strategy(policy, refused()) == "replan"
    assert next_strategy(policy, refused(), refused(strategy="replan")) is None


def test_a_run_is_read_with_its_attempts_strategies_and_usage():
    run = read_run(record(RetryPolicy(), "Hi", NO, "Hello", YES))

    [step] = run.steps
    assert [attempt.strategy for attempt in step.attempts] == ["first", "feedback"]
    assert [attempt.outcome for attempt in step.attempts] == ["failed", "validated"]
    assert step.attempts[0].tokens == 20
    assert (run.task, run.missing_steps) == ("Be polite", 0)


def test_a_run_is_read_with_the_sampling_of_its_attempts():
    policy = RetryPolicy(strategies=[ResampleRule(temperature=0.3)])
    [step] = read_run(record(policy, "Hi", NO, "Hello", YES)).steps

    first, second = step.attempts
    assert (first.temperature, first.seed) == (None, None)
    assert second.temperature == 0.3
    assert second.seed is not None


def test_models_have_chances_of_their_own():
    def write_run(task, model, *, passed):
        second = replace(
            refused(strategy="feedback", model=model), outcome="validated" if passed else "failed"
        )
        return RecordedRun(task, (RecordedStep((refused(model=model), second)),))

    runs = [
        write_run(f"{model} {number}", model, passed=model == "able")
        for model in ("able", "weak")
        for number in range(20)
    ]
    started = [RecordedRun(model, (RecordedStep((refused(model=model),)),)) for model in ("able", "weak")]
    [replayed] = replay([*runs, *started], [NamedPolicy("one", RetryPolicy(max_retries=1))])

    able, weak = replayed.by_run[-2:]
    assert able > 0.8
    assert weak < 0.2


def test_a_recorded_run_replays_to_itself():
    policy = RetryPolicy(max_retries=2)
    states = [record(policy, "Hi", NO, "Hello", YES), record(policy, "Hi", NO, "Ho", NO, "Hu", NO)]
    [replayed] = replay([read_run(state) for state in states], [NamedPolicy("same", policy)])

    assert replayed.is_exact
    assert replayed.by_run.tolist() == [float(is_success(state)) for state in states] == [1.0, 0.0]
    assert replayed.attempts.value == 2.5


def test_a_refused_output_that_was_kept_as_the_best_is_no_success():
    state = record(RetryPolicy(max_retries=0, exhausted="accept_best"), "Hi", NO)
    assert not is_success(state)


def test_a_run_of_an_earlier_version_is_no_evidence_on_the_feedback_of_today():
    state = record(RetryPolicy(strategies=[FeedbackRule()]), "rude", NO, "polite", YES)
    earlier = [
        {name: value for name, value in each.items() if name != "decision"} for each in state["results"]
    ]
    [step] = read_run({**state, "results": earlier}).steps

    assert step.attempts[1].strategy == 'feedback(last_output="quoted", temperature=null)'


def test_what_a_person_approved_is_a_success_only_of_a_policy_that_asks():
    ask = RetryPolicy(strategies=[AskHumanRule()])
    orchestrator = LangGraphOrchestrator(
        FakePlanner(["write"]),
        ExecutionAgent(ScriptedChatModel(["rude"])),
        FakeMonitor(refuse("no")),
        retry_policy=ask,
        checkpointer=InMemorySaver(),
    )
    orchestrator.run("write", "1")
    run = read_run(orchestrator.resume("1", {"answer": "approve"}))
    asked, alone = replay([run], [NamedPolicy("ask", ask), NamedPolicy("alone", RetryPolicy(max_retries=0))])

    assert (asked.success.value, alone.success.value) == (1.0, 0.0)
    assert asked.is_exact
    assert alone.is_exact
