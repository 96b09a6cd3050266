"""Writes the drawings of ``docs/concepts/graph.md`` from the code: ``python -m tests.draw_graphs``."""

import re
from pathlib import Path
from typing import Final

from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator, RetryPolicy
from tests.fakes.executor import FakeExecutor, SynthesizingExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

PAGE: Final = Path(__file__).parents[1] / "docs" / "concepts" / "graph.md"
_DRAWING: Final = re.compile(r"(?<=```mermaid\n).*?(?=```)", re.DOTALL)


def draw_graphs() -> list[str]:
    """Draw the graphs in the order of the page: a run, a supervised run, a run with the evaluation inside."""
    plain = LangGraphOrchestrator(FakePlanner(), SynthesizingExecutor(), FakeMonitor())
    short = LangGraphOrchestrator(PlanningAgent(ScriptedChatModel([])), FakeExecutor(), FakeMonitor())
    supervised, whole = _build_supervised(), short.graph.get_graph(xray=True)
    graphs = plain.graph.get_graph(), supervised.graph.get_graph(), whole
    drawings = [graph.draw_mermaid() for graph in graphs]
    # The documentation reads the settings before a drawing as options of its own.
    return [re.sub(r"\A---\n.*?---\n", "", drawing, flags=re.DOTALL) for drawing in drawings]


def read_drawings() -> list[str]:
    return _DRAWING.findall(PAGE.read_text(encoding="utf-8"))


def _build_supervised() -> LangGraphOrchestrator:
    model = ScriptedChatModel([])
    return LangGraphOrchestrator(
        FakePlanner(),
        ExecutionAgent(model),
        MonitoringAgent(model),
        supervision="llm",
        retry_policy=RetryPolicy(max_replans=1),
        checkpointer=InMemorySaver(),
    )


if __name__ == "__main__":
    drawn, page = iter(draw_graphs()), PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_DRAWING.sub(lambda _: next(drawn), page), encoding="utf-8")
