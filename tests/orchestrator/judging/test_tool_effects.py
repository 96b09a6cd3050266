from datetime import date
from typing import Literal

import pytest
from langchain_core.tools import StructuredTool, tool

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, evaluate, run_from_state
from evaluation.contract.requirements import Contract
from orchestrator import ConfigurationError
from orchestrator.judging.contract_choice import read_call_rules
from orchestrator.judging.executor_tools import read_executor_tools
from orchestrator.state.graph_state import OrchestratorState
from tests.fakes.executor import FakeExecutor
from tests.fakes.runs import agent, call, refused_with
from tests.fakes.runs import build as build_run
from tests.fakes.runs import run as run_agents


def run_tools(calls: list[str], tools: list[StructuredTool], **contract: object) -> OrchestratorState:
    # One after the other: calls of one reply run at once, and are recorded in the order of their starts.
    executor = agent(*map(call, calls), "done", tools=tools)
    return run_agents(executor, plan=["one"], max_retries=0, contract=contract)


@pytest.mark.parametrize(
    ("answer", "basis"), [("paid 5", "checked"), ("perhaps", "unverified"), ("12", "unverified")]
)
def test_an_unknown_effect_of_a_stated_tool_makes_no_content_checked(answer, basis):
    tools = [StructuredTool.from_function(lambda: answer, name="pay", description="Pay.")]
    contract = {"required_content": [{"text": "done"}], "trajectory": {"acting_tools": ["pay"]}}
    state = run_tools(["pay"], tools, **contract)

    assert (state["status"], state["basis"]) == ("success", basis)


def test_an_executor_with_other_tools_says_nothing(subtests):
    for tools in [None, 3, "find", ["find"], [object()]]:
        with subtests.test(tools=tools):
            executor = FakeExecutor()
            executor.tools = tools

            read = read_executor_tools(executor)
            assert (read.known, read.tools, read.is_foreign) == (None, {}, True)


def made(name="book", result="booked", error=None, **args):
    notes = {key: args.pop(key) for key in ("gate", "outcome", "writes") if key in args}
    return {"name": name, "args": args, "result": result, "error": error, "latency_ms": 1.0, **notes}


# --------------------------------------------------------------------------------------------- numbers


def test_a_call_without_an_effect_does_not_count(subtests):
    for note in [{"gate": "denied"}, {"gate": "reused"}]:
        for bound in ["max", "exactly"]:
            with subtests.test(note=note, bound=bound):
                contract = {"checks": [{"check": "tool_calls", "tool": "book", bound: 1}]}
                rules = read_call_rules([Contract.read(contract)])

                assert rules.find_breach(made(), [made(**note)]) is None
                assert rules.find_breach(made(), [made()]) is not None
                assert rules.find_lasting_breach([made(), made(**note)]) is None


def test_only_effects_that_are_certain_break_a_bound_for_good(subtests):
    rules = read_call_rules([Contract.read({"checks": [{"check": "tool_calls", "tool": "book", "max": 1}]})])
    cases = [
        ("unknown", True, False),
        ("refused", True, False),
        ("acted", True, True),
        ("refused", False, True),
    ]
    for outcome, writes, is_broken in cases:
        with subtests.test(outcome=outcome, writes=writes):
            note = {"outcome": outcome, **({"writes": True} if writes else {})}

            assert (rules.find_lasting_breach([made(), made(**note)]) is not None) is is_broken


# --------------------------------------------------------------------------------------------- in a run


def book(  # noqa: PLR0917 - called by the model
    number: int = 1,
    name: str = "x",
    fast: bool = False,
    seats: list[int] | None = None,
    day: date | None = None,
    kind: Literal["a", "b"] = "a",
) -> str:
    """Book a seat."""
    return f"Booked: {number} {name} {fast} {seats} {day} {kind}"


def run(args, contract=None, tool=book):
    executor = agent(call("book", **args), "booked", tools=[tool])
    return run_agents(executor, plan=["one"], contract=contract, max_retries=0)


def expect(**args):
    return EvaluationContract(expected_trajectory=[{"name": "book", "args": args}])


CALLS = [
    ({"number": "2"}, {"number": 2}),
    ({"number": 2.0}, {"number": 2}),
    ({"number": "12345678901234567"}, {"number": 12345678901234567}),
    ({"fast": "true"}, {"fast": True}),
    ({"fast": 1}, {"fast": True}),
    ({"seats": ["1", 2]}, {"seats": [1, 2]}),
    ({"day": "2026-05-01"}, {"day": "2026-05-01"}),
    ({"name": "2", "kind": "b"}, {"name": "2", "kind": "b"}),
]


def test_a_run_and_its_record_agree_on_what_the_tool_received(subtests):
    for written, received in CALLS:
        with subtests.test(written=written, received=received):
            contract = expect(**received)
            state = run(written, contract)
            report = evaluate({"agent_run": run_from_state(state), **contract.model_dump(exclude_unset=True)})

            assert (state["status"], report.status) == ("success", "passed")
            assert state["evidence"]["actions"] == "code"
            assert state["results"][0]["tool_calls"][0]["args"] == written


def test_the_record_has_what_the_model_wrote_and_what_the_tool_received():
    [made_call] = run({"number": "2", "day": "2026-05-01"})["results"][0]["tool_calls"]

    assert made_call["args"] == {"number": "2", "day": "2026-05-01"}
    assert made_call["received"] == {"number": 2, "day": "2026-05-01"}


@tool
def search(query: str) -> str:
    """Search."""
    return query


@tool
def pay(amount: int) -> str:
    """Pay."""
    return str(amount)


def build(contract=None, tools=(search, pay), executor=None, **options):
    own = executor or ExecutionAgent(ScriptedChatModel([]), list(tools))
    return build_run(own, plan=["one"], contract=contract, **options)


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
        told = f'contract.{field} names "serach"; ', "the tools of the executor are search, pay"
        with subtests.test(field=field), refused_with(*told):
            build(contract_of(**fields))


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
    without_tools = FakeExecutor()
    without_tools.tools = []
    for executor in [without_tools, FakeExecutor()]:
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
