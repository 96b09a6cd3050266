"""The gate before each tool call of a step."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner


class Office:
    """Tools that note what they did."""

    def __init__(self):
        self.done: list[str] = []

    def tools(self):
        def send(to: str) -> str:
            """Send the letter."""
            self.done.append(f"send {to}")
            return f"sent to {to}"

        def read(name: str) -> str:
            """Read a file."""
            self.done.append(f"read {name}")
            return f"text of {name}"

        async def post(to: str) -> str:
            """Post the letter."""
            self.done.append(f"post {to}")
            return f"posted to {to}"

        return [send, read, post]


def ask(*calls):
    """A reply that calls tools by name and first argument."""
    names = {"send": "to", "read": "name", "post": "to"}
    made = [{"name": name, "args": {names[name]: value}, "id": f"{name}-{value}"} for name, value in calls]
    return AIMessage("", tool_calls=made)


def run(office, *replies, **options):
    model = ScriptedChatModel(replies)
    executor = ExecutionAgent(model, office.tools())
    orchestrator = LangGraphOrchestrator(FakePlanner(["write"]), executor, FakeMonitor(), **options)
    return orchestrator.run("x"), model


FORBIDDING = [
    {"trajectory": {"forbidden_tools": ["send"]}},
    {"audit": {"rules": [{"id": "r", "forbidden_tools": ["send"]}]}},
    {"audit": {"rules": [{"id": "r", "allowed_tools": ["read", "post"]}]}},
]


@pytest.mark.parametrize("contract", FORBIDDING, ids=["trajectory", "audit", "allowed"])
def test_a_forbidden_tool_does_not_run_and_its_call_fails_the_attempt(contract):
    office = Office()
    state, model = run(
        office,
        *(ask(("send", "Ada"), ("read", "a")), "sent", "not sent"),
        contract=EvaluationContract.model_validate(contract),
    )

    first, second = state["results"]
    call = first["tool_calls"][0]
    assert office.done == ["read a"]
    assert (call["error"], call["gate"]) == (
        "Tool 'send' is forbidden in this step.",
        "forbidden",
    )
    assert "Tool 'send' is forbidden in this step." in [message.text for message in model.prompts[1]]
    assert (first["status"], second["status"], state["status"]) == ("failed", "validated", "success")


def test_the_run_says_which_forbidden_tools_were_called_on_the_way():
    state, _ = run(
        Office(),
        *(ask(("send", "Ada")), "sent", "not sent"),
        contract=EvaluationContract.model_validate(FORBIDDING[0]),
    )

    assert state["warnings"] == ["step 1: the executor called forbidden tools, which did not run: send"]


@pytest.mark.parametrize("severity", ["info", "warning"])
def test_a_rule_that_only_reports_a_call_lets_the_tool_run(severity):
    office = Office()
    rule = {"id": "r", "forbidden_tools": ["send"], "severity": severity}
    run(office, ask(("send", "Ada")), "sent", contract=EvaluationContract(audit={"rules": [rule]}))

    assert office.done == ["send Ada"]


def test_without_a_rule_every_tool_runs():
    office = Office()
    state, _ = run(office, ask(("send", "Ada"), ("post", "Bob")), "done")

    assert sorted(office.done) == ["post Bob", "send Ada"]
    assert not [call for call in state["results"][0]["tool_calls"] if "gate" in call]
