"""Repeated runs of cases have pass^k with intervals, and flaky cases are named."""

from __future__ import annotations

from evaluation.cases.case_result import (
    CaseResult,
    describe_pass_rates,
    find_flaky,
    group_trials,
)


def results(*outcomes, arm="", name="case"):
    return [
        CaseResult(
            name=name,
            arm=arm,
            trial=trial,
            status="passed" if passed else "failed",
            basis="unverified",
            accepted=passed,
        )
        for trial, passed in enumerate(outcomes)
    ]


def test_single_runs_have_no_rates():
    assert [*describe_pass_rates([*results(True), *results(False, name="other")])] == []


def test_repeated_runs_have_rates_with_intervals_and_the_flaky_cases_are_named():
    lines = [*describe_pass_rates([*results(True, True), *results(True, False, name="other")])]

    assert lines == [
        "pass^1 0.7500 (0.0608 to 0.9998), 2 cases",
        "pass^2 0.5000 (0.0126 to 0.9874), 2 cases",
        "1 of 2 cases are flaky: other (1 of 2)",
    ]


def test_a_case_is_flaky_if_some_of_its_runs_pass_and_some_do_not(subtests):
    for outcomes, flaky in [
        ((True, True), {}),
        ((False, False), {}),
        ((True, False, True), {"case": "2 of 3"}),
    ]:
        with subtests.test(outcomes=outcomes):
            assert find_flaky(group_trials(results(*outcomes))[""]) == flaky
