"""Replay: what another policy would have given on recorded runs."""

from __future__ import annotations

import pytest

from orchestrator.errors import ConfigurationError
from orchestrator.retry.attempts import FIRST, Attempt
from orchestrator.tuning.replay.attempts import RecordedRun, RecordedStep
from orchestrator.tuning.replay.replaying import replay
from tests.fakes.simulated_tasks import SimulatedTasks, retries, success_rate

FORMAT = frozenset({"format"})


def attempt(strategy=FIRST, kind="", tokens=100.0, **options):
    outcome = "failed" if kind else "validated"
    kinds = (kind,) if kind else ()
    return Attempt(
        number=1, strategy=strategy, outcome=outcome, kinds=kinds, tokens=tokens, seconds=1.0, **options
    )


def run(*attempts, task="task", planned=0):
    return RecordedRun(task, (RecordedStep(tuple(attempts)),), planned)


def failed(strategy=FIRST, kind="content"):
    return attempt(strategy, kind)


RUNS = [
    run(attempt(), task="a"),
    run(failed(), attempt("feedback"), task="b"),
    run(failed(), failed("feedback"), attempt("feedback"), task="c"),
    run(failed(), failed("feedback"), failed("feedback"), task="d"),
]


def only(policy, runs=RUNS):
    [replayed] = replay(runs, [policy])
    return replayed


@pytest.mark.parametrize(
    ("count", "success", "attempts"), [(0, 1 / 4, 1.0), (1, 2 / 4, 7 / 4), (2, 3 / 4, 9 / 4)]
)
def test_fewer_retries_are_read_from_the_recorded_attempts(count, success, attempts):
    replayed = only(retries(count))

    assert replayed.is_exact
    assert replayed.success.value == success
    assert replayed.attempts.value == attempts
    assert replayed.tokens.value == 100.0 * attempts
    assert replayed.seconds.value == attempts


def test_a_policy_that_retries_only_some_failures_is_read_from_the_recorded_attempts():
    runs = [
        run(failed(kind="format"), attempt("feedback"), task="a"),
        run(failed(kind="content"), attempt("feedback"), task="b"),
    ]
    assert only(retries(2, only=FORMAT), runs).by_run.tolist() == [1.0, 0.0]


def test_more_retries_than_recorded_are_extrapolated_for_the_runs_that_would_need_them():
    replayed = only(retries(5))

    assert replayed.exact_runs == 3
    assert replayed.by_run[:3].tolist() == [1.0, 1.0, 1.0]
    assert 0.0 < replayed.by_run[3] < 1.0
    assert 9 / 4 < replayed.attempts.value < 12 / 4


def test_another_strategy_is_extrapolated_and_named_if_no_run_recorded_it():
    replayed = only(retries(2, "resample"))

    assert replayed.exact_runs == 1
    assert replayed.unseen == {"resample"}
    assert replayed.success.interval.low < 0.4
    assert replayed.success.interval.high > 0.9


def test_a_task_that_failed_often_is_given_a_smaller_chance():
    often = [run(failed(), *[failed("feedback")] * 3, task="hard") for _ in range(5)]
    once = [run(failed(), failed("feedback"), task="soft"), run(failed(), attempt("feedback"), task="soft")]
    replayed = only(retries(4), [*often, *once])
    assert replayed.by_run[0] < replayed.by_run[5]


def test_chances_depend_on_the_kind_of_the_failure():
    slips = [run(failed(kind="format"), attempt("feedback"), task=f"f{n}") for n in range(20)]
    errors = [run(failed(), failed("feedback"), task=f"c{n}") for n in range(20)]
    open_ends = [run(failed(kind="format"), task="slip"), run(failed(kind="content"), task="error")]
    replayed = only(retries(1), [*slips, *errors, *open_ends])
    assert replayed.by_run[-2] > 0.9
    assert replayed.by_run[-1] < 0.1


def test_steps_after_a_step_that_fails_earlier_are_not_paid_for():
    steps = (RecordedStep((failed(), attempt("feedback"))), RecordedStep((attempt(),)))
    replayed = only(retries(0), [RecordedRun("task", steps, 2)])
    assert (replayed.success.value, replayed.attempts.value, replayed.is_exact) == (0.0, 1.0, True)


def test_steps_that_were_never_reached_are_extrapolated():
    replayed = only(retries(3), [run(failed(), failed("feedback"), task="a", planned=4), *RUNS])
    assert replayed.exact_runs == 3
    assert 0.0 < replayed.by_run[0] < only(retries(3)).by_run[3]


def test_a_rate_of_one_still_has_an_interval():
    low, high = only(retries(0), [run(attempt(), task=str(n)) for n in range(10)]).success.interval
    assert low < 1.0
    assert high == 1.0


def test_runs_of_one_task_count_as_less_than_runs_of_different_tasks():
    def width(tasks):
        runs = [run(attempt() if n % 2 else failed(), task=str(n % tasks)) for n in range(60)]
        low, high = only(retries(0), runs).success.interval
        return high - low

    assert width(4) > width(60)


def test_unknown_tokens_have_no_value():
    replayed = only(retries(0), [run(attempt(tokens=None))])
    assert (replayed.tokens.value, replayed.tokens.interval) == (None, None)
    assert replayed.seconds.value == 1.0


def test_the_seed_repeats_the_intervals():
    runs = SimulatedTasks(30, seed=1).run_all(retries(2))
    first, again = (replay(runs, [retries(4)], seed=7)[0] for _ in range(2))
    assert first.success == again.success


@pytest.mark.parametrize("policy", [retries(1), retries(5)], ids=["exact", "extrapolated"])
def test_really_running_a_policy_gives_a_rate_in_the_predicted_interval(policy):
    hits = 0
    for seed in range(12):
        tasks = SimulatedTasks(60, seed)
        low, high = replay(tasks.run_all(retries(3)), [policy], seed)[0].success.interval
        hits += low <= success_rate(tasks.run_all(policy)) <= high
    assert hits >= 11


class Endless:
    name = "endless"

    def next_strategy(self, attempts):
        return "feedback"


@pytest.mark.parametrize(
    ("runs", "policies", "message"),
    [
        ([], [retries(1)], "no recorded runs"),
        ([RecordedRun("task", ())], [retries(1)], "no executed step"),
        ([run()], [retries(1)], "no attempt"),
        (RUNS, [], "no policies"),
        (RUNS, [retries(1), retries(1)], "two policies have the name '1 times feedback'"),
        (RUNS, [Endless()], "'endless' has not ended after 100 attempts"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(runs, policies, message):
    with pytest.raises(ConfigurationError, match=message):
        replay(runs, policies)
