"""Repeated runs of cases have pass@k and pass^k with intervals, and flaky cases are named."""

from __future__ import annotations

from evaluation.cases.case_result import (
    CaseResult,
    describe_pass_rates,
    find_flaky,
    group_trials,
    read_score,
    read_verdict,
)


def results(*outcomes, arm="", score=None, name="case"):
    return [
        CaseResult(
            name=name,
            arm=arm,
            trial=trial,
            status="passed" if passed else "failed",
            basis="unverified",
            accepted=passed,
            score=score,
        )
        for trial, passed in enumerate(outcomes)
    ]


def test_single_runs_have_no_rates():
    assert [*describe_pass_rates([*results(True), *results(False, name="other")])] == []


def test_repeated_runs_have_both_rates_with_intervals_and_the_flaky_cases_are_named():
    lines = [*describe_pass_rates([*results(True, True), *results(True, False, name="other")])]

    assert lines == [
        "by verdict: pass^1 0.7500 (0.0608 to 0.9998), pass@1 0.7500 (0.0608 to 0.9998), 2 cases",
        "by verdict: pass^2 0.5000 (0.0126 to 0.9874), pass@2 1.0000 (0.1581 to 1.0000), 2 cases",
        "by verdict: 1 of 2 cases are flaky: other (1 of 2)",
    ]


def test_each_arm_and_the_recorded_scores_have_rates_of_their_own():
    lines = [*describe_pass_rates([*results(True, arm="a", score=1.0), *results(False, arm="b", score=0.5)])]

    assert [line.partition(" (")[0] for line in lines] == [
        "a, by recorded score: pass^1 1.0000",
        "b, by recorded score: pass^1 0.0000",
    ]


def test_a_case_without_a_score_is_left_out_of_the_rates_by_score():
    assert group_trials(results(True), read_score) == {}


def test_a_case_is_flaky_if_some_of_its_runs_pass_and_some_do_not(subtests):
    for outcomes, flaky in [
        ((True, True), {}),
        ((False, False), {}),
        ((True, False, True), {"case": "2 of 3"}),
    ]:
        with subtests.test(outcomes=outcomes):
            assert find_flaky(group_trials(results(*outcomes), read_verdict)[""]) == flaky
