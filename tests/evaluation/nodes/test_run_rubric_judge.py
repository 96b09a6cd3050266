"""What a judge raises is kept as plain JSON."""

from __future__ import annotations

import json

from evaluation.errors import JudgeError
from evaluation.nodes.rubric_judging import run_rubric_judge
from evaluation.plugins import Plugins
from evaluation.testing import FailingJudge
from tests.evaluation.judges.asking import state

DECIDED = {"needed": True, "called": False, "reason": "a rubric is configured"}
ASKED = {**state(), "judge_decision": DECIDED}


def run(judge):
    return run_rubric_judge(ASKED, Plugins(judge=judge))


def test_what_an_error_carries_is_kept_as_plain_json_only():
    error = JudgeError("odd", "blocked", usage={"input_tokens": 3}, details={"raw": object()})
    failure = run(FailingJudge(error))["judge_result"]["failure"]
    assert (failure["usage"], failure["details"]) == ({"input_tokens": 3}, {})
    json.dumps(failure)
