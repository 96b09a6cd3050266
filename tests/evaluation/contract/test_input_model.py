"""Input models that are built directly: a wrong field gives one plain sentence with its path."""

import pytest

from evaluation.contract.contract import (
    EvaluationCase,
    EvaluationContract,
    Rubric,
    Scale,
    Threshold,
)
from evaluation.contract.run import AgentRun, ArgumentRule
from evaluation.errors import ContractError

PROBLEMS = [
    (Threshold, "Threshold: a threshold needs 'min', 'max' or both"),
    (lambda: Threshold(min=2, max=1), "Threshold: no value is at least 2 and at most 1"),
    (
        lambda: EvaluationContract(forbidden_tool=["a"]),
        "forbidden_tool: no field has this name; write 'trajectory.forbidden_tools' instead",
    ),
    (
        lambda: EvaluationContract(audit={"rules": [{"id": "r", "forbidden_tool": ["a"]}]}),
        "audit.rules[0].forbidden_tool: no field has this name; write 'forbidden_tools' instead",
    ),
    (
        lambda: EvaluationContract(expected_trajectory=["a", {"args": {}}]),
        "expected_trajectory[1]: an expected action needs either 'name' or 'any_of'",
    ),
    (Rubric, "criteria: is missing; add it"),
    (lambda: Scale(min=3, max=3), "Scale: a scale needs min < max, not 3 and 3"),
    (lambda: ArgumentRule(match="named"), "ArgumentRule: match 'named' needs 'names'"),
    (AgentRun, "AgentRun: a run needs 'final_output', 'tool_calls', 'messages' or 'error'"),
    (EvaluationCase, "agent_run: is missing; add it"),
]


def test_a_wrong_field_is_named_in_a_plain_sentence(subtests):
    for build, problem in PROBLEMS:
        with subtests.test(build=build, problem=problem):
            with pytest.raises(ContractError) as refused:
                build()

            assert str(refused.value).startswith(problem)
            assert not any(
                internal in str(refused.value) for internal in ("function-", "()", "pydantic", "\n")
            )


def test_each_wrong_field_has_its_own_sentence():
    with pytest.raises(ContractError, match=r"^keywords: give a list, not 3; owner: give a text, not 4$"):
        EvaluationContract(keywords=3, owner=4)


def test_the_error_is_a_value_error_without_the_one_of_pydantic():
    with pytest.raises(ValueError, match="keywords") as refused:
        EvaluationContract(keywords=3)

    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__
