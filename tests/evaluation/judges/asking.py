"""Requests, states and answers that the judges' tests have in common."""

from evaluation.contract.rubric import Criterion, Rubric
from evaluation.nodes.prepare_evaluation import prepare_evaluation
from evaluation.plugins import JudgeRequest, Plugins

RUBRIC = Rubric(name="tone", criteria=[Criterion(name="clarity"), Criterion(name="warmth", weight=3.0)])
GOOD = {"score": 4.5, "rationale": "Clear and warm.", "criteria": {"clarity": 4, "warmth": 5}}
BAD = {"score": 2, "rationale": "Cold.", "concerns": ["no greeting"]}


def request(output="Hello!", rubric=RUBRIC, **fields):
    return JudgeRequest(rubric=rubric, input="Greet me.", output=output, **fields)


def state(**case):
    """The state as it is before the judge is decided on, with nothing found yet."""
    full_case = {"agent_run": {"input": "Greet me.", "final_output": "Hello!"}, **case}
    return prepare_evaluation(full_case, Plugins())
