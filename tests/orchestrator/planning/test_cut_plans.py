"""Half a plan is never executed, whatever reason its server states for the end."""

from __future__ import annotations

from agents import ExecutionAgent, PlanningAgent
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from tests.fakes.monitor import FakeMonitor

CUT = '{"plan": ["look", "remove /data'


def test_a_plan_without_its_end_is_invalid_and_nothing_of_it_is_executed():
    executor = ScriptedChatModel([])
    planner = PlanningAgent(ScriptedChatModel([CUT, CUT]))
    state = LangGraphOrchestrator(planner, ExecutionAgent(executor), FakeMonitor()).run("clean up")

    assert (state["status"], state["failure"]["kind"]) == ("failed", "plan_invalid")
    assert "its JSON has no end; give another model" in state["failure"]["message"]
    assert executor.prompts == []
