import json
import re
from collections import UserDict
from datetime import date
from types import MappingProxyType

import pytest
from hypothesis import given

from evaluation import evaluate
from evaluation.contract.contract import ArgumentRule, EvaluationCase, EvaluationContract, Threshold
from evaluation.contract.intake import AcceptedCase, RefusedCase, read_case
from evaluation.contract.rubric import Rubric, Scale
from evaluation.contract.run import AgentRun
from evaluation.errors import ContractError
from evaluation.testing import ScriptedJudge
from evaluation.validation import MAX_DEPTH, MAX_PROBLEMS
from tests.evaluation.cases import any_json

RUN = {"input": "Where is order 12345?", "final_output": "In transit.", "tool_calls": ["lookup_order"]}


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


def cyclic():
    value = {}
    value["self"] = value
    return value


def problems(case):
    taken = read_case(case)
    assert isinstance(taken, RefusedCase)
    return taken.problems


UNKNOWN = "no field has this name; write '{}' instead, or leave it out"
REFUSED = [
    (None, "case: "),
    (3, "case: "),
    ({}, "agent_run: "),
    ({"agent_run": {}}, "agent_run: "),
    ({"agent_run": {**RUN, "final_output": 3}}, "agent_run.final_output: "),
    ({"agent_run": {**RUN, "latency_ms": -1}}, "agent_run.latency_ms: "),
    ({"agent_run": {**RUN, "latency_ms": float("nan")}}, "agent_run.latency_ms: nan"),
    ({"agent_run": RUN, "thresholds": {"latency_ms": float("inf")}}, "thresholds.latency_ms: inf"),
    ({"agent_run": {**RUN, "retries": 10**50}}, "agent_run.retries: "),
    ({"agent_run": {**RUN, "tool_calls": {"a"}}}, "agent_run.tool_calls: set"),
    ({"agent_run": {**RUN, "final_output": b"x"}}, "agent_run.final_output: bytes"),
    ({"agent_run": {**RUN, "metadata": cyclic()}}, "agent_run.metadata.self.self"),
    ({"agent_run": {**RUN, "metadata": {"day": date(2024, 6, 7)}}}, "agent_run.metadata.day: date"),
    ({"agent_run": {**RUN, "metadata": {"x": nested(MAX_DEPTH - 3)}}}, "agent_run.metadata.x[0]"),
    ({"agent_run": {**RUN, "tool_calls": nested(10_000)}}, "agent_run.tool_calls[0][0]"),
]


def test_what_is_wrong_is_named_by_its_path(subtests):
    for case, problem in REFUSED:
        with subtests.test(case=case, problem=problem):
            assert any(problem in found for found in problems(case)), problems(case)


def test_a_problem_says_what_is_accepted_and_what_was_given(subtests):
    for changes, problem in [
        ({"keyword": ["x"]}, f"keyword: {UNKNOWN.format('keywords')}"),
        ({"zzz": 1}, "zzz: no field has this name; leave it out"),
        ({"agent_run": {"output": "x"}}, f"agent_run.output: {UNKNOWN.format('final_output')}"),
        (
            {"thresholds": {"latency_ms": "fast"}},
            "thresholds.latency_ms: give an object or a number or true or false, not a text",
        ),
        (
            {"rubric": {"criteria": []}},
            "rubric.criteria: list should have at least 1 item after validation, not 0",
        ),
        (
            {"rubric": {"criteria": [3]}},
            "rubric.criteria[0]: give an object (fields: name, description, weight, anchors), not 3",
        ),
        ({"keywords": "x" * 100}, "keywords: give a list, not a text"),
        (
            {"audit": {"credentials": "bad"}},
            "audit.credentials: give 'info', 'warning' or 'critical' or 'output' or 'off', not a text",
        ),
        ({"agent_run": {"tool_calls": [{}]}}, "agent_run.tool_calls[0].name: is missing; add it"),
        (
            {"agent_run": {"tool_calls": [{"name": "a", "args": 3}]}},
            "agent_run.tool_calls[0].args: give an object or a text, not 3",
        ),
        (
            {"rubric": {"criteria": [{"name": "a"}, {"name": "a"}]}},
            "rubric: each criterion needs a name of its own",
        ),
    ]:
        with subtests.test(changes=changes):
            assert problems({"agent_run": RUN, **changes}) == (problem,)


def test_a_count_is_a_whole_number(subtests):
    for value, shown in [(3.5, "3.5"), (True, "True"), ("3", "a text"), (1e300, "a greater number")]:
        with subtests.test(value=value):
            (problem,) = problems({"agent_run": {**RUN, "total_tokens": value}})

            assert problem.startswith("agent_run.total_tokens: give a")
            assert problem.endswith(f"not {shown}")


def test_a_long_list_of_problems_is_cut_and_counted():
    found = problems({"agent_run": {**RUN, "tool_calls": [3] * 200}})

    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1] == "and 150 more problems"


def test_a_case_shares_nothing_with_what_was_given():
    args = {"id": 1}
    taken = read_case({"agent_run": {**RUN, "tool_calls": [{"name": "a", "args": args}]}})
    args["id"] = 2

    assert isinstance(taken, AcceptedCase)
    assert taken.case.agent_run.tool_calls[0].args == {"id": 1}
    assert taken.plain["agent_run"]["tool_calls"][0]["args"] == {"id": 1}


def test_lone_surrogates_are_replaced():
    taken = read_case({"agent_run": {"final_output": "a\ud800b \U0001f600"}})

    assert taken.case.agent_run.final_output == "a\ufffdb \U0001f600"


@given(any_json)
def test_no_value_raises(value):
    assert isinstance(read_case(value), RefusedCase)
    taken = read_case({"agent_run": {"final_output": "x", "metadata": {"any": value}}})
    assert isinstance(taken, RefusedCase) or json.dumps(taken.plain, allow_nan=False)


def test_any_mapping_is_an_object(subtests):
    for case in [
        UserDict({"agent_run": RUN}),
        {"agent_run": UserDict(RUN)},
        MappingProxyType({"agent_run": RUN}),
    ]:
        with subtests.test(kind=type(case).__name__):
            assert isinstance(read_case(case), AcceptedCase)


def test_user_input_is_another_name_of_the_input():
    judge = ScriptedJudge([{"score": 5, "rationale": "fine"}])
    run = {"user_input": "Where is it?", "final_output": "In transit."}
    evaluate({"agent_run": run, "subjective_criteria": ["clarity"]}, judge=judge)

    assert judge.requests[0].input == "Where is it?"
    assert AgentRun(**run).input == "Where is it?"


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
    (
        lambda: EvaluationContract(must_call=["pay"], trajectory={"forbidden_tools": ["pay"]}),
        'EvaluationContract: "pay" has to be called and is in trajectory.forbidden_tools, so that no run can',
    ),
    (
        lambda: EvaluationContract(expected_trajectory=["a", "b"], trajectory={"forbidden_tools": ["b"]}),
        'EvaluationContract: "b" has to be called and is in trajectory.forbidden_tools',
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
            assert not re.search(r"function-|\(\)|pydantic|\n", str(refused.value))


def test_each_wrong_field_has_its_own_sentence_in_a_value_error_without_the_one_of_pydantic():
    with pytest.raises(ValueError, match=r"^keywords: .* not 3; owner: give a text, not 4$") as refused:
        EvaluationContract(keywords=3, owner=4)

    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__
