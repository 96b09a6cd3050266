"""What a contract says of a call before it is made."""

from __future__ import annotations

from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation.contract.requirements import Contract
from orchestrator import LangGraphOrchestrator
from orchestrator.judging.tools.call_rules import CallBounds, CallRules, read_call_rules
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner


def made(name="book", result="booked", error=None, **args):
    """The record of a call; ``gate`` and ``effect`` are fields of their own."""
    notes = {key: args.pop(key) for key in ("gate", "effect") if key in args}
    return {"name": name, "args": args, "result": result, "error": error, "latency_ms": 1.0, **notes}


# --------------------------------------------------------------------------------------------- numbers


def test_a_call_without_an_effect_does_not_count(subtests):
    for note in [{"gate": "denied"}, {"gate": "reused"}, {"effect": "none"}]:
        for bound in ["max", "exactly"]:
            with subtests.test(note=note, bound=bound):
                contract = {"checks": [{"check": "tool_calls", "tool": "book", bound: 1}]}
                rules = read_call_rules([Contract.read(contract)])

                assert rules.find_breach("book", [made(**note)]) is None
                assert rules.find_breach("book", [made()]) is not None
                assert rules.find_lasting_breach([made(), made(**note)]) is None


def test_a_step_and_a_run_have_rules_of_their_own():
    of_run = read_call_rules([Contract.read({"checks": [{"check": "tool_calls", "tool": "book", "max": 2}]})])
    bounds = CallBounds(of_run, CallRules(), [made(seats=1)])

    assert bounds.find_breach("book", []) is None
    assert bounds.find_breach("book", [made(seats=2)]) is not None


# --------------------------------------------------------------------------------------------- in a run


def test_an_excluded_call_does_not_run_and_the_model_corrects_it():
    ran = []

    def find(number: int) -> str:
        """Find an order."""
        ran.append(number)
        return "an order"

    calls = [{"name": name, "args": {"number": 1}, "id": name} for name in ("erase", "find")]
    model = ScriptedChatModel([*(AIMessage("", tool_calls=[call]) for call in calls), "done"])
    tools = [find, tool("erase", description="Erase an order.")(lambda number: ran.append("erased"))]
    agents = FakePlanner(["one"]), ExecutionAgent(model, tools), FakeMonitor()
    state = LangGraphOrchestrator(*agents, contract={"trajectory": {"forbidden_tools": ["erase"]}}).run("x")

    assert (state["status"], ran) == ("success", [1])
    assert [call.get("gate") for call in state["results"][0]["tool_calls"]] == ["forbidden", None]
    assert "Tool 'erase' is forbidden" in model.prompts[1][-1].text
