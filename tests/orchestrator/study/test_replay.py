"""Replay reads from recorded attempts what a policy would have given, and estimates nothing."""

from __future__ import annotations

import pytest

from agents.testing import ScriptedChatModel
from orchestrator import ConfigurationError, LangGraphOrchestrator, RetryPolicy, replay
from orchestrator.persistence import open_store
from orchestrator.retry import FeedbackRule, ResampleRule
from orchestrator.study.replay import replay_policy
from tests.fakes.records import followed_by, judged, usage

RULES = {"feedback": FeedbackRule, "resample": ResampleRule}


def step(failures, passes=True, strategy="feedback", kind="content"):
    cost = {**usage(10), "cost_usd": 0.5}
    options = {name: field.default for name, field in RULES[strategy].model_fields.items() if name != "use"}
    failed = [
        followed_by(judged(kinds=[kind], attempt=number, usage=cost), strategy, **options)
        for number in range(1, failures + 1)
    ]
    last = [judged("validated", (), attempt=failures + 1, usage=cost)] if passes else []
    return [*failed, *last]


def counts(steps, planned=0, **policy):
    result = replay_policy("p", RetryPolicy(**policy), [(steps, planned)])
    return result.succeeded, result.failed, result.not_recorded


CASES = [
    ([step(0)], {"max_retries": 0}, (1, 0, 0)),
    ([step(1)], {"max_retries": 0}, (0, 1, 0)),
    ([step(1)], {"max_retries": 1}, (1, 0, 0)),
    ([step(1)], {"max_retries": 5}, (1, 0, 0)),
    ([step(3, passes=False)], {"max_retries": 2}, (0, 1, 0)),
    ([step(3, passes=False)], {"max_retries": 3}, (0, 0, 1)),
    ([step(1)], {"strategies": [{"use": "resample"}]}, (0, 0, 1)),
    ([step(1, strategy="resample")], {"strategies": [{"use": "resample"}]}, (1, 0, 0)),
    ([step(1, kind="format")], {"strategies": [{"use": "feedback", "after": "format"}]}, (1, 0, 0)),
    ([step(1)], {"strategies": [{"use": "feedback", "after": "format"}]}, (0, 1, 0)),
    ([step(1)], {"strategies": [{"use": "feedback", "temperature": 1.0}]}, (0, 0, 1)),
    ([step(0), step(1)], {"max_retries": 0}, (0, 1, 0)),
    ([step(1, passes=False)], {"max_retries": 0, "max_replans": 1}, (0, 0, 1)),
]


def test_a_run_is_known_as_far_as_its_attempts_were_recorded(subtests):
    for steps, policy, expected in CASES:
        with subtests.test(steps=steps, policy=policy):
            assert counts(steps, **policy) == expected


def test_costs_are_those_of_the_attempts_of_the_policy_and_what_is_not_recorded_widens_the_bounds():
    runs = [([step(1)], 0), ([step(2)], 0), ([step(0)], 0)]
    result = replay_policy("one", RetryPolicy(max_retries=1), runs)
    unknown = replay_policy("p", RetryPolicy(), [([step(0)], 0), ([step(1, passes=False)], 0)])

    assert (result.attempts, result.tokens, result.cost_usd, result.seconds) == (5, 50, 2.5, 5.0)
    assert (result.runs, result.bounds, unknown.bounds) == (3, (2 / 3, 2 / 3), (0.5, 1.0))


def test_nothing_to_replay_is_refused():
    with pytest.raises(ConfigurationError, match="give at least one run and one policy"):
        replay([], {"a": RetryPolicy()})


def test_stored_runs_are_replayed(tmp_path):
    yes, no = '{"success": true, "feedback": "good"}', '{"success": false, "feedback": "no"}'
    model = ScriptedChatModel(['{"plan": ["Say hello"]}', "Hm", no, "Hello", yes], usage=(20, 5))
    with open_store(tmp_path / "runs.sqlite") as store:
        state = LangGraphOrchestrator.from_model(model, contract=None, checkpointer=store).run("Greet")
        states = [store.history.show(run.thread_id).state for run in store.history.runs()]
    policies = {str(n): RetryPolicy(max_retries=n) for n in (0, 1, 2)}

    results = replay(states, policies)
    assert [(each.succeeded, each.failed) for each in results] == [(0, 1), (1, 0), (1, 0)]
    assert results == replay([state], policies)


def test_a_state_with_a_gap_is_refused(subtests):
    for changes, missing in [({"attempt": 2}, "'Greet' lacks an attempt"), ({"step_index": 1}, "a step")]:
        with subtests.test(changes=changes):
            model = ScriptedChatModel(
                ['{"plan": ["Say hello"]}', "Hm", '{"success": true, "feedback": "good"}']
            )
            state = LangGraphOrchestrator.from_model(model, contract=None).run("Greet")
            cut = {**state, "results": [{**state["results"][0], **changes}]}

            with pytest.raises(ConfigurationError, match=missing):
                replay([cut], {"p": RetryPolicy()})
