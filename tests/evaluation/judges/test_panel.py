"""Several judges give one answer, or abstain if they disagree."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import ContractError, JudgeError
from evaluation.judges.judge_call import JudgePanel
from evaluation.judges.judge_scores import JudgeScore, read_judge_result, sum_usage
from evaluation.testing import DeterministicJudge, FailingJudge, ScriptedJudge, judge_answer
from tests.evaluation.judges.asking import RUBRIC, request


def scoring(*scores):
    """Judges that give these scores; None fails."""
    return [FailingJudge() if score is None else DeterministicJudge(score) for score in scores]


def abstention(judges):
    with pytest.raises(JudgeError) as raised:
        JudgePanel(judges).judge(request())
    return raised.value


def test_a_majority_decides_with_the_lower_median_of_its_side(subtests):
    for scores, score in [
        ((5,), 5),
        ((5, 4, 1), 4),
        ((5, 5, 4, 4, 1), 4),
        ((1, 2, 3, 5, 5), 2),
        ((5, 5, None), 5),
        ((1, 3, None), 1),
    ]:
        with subtests.test(scores=scores):
            assert JudgePanel(scoring(*scores)).judge(request())["score"] == score


def test_a_panel_without_a_majority_abstains(subtests):
    for judges, kind in [
        ([FailingJudge("blocked")] * 3, "blocked"),
        ([FailingJudge("blocked"), FailingJudge()], "no_majority"),
        (scoring(5, 1), "no_majority"),
        (scoring(5, None), "no_majority"),
    ]:
        with subtests.test(judges=judges):
            assert abstention(judges).kind == kind


def test_an_abstention_shows_the_votes_and_the_failures():
    error = abstention([*scoring(5, 1, None), FailingJudge("blocked")])
    assert str(error) == "the panel abstains: of 4, 1 approve and 1 refuse"
    assert [ballot.get("failure") for ballot in error.details["panel"]["ballots"]] == [
        None, None, "provider_failure", "blocked"
    ]  # fmt: skip


def test_the_disagreement_is_shown_judge_by_judge():
    judges = [*scoring(5, 4, None, 5), ScriptedJudge([{"score": 9, "rationale": "Wow."}])]
    assert JudgePanel(judges).judge(request())["panel"] == {
        "asked": 5,
        "votes": {"approve": 3, "refuse": 0},
        "ballots": [
            {"score": 5.0},
            {"score": 4.0},
            {"failure": "provider_failure", "reason": "this judge always fails"},
            {"score": 5.0},
            {"failure": "out_of_range", "reason": "'score' is 9, not within 1 to 5"},
        ],
    }


def test_samples_ask_the_same_judge_again_and_the_words_are_those_of_the_median():
    replies = [judge_answer(RUBRIC, score, f"It is {score}.", ["short"]) for score in (5, 1, 4)]
    judge = ScriptedJudge([{**reply, "feedback": "more"} for reply in replies])
    answer = JudgePanel([judge], samples=3).judge(request())
    assert (answer["score"], answer["rationale"], answer["feedback"]) == (4, "It is 4.", "more")
    assert (answer["concerns"], len(judge.requests)) == (["short"], 3)


def test_the_concerns_of_those_who_were_outvoted_are_named_too():
    worried = ScriptedJudge([{"score": 1, "rationale": "Bad.", "concerns": ["rude"]}])
    assert JudgePanel([*scoring(5, 5), worried]).judge(request())["concerns"] == ["rude"]


def test_the_cost_is_that_of_all_calls_failed_ones_included():
    message = judge_answer(RUBRIC, 5)
    judges = [
        ScriptedJudge([{**message, "usage": {"input_tokens": 10, "output_tokens": 2, "model": "a"}}]),
        ScriptedJudge([{**message, "usage": {"input_tokens": 5, "cost_usd": 0.5, "model": "b"}}]),
        FailingJudge(JudgeError("filtered", "blocked", usage={"input_tokens": 7, "model": "b"})),
        ScriptedJudge([message]),
    ]
    assert JudgePanel(judges).judge(request())["usage"] == {
        "calls": 4,
        "input_tokens": 22,
        "output_tokens": 2,
        "cost_usd": 0.5,
        "model": "a, b",
        "unreported": 1,
    }
    assert sum_usage([{"model": "m"}] * 2) == {"calls": 2, "model": "m", "unreported": 2}


async def test_awaited_judges_are_asked_at_once_and_give_the_same_answer_in_the_same_order():
    class Slow:
        def __init__(self, score, delay):
            self.score, self.delay = score, delay

        async def ajudge(self, request):
            await asyncio.sleep(self.delay)
            return judge_answer(RUBRIC, self.score)

    panel = JudgePanel([Slow(5, 0.02), Slow(1, 0.0), Slow(4, 0.01)])
    answer = await panel.ajudge(request())
    assert answer == await asyncio.to_thread(panel.judge, request())
    assert [ballot["score"] for ballot in answer["panel"]["ballots"]] == [5, 1, 4]


def test_what_makes_no_panel_is_refused(subtests):
    for judges, options, message in [
        ([], {}, "0 judges"),
        ([DeterministicJudge(5)], {"samples": 0}, "samples=0"),
    ]:
        with subtests.test(judges=judges), pytest.raises(ContractError, match=message):
            JudgePanel(judges, **options)


@given(st.lists(st.none() | st.floats(1, 5), min_size=1, max_size=7))
def test_a_majority_approves_only_where_more_than_half_of_all_asked_do(scores):
    least = RUBRIC.lowest_passing
    approving = sum(score is not None and score >= least for score in scores)
    try:
        answer = JudgePanel(scoring(*scores)).judge(request())
    except JudgeError:
        assert 2 * approving <= len(scores)
        return
    assert isinstance(read_judge_result(answer, RUBRIC), JudgeScore)
    assert (answer["score"] >= least) == (2 * approving > len(scores))
