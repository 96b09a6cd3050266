"""A contract that names a tool which the executor lacks is refused before a model is called."""

from __future__ import annotations

import pytest
from langchain_core.tools import tool

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import ConfigurationError, LangGraphOrchestrator
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner


@tool
def search(query: str) -> str:
    """Search."""
    return query


@tool
def pay(amount: int) -> str:
    """Pay."""
    return str(amount)


def build(contract=None, tools=(search, pay), plan=("one",), **options) -> LangGraphOrchestrator:
    """An orchestrator whose executor has these tools; its model answers nothing."""
    executor = options.pop("executor", None) or ExecutionAgent(ScriptedChatModel([]), list(tools))
    planner = options.pop("planner", FakePlanner([*plan]))
    return LangGraphOrchestrator(planner, executor, FakeMonitor(), contract=contract, **options)


def with_tools(*tools) -> FakeExecutor:
    executor = FakeExecutor()
    executor.tools = [*tools]
    return executor


def contract_of(**fields) -> EvaluationContract:
    return EvaluationContract.model_validate(fields)


WRONG = {
    "must_call": {"must_call": ["serach"]},
    "checks[0].tool": {"checks": [{"check": "tool_calls", "tool": "serach", "max": 0}]},
    "expected_trajectory[1]": {"expected_trajectory": ["pay", "serach"]},
    "trajectory.forbidden_tools": {"trajectory": {"forbidden_tools": ["serach"]}},
    "trajectory.ignored_tools": {"trajectory": {"ignored_tools": ["serach"]}},
    "trajectory.acting_tools": {"trajectory": {"acting_tools": ["serach"]}},
    "trajectory.final_tools": {"trajectory": {"final_tools": ["serach"]}},
    "trajectory.tools": {"trajectory": {"tools": {"serach": {"match": "ignore"}}}},
    "audit.rules[0].forbidden_tools": {"audit": {"rules": [{"id": "r", "forbidden_tools": ["serach"]}]}},
}


def test_a_misspelt_tool_is_refused_in_every_field_that_names_tools(subtests):
    for field, fields in WRONG.items():
        with subtests.test(field=field):
            with pytest.raises(ConfigurationError) as caught:
                build(contract_of(**fields))
            assert str(caught.value) == (
                f'contract.{field} names "serach"; the tools of the executor are search, pay'
            )


def test_a_tool_that_has_to_be_called_is_refused_if_the_executor_lacks_it(subtests):
    for fields in [
        {"must_call": ["lookup"]},
        {"expected_trajectory": ["lookup"]},
        {"expected_trajectory": [{"any_of": ["lookup", "drop"]}]},
        *({"checks": [{"check": "tool_calls", "tool": "lookup", bound: 1}]} for bound in ("min", "exactly")),
    ]:
        for tools, known in [
            ((search, pay), "the tools of the executor are search, pay"),
            ((), "the executor has no tools; give it"),
        ]:
            with subtests.test(fields=fields), pytest.raises(ConfigurationError, match=known):
                build(contract_of(**fields), tools)


def test_an_executor_whose_tools_are_unknown_accepts_every_name(subtests):
    for executor in [with_tools(), FakeExecutor()]:
        with subtests.test(executor=executor):
            assert build(contract_of(must_call=["serach"]), executor=executor).run("x")["results"]


def test_the_contract_of_a_function_is_checked_before_its_step_runs():
    orchestrator = build(step_contract=lambda step, index: contract_of(must_call=["serach"]))
    state = orchestrator.run("x")
    assert state["failure"]["kind"] == "contract_error"
    assert state["failure"]["message"] == (
        'step 1: the contract cannot be used: must_call names "serach"; the tools of the executor are '
        "search, pay"
    )
    assert state["results"] == []
