"""Judges that are functions, and what is no judge."""

import pytest

from evaluation import (
    ContractError,
    LabelledOutput,
    aevaluate,
    build_evaluation_graph,
    evaluate,
    evaluate_many,
    measure_judge,
)

CASE = {"agent_run": {"input": "q", "final_output": "x"}, "subjective_criteria": ["clarity"]}
ANSWER = {"score": 5, "rationale": "clear", "criteria": {"clarity": 5}}


class Judge:
    def judge(self, request):
        return ANSWER


async def judge_slowly(request):
    return ANSWER


async def test_a_function_is_a_judge(subtests):
    for judge in [lambda request: ANSWER, judge_slowly]:
        with subtests.test(judge=judge):
            assert evaluate(CASE, judge=judge).status == "passed"
            assert (await aevaluate(CASE, judge=judge)).status == "passed"
            assert [report.status for report in evaluate_many([CASE], judge=judge)] == ["passed"]


@pytest.mark.parametrize(
    ("judge", "problem"),
    [
        (ANSWER, "judge is a dict; give an object with judge"),
        ("gpt", "judge is a str; give an object with judge"),
        (Judge, "judge is the class Judge; give an instance of it"),
    ],
    ids=["a dict", "a text", "a class"],
)
def test_what_is_no_judge_is_refused_at_once(judge, problem):
    for build in (lambda: evaluate(CASE, judge=judge), lambda: build_evaluation_graph(judge)):
        with pytest.raises(ContractError, match=problem):
            build()
    with pytest.raises(ContractError, match=problem):
        evaluate_many([CASE], judge=judge)


OUTPUT = LabelledOutput(task="q", output="x", kind="right")


def test_a_function_is_measured(subtests):
    for judge in [lambda request: ANSWER, judge_slowly]:
        with subtests.test(judge=judge):
            assert measure_judge(judge, name="own", outputs=[OUTPUT]).total == 1
