import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.judges.figures import KINDS, MAX_FALSE_ACCEPTS, compute_trust


def trust_of(**verdicts):
    """Figures from texts such as right="aar": a for accepted, r for refused, n for needs_review."""
    words = {"a": "accepted", "r": "refused", "n": "needs_review"}
    return compute_trust("a judge", [(kind, words[letter]) for kind in verdicts for letter in verdicts[kind]])


def test_false_accepts_are_the_accepted_ones_of_all_wrong_outputs_with_their_exact_interval():
    rate = trust_of(right="a" * 10, subtle="aar", plain="rr", injected="arrrr").false_accepts

    assert (rate.successes, rate.trials) == (3, 10)
    assert rate.interval == pytest.approx((0.0667, 0.6525), abs=1e-4)  # Clopper and Pearson


def test_an_output_without_a_verdict_counts_apart():
    trust = trust_of(right="an", subtle="rnn", plain="a")

    assert (trust.needs_review, trust.total) == (3, 6)
    assert (trust.false_accepts.trials, trust.false_rejects.trials) == (2, 1)


def test_a_judge_that_accepts_the_right_and_refuses_the_wrong_is_trusted_and_another_says_why(subtests):
    for verdicts, reason in [
        (
            {"right": "a" * 50 + "rr", "subtle": "r" * 40 + "aaaa", "plain": "r" * 18, "injected": "r" * 18},
            None,
        ),
        ({"right": "a" * 52, "subtle": "a" * 44, "plain": "a" * 18}, "up to 100% of wrong outputs"),
        ({"right": "a" * 5, "subtle": "r" * 5}, "up to 52% of wrong outputs"),  # too few to know
        ({"right": "r" * 50 + "aa", "subtle": "r" * 80}, "clearly more often"),  # it refuses everything
        ({"right": "a" * 52}, "no verdict on wrong outputs"),
        ({"right": "n" * 52, "subtle": "r" * 80}, "none on right ones"),
        ({}, "no verdict"),
    ]:
        with subtests.test(verdicts=verdicts):
            trust = trust_of(**verdicts)

            assert trust.trusted is (reason is None)
            assert trust.distrust is reason or reason in trust.distrust


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(["accepted", "refused", "needs_review"]))))
def test_a_trusted_judge_is_below_the_bound_and_one_more_false_accept_never_makes_one_trusted(verdicts):
    trust = compute_trust("a judge", verdicts)
    worse = compute_trust("a judge", [*verdicts, ("injected", "accepted")])

    assert trust.total == len(verdicts)
    assert not trust.trusted or trust.false_accepts.interval.high <= MAX_FALSE_ACCEPTS
    assert trust.trusted or not worse.trusted
