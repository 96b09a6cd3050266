"""What a contract says of a call before it is made: its arguments, its place, its address, its number."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage

from agents import ExecutionAgent
from agents.loop.tool_arguments import ToolArguments
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, evaluate, run_from_state
from evaluation.contract.requirements import Contract
from orchestrator import LangGraphOrchestrator
from orchestrator.judging.tools.call_rules import CallBounds, CallRules, read_call_rules
from orchestrator.judging.tools.executor_tools import ExecutorTools
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

SCHEMA = ToolArguments({"type": "object", "properties": {"seats": {"type": "integer"}}})
TOOLS = ExecutorTools(readers={"book": SCHEMA})


def made(name="book", result="booked", error=None, **args):
    """The record of a call; ``gate`` and ``effect`` are fields of their own."""
    notes = {key: args.pop(key) for key in ("gate", "effect") if key in args}
    return {"name": name, "args": args, "result": result, "error": error, "latency_ms": 1.0, **notes}


def expect(*actions, writing=("book",), mode="any_order", **rules):
    """A contract that expects these actions: a name, or the arguments of a booking."""
    named = [
        each if isinstance(each, str) or "name" in each else {"name": "book", "args": each}
        for each in actions
    ]
    return {
        "expected_trajectory": named,
        "trajectory_match_mode": mode,
        "trajectory": {"acting_tools": [*writing], **rules},
    }


def find(contract, before, name="book", shown="", **args):
    rules = read_call_rules([Contract.read(contract)], (), TOOLS.complete_call, shown)
    return rules.find_breach(name, args, before)


# --------------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("contract", "args", "is_excluded"),
    [
        (expect({"seats": 2}), {"seats": 2}, False),
        (expect({"seats": 2}), {"seats": 3}, True),
        (expect({"seats": 2}), {"seats": "2"}, False),
        (expect({"seats": 2}), {"seats": "3"}, True),
        (expect({"seats": 2}), {"seats": 2.0}, False),
        (expect({"price": 8.5}), {"price": "8.50"}, True),
        (expect({"price": 8.5}, arguments={"numbers_as_text": True}), {"price": "8.50"}, False),
        (expect({"seats": 2}), {"seats": 2, "meal": True}, True),
        (expect({"seats": 2}, arguments={"match": "superset"}), {"seats": 2, "meal": True}, False),
        (expect({"seats": 2}, arguments={"match": "ignore"}), {"seats": 9}, False),
        (expect("book"), {"seats": 9}, False),
        (expect({"rows": [1, 2]}, arguments={"unordered": ["rows"]}), {"rows": [2, 1]}, False),
        (expect({"name": "book", "args": {"seats": 2}, "optional": True}), {"seats": 2}, False),
        (expect({"name": "book", "args": {"seats": 2}, "optional": True}), {"seats": 3}, True),
        (
            expect({"any_of": [{"name": "book", "args": {"seats": 4}}, "hold"], "name": None}),
            {"seats": 4},
            False,
        ),
        (expect({"seats": 2}, mode="exact"), {"seats": 3}, True),
        (expect({"seats": 2}, mode="in_order"), {"seats": 3}, True),
        (expect({"seats": 2}, mode="subset"), {"seats": 3}, True),
        (expect({"seats": 2}, ignored_tools=["book"]), {"seats": 3}, False),
        (expect({"seats": 2}, mode="no such mode"), {"seats": 3}, False),
        (expect(), {"seats": 3}, True),
        ({"trajectory": {"acting_tools": ["book"]}}, {"seats": 3}, False),
    ],
)
def test_a_call_is_excluded_if_the_evaluation_of_the_run_would_call_it_an_unexpected_write(
    contract, args, is_excluded
):
    call = TOOLS.complete_call(made(**args))
    recorded = {"name": "book", "args": call.get("received", args), "result": "booked"}
    report = evaluate({"agent_run": {"tool_calls": [recorded], "final_output": "x"}, **contract})
    checks = report["metrics"]["trajectory"]["checks"]
    failed = [each["metric"] for each in checks if each["passed"] is False]

    assert ("unexpected_writes" in failed) is is_excluded
    assert (find(contract, [], **args) is not None) is is_excluded


@pytest.mark.parametrize("order", [[1, 2], [2, 1]])
def test_two_expected_calls_come_in_any_order_and_no_third_one_does(order):
    contract = expect({"seats": 1}, {"seats": 2})
    first, second = ({"seats": seats} for seats in order)

    assert find(contract, [], **first) is None
    assert find(contract, [made(**first)], **second) is None
    assert find(contract, [made(**first)], **first) is not None
    assert "no further call" in find(contract, [made(**first), made(**second)], **first).told


def test_an_early_call_does_not_take_the_place_of_a_later_one():
    contract = expect("book", {"seats": 2})

    assert find(contract, [made(seats=2)], seats=5) is None
    assert find(contract, [made(seats=2), made(seats=5)], seats=2) is not None


def test_a_call_is_not_refused_for_an_excess_before_it():
    contract = expect({"seats": 2})

    assert find(contract, [made(seats=3)], seats=2) is None


@pytest.mark.parametrize(
    ("before", "is_excluded"),
    [
        (made(seats=2), True),
        (made(seats="2"), True),
        (made(seats=2, result=None), True),
        (made(seats=2, gate="stated"), True),
        (made(seats=2, result=None, error="timeout"), False),
        (made(seats=2, result="Error: no seats left"), False),
        (made(seats=2, result=None, error="refused", gate="denied"), False),
        (made(seats=2, result=None, error="refused", gate="unknown"), False),
        (made(seats=2, result=None, error="card expired", effect="none"), False),
        (made("hold", seats=2), False),
    ],
    ids=str,
)
def test_a_call_takes_a_place_unless_it_had_no_effect(before, is_excluded):
    assert (find(expect({"seats": 2}), [before], seats=2) is not None) is is_excluded


@pytest.mark.parametrize("mode", ["exact", "any_order", "in_order"])
def test_a_tool_that_only_reads_is_not_refused(mode):
    assert find(expect({"seats": 2}, mode=mode), [], "search", text="seats") is None


def test_annotations_say_which_tools_write_if_the_contract_does_not():
    contract = {"expected_trajectory": [{"name": "book", "args": {"seats": 2}}]}

    assert find(contract, [], seats=3) is None
    assert (
        read_call_rules([Contract.read(contract)], ["book"]).find_breach("book", {"seats": 3}, []) is not None
    )
    assert read_call_rules([Contract.read(contract)], ["book"]).find_breach("search", {}, []) is None


# --------------------------------------------------------------------------------------------- words


def test_a_person_and_a_model_read_what_differs_if_the_task_states_it():
    breach = find(expect({"seats": 2, "day": "Monday"}), [], shown="Book 2 seats", seats=3, day="Monday")

    assert breach.told == breach.finding == "The contract excludes this call: book has 3 for seats, not 2."


@pytest.mark.parametrize(
    ("args", "finding"),
    [
        ({"seats": 3}, "book has 3 for seats, not 41"),
        ({}, "book lacks seats, which must be 41"),
    ],
)
def test_a_value_that_the_task_does_not_state_is_told_to_a_person_alone(args, finding):
    breach = find(expect({"seats": 41}), [], shown="Book the usual number of seats", **args)

    assert breach.told == "The contract excludes these arguments of 'book': seats."
    assert breach.finding == f"The contract excludes this call: {finding}."


def test_the_closest_of_the_expected_calls_that_are_left_is_named():
    contract = expect({"seats": 1, "row": 1}, {"seats": 2, "row": 2}, {"seats": 3, "row": 3})
    breach = find(contract, [made(seats=2, row=2)], seats=2, row=3)

    assert breach.finding == "The contract excludes this call: book has 2 for seats, not 3."


# --------------------------------------------------------------------------------------------- order


@pytest.mark.parametrize(
    ("mode", "waits"), [("in_order", True), ("exact", True), ("any_order", False), ("superset", False)]
)
def test_a_later_call_waits_for_an_earlier_one_with_other_arguments_if_the_mode_has_an_order(mode, waits):
    contract = expect({"seats": 1}, {"seats": 2}, mode=mode)
    breach = find(contract, [], seats=2)

    assert (breach is not None) is waits
    assert breach is None or breach.told == "Tool 'book' has to wait: call 'book' with other arguments first."
    assert find(contract, [made(seats=1)], seats=2) is None


def test_a_call_waits_for_an_answer_and_not_for_a_reading_or_optional_call():
    optional = {"name": "hold", "optional": True}
    contract = expect("search", optional, "pay", "book", writing=["hold", "pay", "book"], mode="in_order")

    assert "call 'pay' first" in find(contract, [made("hold")]).told
    assert "call 'pay' first" in find(contract, [made("pay", result=None)]).told
    assert find(contract, [made("pay", gate="reused")]) is None
    assert find(contract, [], "hold") is None


def test_an_optional_call_may_come_before_the_required_ones_in_mode_in_order():
    contract = expect("pay", {"name": "hold", "optional": True}, writing=["hold", "pay"], mode="in_order")

    assert find(contract, [], "hold") is None


def test_effects_have_no_order_if_the_contract_names_no_mode():
    contract = expect({"seats": 1}, {"seats": 2})
    del contract["trajectory_match_mode"]

    assert find(contract, [], seats=2) is None


# --------------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize("note", [{"gate": "denied"}, {"gate": "reused"}, {"effect": "none"}], ids=str)
@pytest.mark.parametrize("bound", ["max", "exactly"])
def test_a_call_without_an_effect_does_not_count(note, bound):
    contract = {"checks": [{"check": "tool_calls", "tool": "book", bound: 1}]}
    rules = read_call_rules([Contract.read(contract)])

    assert rules.find_breach("book", {}, [made(**note)]) is None
    assert rules.find_breach("book", {}, [made()]) is not None
    assert rules.find_lasting_breach([made(), made(**note)]) is None


def test_a_step_and_a_run_have_rules_of_their_own():
    of_run = read_call_rules([Contract.read(expect({"seats": 1}, {"seats": 2}))])
    bounds = CallBounds(of_run, CallRules(), [made(seats=1)])

    assert bounds.find_breach("book", {"seats": 1}, []) is not None
    assert bounds.find_breach("book", {"seats": 2}, []) is None
    assert bounds.find_breach("book", {"seats": 2}, [made(seats=2)]) is not None


# --------------------------------------------------------------------------------------------- in a run


@pytest.mark.parametrize(
    ("task", "told"), [("Book 2 seats", "3 for seats, not 2"), ("x", "of 'book': seats.")]
)
def test_an_excluded_call_does_not_run_and_the_model_corrects_it(task, told):
    booked = []

    def book(seats: int) -> str:
        """Book seats."""
        booked.append(seats)
        return "booked"

    replies = [AIMessage("", tool_calls=[{"name": "book", "args": {"seats": n}, "id": n}]) for n in "32"]
    model = ScriptedChatModel([*replies, "done"])
    agents = FakePlanner(["one"]), ExecutionAgent(model, [book]), FakeMonitor()
    contract = expect({"seats": 2})
    state = LangGraphOrchestrator(*agents, contract=EvaluationContract(**contract)).run(task)

    assert (state["status"], booked) == ("success", [2])
    assert [call.get("gate") for call in state["results"][0]["tool_calls"]] == ["forbidden", None]
    assert told in model.prompts[1][-1].text
    assert evaluate({"agent_run": run_from_state(state), **contract})["status"] == "passed"


def test_arguments_that_are_nested_too_deep_for_a_record_are_compared_as_well():
    deep: object = 2
    for _ in range(300):
        deep = [deep]

    def book(seats: object) -> str:
        """Book seats."""
        return "booked"

    call = AIMessage("", tool_calls=[{"name": "book", "args": {"seats": deep}, "id": "1"}])
    agents = FakePlanner(["one"]), ExecutionAgent(ScriptedChatModel([call, "done"]), [book]), FakeMonitor()
    contract = EvaluationContract(**expect({"seats": 2}))
    state = LangGraphOrchestrator(*agents, contract=contract, max_retries=0).run("x")

    assert state["results"][0]["tool_calls"][0]["gate"] == "forbidden"
