"""The arguments of a call are compared as its tool received them, in the run and from its record."""

from __future__ import annotations

from datetime import date
from typing import Literal

from langchain_core.messages import AIMessage

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, evaluate, run_from_state
from orchestrator import LangGraphOrchestrator
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner


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
    """A run whose model makes one call of a tool."""
    call = AIMessage("", tool_calls=[{"name": "book", "args": args, "id": "1"}])
    executor = ExecutionAgent(ScriptedChatModel([call, "booked"]), [tool])
    return LangGraphOrchestrator(
        FakePlanner(["one"]), executor, FakeMonitor(), contract=contract, max_retries=0
    ).run("x")


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

            assert (state["status"], state["evidence"]["actions"], report.status) == (
                "success",
                "code",
                "passed",
            )
            assert state["results"][0]["tool_calls"][0]["args"] == written


def test_the_record_has_what_the_model_wrote_and_what_the_tool_received():
    [call] = run({"number": "2", "day": "2026-05-01"})["results"][0]["tool_calls"]

    assert call["args"] == {"number": "2", "day": "2026-05-01"}
    assert call["received"] == {"number": 2, "day": "2026-05-01"}
