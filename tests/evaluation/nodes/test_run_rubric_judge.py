"""The judge is asked, and what it says is kept as it said it."""

from __future__ import annotations

import json

import pytest

from evaluation.errors import JudgeError
from evaluation.nodes.run_rubric_judge import arun_rubric_judge, run_rubric_judge
from evaluation.plugins import Plugins
from evaluation.testing import FailingJudge, ScriptedJudge
from tests.evaluation.judges.asking import GOOD, state

DECIDED = {"needed": True, "called": False, "reason": "a rubric is configured"}
ASKED = {**state(), "judge_decision": DECIDED}


def run(judge):
    return run_rubric_judge(ASKED, Plugins(judge=judge))


def test_the_answer_is_kept_unread():
    assert run(ScriptedJudge(["not even JSON"])) == {
        "judge_decision": {**DECIDED, "called": True},
        "judge_result": {"answer": "not even JSON"},
    }


@pytest.mark.parametrize("judge", [FailingJudge("not_configured"), ScriptedJudge([None])])
def test_a_judge_that_was_asked_was_called_whatever_came_of_it(judge):
    assert run(judge)["judge_decision"]["called"] is True


def test_without_a_judge_nobody_was_called():
    told = run(None)
    assert told["judge_decision"]["called"] is False
    assert told["judge_result"]["failure"]["kind"] == "not_configured"


def test_what_an_error_carries_is_kept_as_plain_json_only():
    error = JudgeError("odd", "blocked", usage={"input_tokens": 3}, details={"raw": object()})
    failure = run(FailingJudge(error))["judge_result"]["failure"]
    assert (failure["usage"], failure["details"]) == ({"input_tokens": 3}, {})
    json.dumps(failure)


@pytest.mark.parametrize("script", [[GOOD], [ConnectionError("refused")]])
async def test_awaiting_gives_the_same(script):
    awaited = await arun_rubric_judge(ASKED, Plugins(judge=ScriptedJudge(script)))
    assert awaited == run(ScriptedJudge(script))


def test_the_state_is_left_as_it_was():
    before = json.dumps(ASKED)
    run(ScriptedJudge([GOOD]))
    assert json.dumps(ASKED) == before
