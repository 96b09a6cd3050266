"""Replay reads from recorded attempts what a policy would have given, and estimates nothing."""

from __future__ import annotations

import pytest

from agents.testing import ScriptedChatModel
from orchestrator import (
    ConfigurationError,
    LangGraphOrchestrator,
    NamedPolicy,
    RetryPolicy,
    read_run,
    read_stored_runs,
    replay,
)
from orchestrator.persistence import open_store
from orchestrator.retry.policy import Attempt
from orchestrator.study.replay import RecordedRun, RecordedStep


def attempt(number, outcome="failed", strategy="feedback", kind="content"):
    name = "first" if number == 1 else strategy
    kinds = () if outcome == "validated" else (kind,)
    texts = {"tokens": 10, "seconds": 1.0, "cost_usd": 0.5}
    return Attempt(number=number, strategy=name, outcome=outcome, kinds=kinds, **texts)


def step(failures, passes=True, **options):
    failed = [attempt(number, **options) for number in range(1, failures + 1)]
    last = [attempt(failures + 1, "validated", **options)] if passes else []
    return RecordedStep((*failed, *last))


def run(*steps, planned=0):
    return RecordedRun("task", steps, planned)


def counts(runs, **policy):
    [result] = replay(runs, [NamedPolicy("p", RetryPolicy(**policy))])
    return result.succeeded, result.failed, result.not_recorded


@pytest.mark.parametrize(
    ("steps", "policy", "expected"),
    [
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
    ],
)
def test_a_run_is_known_as_far_as_its_attempts_were_recorded(steps, policy, expected):
    assert counts([run(*steps)], **policy) == expected


def test_a_step_that_was_never_reached_is_not_recorded():
    assert counts([run(step(0), planned=2)]) == (0, 0, 1)


def test_the_costs_are_those_of_the_attempts_that_the_policy_makes():
    policy = NamedPolicy("one", RetryPolicy(max_retries=1))
    [result] = replay([run(step(1)), run(step(2)), run(step(0))], [policy])

    assert (result.attempts, result.tokens, result.cost_usd, result.seconds) == (5, 50, 2.5, 5.0)
    assert (result.runs, result.bounds) == (3, (2 / 3, 2 / 3))


def test_what_is_not_recorded_widens_the_bounds():
    [result] = replay([run(step(0)), run(step(1, passes=False))], [NamedPolicy("p", RetryPolicy())])

    assert result.bounds == (0.5, 1.0)


@pytest.mark.parametrize(("runs", "names"), [([], ["a"]), ([run(step(0))], []), ([run(step(0))], ["a", "a"])])
def test_nothing_to_replay_or_one_name_twice_is_refused(runs, names):
    with pytest.raises(ConfigurationError, match="give at least one run, and policies with different names"):
        replay(runs, [NamedPolicy(name, RetryPolicy()) for name in names])


def test_stored_runs_are_replayed(tmp_path):
    yes, no = '{"success": true, "feedback": "good"}', '{"success": false, "feedback": "no"}'
    model = ScriptedChatModel(['{"plan": ["Say hello"]}', "Hm", no, "Hello", yes], usage=(20, 5))
    with open_store(tmp_path / "runs.sqlite") as store:
        state = LangGraphOrchestrator.from_model(model, contract=None, checkpointer=store).run("Greet")
    policies = [NamedPolicy(str(n), RetryPolicy(max_retries=n)) for n in (0, 1, 2)]

    results = replay(read_stored_runs(str(tmp_path / "runs.sqlite")), policies)
    assert [(each.succeeded, each.failed) for each in results] == [(0, 1), (1, 0), (1, 0)]
    assert results == replay([read_run(state)], policies)


@pytest.mark.parametrize(
    ("changes", "missing"), [({"attempt": 2}, "'Greet' lacks an attempt"), ({"step_index": 1}, "a step")]
)
def test_a_state_with_a_gap_is_refused(changes, missing):
    model = ScriptedChatModel(['{"plan": ["Say hello"]}', "Hm", '{"success": true, "feedback": "good"}'])
    state = LangGraphOrchestrator.from_model(model, contract=None).run("Greet")
    cut = {**state, "results": [{**state["results"][0], **changes}]}

    with pytest.raises(ConfigurationError, match=missing):
        read_run(cut)
