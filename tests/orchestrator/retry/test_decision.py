"""What follows an execution of a step, as tables."""

from __future__ import annotations

from orchestrator import RetryPolicy
from orchestrator.retry import AskHumanRule, FeedbackRule, ResampleRule, best_attempt, decide
from tests.fakes.records import corrected, followed_by, judged


def refused(*kinds, number=1, **fields):
    """A refused execution; without kinds, a check of content failed."""
    return judged(kinds=kinds or ("content",), attempt=number, **fields)


def refusals(count, **fields):
    return [refused(number=number + 1, **fields) for number in range(count)]


def play(policy, kinds):
    """The strategies that a policy takes if each execution fails with the next of these kinds."""
    history, uses = [], []
    for number, kind in enumerate(kinds, 1):
        attempt = refused(kind, number=number)
        decision = decide(policy, [*history, attempt])
        history.append(followed_by(attempt, decision.use, decision.position))
        uses.append(decision.use)
    return uses


MIXED = RetryPolicy(
    max_retries=4,
    strategies=[
        {"use": "feedback", "after": "format", "times": 1},
        {"use": "resample", "times": 2},
        {"use": "feedback"},
    ],
)


def test_the_first_rule_that_matches_and_is_not_used_up_decides(subtests):
    for kinds, uses in [
        (["content"], ["resample"]),
        (["format"], ["feedback"]),
        (["format", "format"], ["feedback", "resample"]),
        (["content", "content", "content", "content"], ["resample", "resample", "feedback", "feedback"]),
        (["content"] * 5, ["resample", "resample", "feedback", "feedback", "stop"]),
    ]:
        with subtests.test(kinds=kinds):
            assert play(MIXED, kinds) == uses


def test_a_decision_names_its_rule_its_place_and_its_reason():
    decision = decide(MIXED, [refused("content", "length")])

    assert decision.rule == ResampleRule(times=2)
    assert (decision.position, decision.reason) == (1, "content, length failed at attempt 1")
    assert decision.is_retry


NO_VERDICT = judged("needs_review", ())


def test_without_a_verdict(subtests):
    for policy, use in [
        (RetryPolicy(), "stop"),
        (RetryPolicy(max_replans=1, exhausted="accept_best"), "stop"),
        (RetryPolicy(max_retries=0, strategies=[{"use": "resample", "after": ["unverified"]}]), "stop"),
        (RetryPolicy(strategies=[{"use": "resample", "after": ["unverified"]}]), "resample"),
        (
            RetryPolicy(strategies=[{"use": "feedback"}, {"use": "ask_human", "after": "unverified"}]),
            "ask_human",
        ),
    ]:
        with subtests.test(policy=policy):
            assert decide(policy, [NO_VERDICT]).use == use


def test_when_the_retries_end(subtests):
    for policy, attempts, use in [
        (RetryPolicy(max_retries=0), 1, "stop"),
        (RetryPolicy(max_retries=1), 1, "feedback"),
        (RetryPolicy(max_retries=1), 2, "stop"),
        (RetryPolicy(max_retries=1, max_replans=1), 2, "replan"),
        (RetryPolicy(max_retries=1, exhausted="accept_best"), 2, "accept_best"),
        (RetryPolicy(max_retries=1, max_replans=1, exhausted="accept_best"), 2, "replan"),
        (RetryPolicy(max_retries=1, strategies=[FeedbackRule(), AskHumanRule()]), 2, "ask_human"),
        (RetryPolicy(strategies=[FeedbackRule(after="tool")]), 1, "stop"),
    ]:
        with subtests.test(policy=policy, attempts=attempts):
            decision = decide(policy, refusals(attempts, score=0.5))

            assert decision.use == use
            if use == "stop":
                times = "once" if attempts == 1 else f"{attempts} times"
                assert decision.reason in {
                    f"refused {times}, max_retries is {policy.max_retries}",
                    "no strategy is left for: content",
                }


def test_a_correction_counts_for_whoever_made_it():
    history = [corrected(refused()), refused(number=2), refused(number=3)]

    assert decide(RetryPolicy(max_retries=2), history).use == "feedback"


def test_the_best_attempt(subtests):
    for scores, best in [
        ((0.5, 0.7, 0.6), 2),
        ((0.5, 0.5), 2),
        ((None, 0.0), 2),
        ((None, None), None),
        ((), None),
    ]:
        with subtests.test(scores=scores):
            history = [refused(number=number, score=score) for number, score in enumerate(scores, 1)]
            found = best_attempt(history)

            assert (found and found["attempt"]) == best


def test_what_must_not_be_kept_is_not_the_best(subtests):
    for refused_one in [
        refused(score=0.9, error="no"),
        refused(score=0.9, result=" "),
        corrected(refused(score=0.9)),
    ]:
        with subtests.test(refused_one=refused_one):
            worse, undecided = refused(number=2, score=0.1), judged("needs_review", attempt=3, score=0.9)

            assert best_attempt([worse, refused_one, undecided]) is worse
            policy = RetryPolicy(max_retries=0, exhausted="accept_best")
            assert decide(policy, [refused_one, refused(number=2)]).use == "stop"
