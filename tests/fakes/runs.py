"""Orchestrators of fake agents, and what tests read of the states of their runs."""

import re

import pytest
from langchain_core.messages import AIMessage

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import ConfigurationError, LangGraphOrchestrator
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

THREAD = {"configurable": {"thread_id": "thread"}}


def build(executor=None, monitor=None, plan=("one", "two"), planner=None, compressor=None, **options):
    """An orchestrator whose agents are fakes unless they are given; the monitor accepts every result."""
    agents = planner or FakePlanner(list(plan)), executor or FakeExecutor(), monitor or FakeMonitor()
    return LangGraphOrchestrator(*agents, compressor, **options)


def run(*agents, task="x", **options):
    return build(*agents, **options).run(task)


def agent(*replies, tools=(), usage=None):
    return ExecutionAgent(ScriptedChatModel(list(replies), usage=usage), list(tools))


def call(name, /, **args):
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": "1"}])


def price_of(title: str) -> float:
    """Return the price of a book."""
    return 12.5


def delegate_to(agent):
    """A tool that hands its work on to an executor, or to an agent of LangChain."""

    def delegate(to: str) -> str:
        """Hand the work on."""
        if isinstance(agent, ExecutionAgent):
            return agent.execute_step(to)
        return agent.invoke({"messages": [("user", to)]})["messages"][-1].text

    return delegate


def stored_state(orchestrator):
    return orchestrator.graph.get_state(THREAD).values


def statuses(state, name="results"):
    return [record["status"] for record in state[name]]


def failure_kind(state):
    return state["failure"] and state["failure"]["kind"]


def refused_with(start, end=""):
    """Expect that an argument is refused, in words that begin and end with these texts."""
    return pytest.raises(ConfigurationError, match=f"(?s)^{re.escape(start)}.*{re.escape(end)}$")
