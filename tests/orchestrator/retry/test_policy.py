"""What follows from a judged execution, as a table."""

from __future__ import annotations

import pytest

from agents import TransportRetry
from orchestrator import RetryPolicy
from orchestrator.retry.policy import RetryDecision

NO_VERDICT = "the monitor gave no verdict"


FAIL = RetryPolicy(needs_review="fail")
RETRY = RetryPolicy(needs_review="retry")


def again(reason):
    return RetryDecision(again=True, reason=reason)


def no_more(reason):
    return RetryDecision(again=False, reason=reason)


@pytest.mark.parametrize(
    ("policy", "outcome", "failed", "max_retries", "decision"),
    [
        (FAIL, "validated", 0, 2, no_more("validated")),
        (FAIL, "validated", 2, 2, no_more("validated")),
        (FAIL, "refused", 1, 0, no_more("refused 1 times, max_retries is 0")),
        (FAIL, "refused", 1, 1, again("retry 1 of 1")),
        (FAIL, "refused", 2, 1, no_more("refused 2 times, max_retries is 1")),
        (FAIL, "refused", 1, 2, again("retry 1 of 2")),
        (FAIL, "refused", 2, 2, again("retry 2 of 2")),
        (FAIL, "refused", 3, 2, no_more("refused 3 times, max_retries is 2")),
        (FAIL, "needs_review", 1, 0, no_more(NO_VERDICT)),
        (FAIL, "needs_review", 1, 2, no_more(NO_VERDICT)),
        (FAIL, "needs_review", 3, 2, no_more(NO_VERDICT)),
        (RETRY, "validated", 0, 2, no_more("validated")),
        (RETRY, "refused", 1, 2, again("retry 1 of 2")),
        (RETRY, "refused", 3, 2, no_more("refused 3 times, max_retries is 2")),
        (RETRY, "needs_review", 1, 2, again("retry 1 of 2")),
        (RETRY, "needs_review", 2, 2, again("retry 2 of 2")),
        (RETRY, "needs_review", 3, 2, no_more("refused 3 times, max_retries is 2")),
    ],
)
def test_decision(policy, outcome, failed, max_retries, decision):
    assert policy.decide(outcome, failed, max_retries) == decision


def test_the_default_asks_an_unreadable_judge_twice_and_then_a_person():
    policy = RetryPolicy()

    assert (policy.judge_attempts, policy.needs_review, policy.feedback) == (2, "fail", True)
    assert policy.transport == TransportRetry()
