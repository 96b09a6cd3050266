"""Several judges give one answer, or abstain if they disagree."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import ContractError, JudgeError
from evaluation.judges.judge_scores import JudgeScore, read_judge_result
from evaluation.judges.panel import JudgePanel
from evaluation.testing import DeterministicJudge, FailingJudge, ScriptedJudge, judge_answer
from tests.evaluation.judges.asking import RUBRIC, request


def scoring(*scores):
    """Judges that give these scores; None fails."""
    return [FailingJudge() if score is None else DeterministicJudge(score) for score in scores]


def abstention(panel):
    with pytest.raises(JudgeError) as raised:
        panel.judge(request())
    return raised.value


@pytest.mark.parametrize(
    ("scores", "score"),
    [
        ((5,), 5),
        ((5, 4, 1), 4),
        ((5, 5, 4, 4, 1), 4),
        ((1, 2, 3, 5, 5), 2),
        ((5, 5, None), 5),
        ((1, 3, None), 1),
    ],
)
def test_a_majority_decides_with_the_lower_median_of_its_side(scores, score):
    assert JudgePanel(scoring(*scores)).judge(request())["score"] == score


@pytest.mark.parametrize(("scores", "mean"), [((5, 2), 3.5), ((5, 4, 3), 4), ((5, 4, None), 4.5)])
def test_the_mean_is_that_of_the_usable_answers(scores, mean):
    answer = JudgePanel(scoring(*scores), rule="mean").judge(request())
    assert (answer["score"], answer["criteria"]) == (mean, {"clarity": mean, "warmth": mean})


@pytest.mark.parametrize(
    ("scores", "quorum", "answered"),
    [
        ((5, None), None, False),
        ((5, 5, None), None, True),
        ((5, None, None), 1, True),
        ((5, 5, None), 3, False),
        ((5, 5, 5), 3, True),
    ],
)
def test_a_mean_needs_its_quorum_by_default_more_than_half_of_all_asked(scores, quorum, answered):
    panel = JudgePanel(scoring(*scores), rule="mean", quorum=quorum)
    if answered:
        assert panel.judge(request())["score"] == 5
    else:
        assert "answered" in str(abstention(panel))


def test_a_majority_needs_its_quorum_too():
    assert abstention(JudgePanel(scoring(5, 5, None), quorum=3)).kind == "no_majority"


def test_judges_that_all_fail_alike_are_a_failure_of_that_kind():
    assert abstention(JudgePanel([FailingJudge("blocked")] * 3)).kind == "blocked"


def test_judges_that_fail_differently_are_no_majority():
    assert abstention(JudgePanel([FailingJudge("blocked"), FailingJudge()])).kind == "no_majority"


def test_an_abstention_counts_who_failed_and_how():
    error = abstention(JudgePanel([*scoring(5, 1, None), FailingJudge("blocked")]))
    assert str(error) == (
        "the panel abstains: 2 of 4 judges answered, the quorum is 3; failed: 1 blocked, 1 provider_failure"
    )
    assert error.details["panel"]["votes"] == {"approve": 1, "refuse": 1}


def test_an_answer_that_cannot_be_used_is_a_failed_ballot():
    answer = JudgePanel([*scoring(5, 5), ScriptedJudge([{"score": 9, "rationale": "Wow."}])]).judge(request())
    [_, _, third] = answer["panel"]["ballots"]
    assert (answer["score"], third["failure"]) == (5, "out_of_range")


def test_the_disagreement_is_told_judge_by_judge():
    assert JudgePanel(scoring(5, 4, 1, None, 5)).judge(request())["panel"] == {
        "rule": "majority",
        "quorum": 3,
        "asked": 5,
        "answered": 4,
        "votes": {"approve": 3, "refuse": 1},
        "spread": 4.0,
        "ballots": [
            {"judge": 1, "sample": 1, "score": 5.0},
            {"judge": 2, "sample": 1, "score": 4.0},
            {"judge": 3, "sample": 1, "score": 1.0},
            {"judge": 4, "sample": 1, "failure": "provider_failure", "reason": "this judge always fails"},
            {"judge": 5, "sample": 1, "score": 5.0},
        ],
    }


def test_samples_ask_the_same_judge_again():
    judge = ScriptedJudge([judge_answer(RUBRIC, score, f"It is {score}.") for score in (5, 1, 5)])
    answer = JudgePanel([judge], samples=3).judge(request())
    assert (answer["score"], answer["rationale"], len(judge.requests)) == (5, "It is 5.", 3)
    assert [ballot["sample"] for ballot in answer["panel"]["ballots"]] == [1, 2, 3]


def test_the_speaker_is_the_judge_nearest_to_the_score_and_all_concerns_are_told():
    answers = [
        {**judge_answer(RUBRIC, 5, "Perfect.", ["none of mine"]), "feedback": "a"},
        {"score": 2, "rationale": "Bad.", "concerns": ["cold", "short"], "feedback": "b"},
        {"score": 3, "rationale": "Middling.", "concerns": ["short"], "feedback": "c"},
    ]
    answer = JudgePanel([ScriptedJudge([reply]) for reply in answers], rule="mean").judge(request())
    assert (answer["rationale"], answer["feedback"]) == ("Middling.", "c")
    assert answer["concerns"] == ["none of mine", "cold", "short"]


@pytest.mark.parametrize("rule", ["majority", "mean"])
def test_an_answer_is_repaired_if_a_vote_that_counts_is(rule):
    repaired = {"score": 3, "rationale": "So so.", "repaired": True}
    judges = [ScriptedJudge([repaired]), *scoring(3, 3)]
    answer = JudgePanel(judges, rule=rule).judge(request())
    assert answer["repaired"] is True
    assert read_judge_result({**answer, "score": 5}, RUBRIC).kind == "malformed"
    assert "repaired" not in JudgePanel([ScriptedJudge([repaired]), *scoring(5, 5)]).judge(request())


def test_an_answer_names_what_a_vote_that_counts_could_not_see():
    partial = {**judge_answer(RUBRIC, 3), "unseen": "the first of two messages"}
    answer = JudgePanel([ScriptedJudge([partial]), *scoring(3, 3)]).judge(request())
    assert answer["unseen"] == "the first of two messages"
    assert (
        abstention(JudgePanel([ScriptedJudge([{**judge_answer(RUBRIC, 5), "unseen": "one"}])])).kind
        == "partly_seen"
    )


def test_a_mean_without_the_criteria_of_every_judge_has_none():
    panel = JudgePanel([*scoring(4), ScriptedJudge([{"score": 2, "rationale": "Bad."}])], rule="mean")
    answer = panel.judge(request())
    assert (answer["score"], "criteria" in answer) == (3, False)


def test_the_concerns_of_those_who_were_outvoted_are_told_too():
    worried = ScriptedJudge([{"score": 1, "rationale": "Bad.", "concerns": ["rude"]}])
    assert JudgePanel([*scoring(5, 5), worried]).judge(request())["concerns"] == ["rude"]


def test_the_cost_is_that_of_all_calls_failed_ones_included():
    message = judge_answer(RUBRIC, 5)
    judges = [
        ScriptedJudge([{**message, "usage": {"input_tokens": 10, "output_tokens": 2, "model": "a"}}]),
        ScriptedJudge([{**message, "usage": {"input_tokens": 5, "output_tokens": 1, "model": "b"}}]),
        FailingJudge(JudgeError("filtered", "blocked", usage={"input_tokens": 7, "model": "b"})),
        ScriptedJudge([message]),
    ]
    assert JudgePanel(judges).judge(request())["usage"] == {
        "calls": 4,
        "input_tokens": 22,
        "output_tokens": 3,
        "models": ["a", "b"],
        "unreported": 1,
    }


async def test_awaited_judges_give_the_same_answer_in_the_same_order():
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


async def test_judges_are_awaited_side_by_side_but_no_more_than_allowed():
    running: list[int] = []
    together = []

    class Counting:
        async def ajudge(self, request):
            running.append(1)
            together.append(len(running))
            await asyncio.sleep(0.01)
            running.pop()
            return judge_answer(RUBRIC, 5)

    await JudgePanel([Counting()], samples=7, concurrency=3).ajudge(request())
    assert max(together) == 3


@pytest.mark.parametrize(
    ("judges", "options", "message"),
    [
        ([], {}, "0 judges"),
        ([DeterministicJudge(5)], {"samples": 0}, "samples=0"),
        ([DeterministicJudge(5)], {"concurrency": 0}, "concurrency=0"),
        ([DeterministicJudge(5)], {"rule": "median"}, "one of majority, mean"),
        ([DeterministicJudge(5)], {"quorum": 0}, "from 1 to 1"),
        ([DeterministicJudge(5)], {"quorum": 2}, "from 1 to 1"),
    ],
)
def test_what_makes_no_panel_is_refused(judges, options, message):
    with pytest.raises(ContractError, match=message):
        JudgePanel(judges, **options)


ballots = st.lists(st.none() | st.floats(1, 5), min_size=1, max_size=7)


@given(ballots, st.sampled_from(["majority", "mean"]))
def test_whatever_is_decided_is_a_valid_answer_within_what_the_judges_said(scores, rule):
    try:
        answer = JudgePanel(scoring(*scores), rule=rule).judge(request())
    except JudgeError:
        return
    result = read_judge_result(answer, RUBRIC)
    assert isinstance(result, JudgeScore)
    given_scores = [score for score in scores if score is not None]
    assert min(given_scores) <= result.score <= max(given_scores)


@given(ballots)
def test_a_majority_approves_only_where_more_than_half_of_all_asked_do(scores):
    least = RUBRIC.lowest_passing
    approving = sum(score is not None and score >= least for score in scores)
    try:
        approved = JudgePanel(scoring(*scores)).judge(request())["score"] >= least
    except JudgeError:
        approved = False
    assert approved == (2 * approving > len(scores))
