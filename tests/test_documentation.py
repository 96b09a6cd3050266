"""Runs the documentation: every Python snippet, its printed output, the drawings of the graphs, the links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from pytest_examples import CodeExample, EvalExample, find_examples

from agents import ExecutionAgent, MonitoringAgent
from agents.testing import ScriptedChatModel
from evaluation import build_evaluation_graph
from orchestrator import LangGraphOrchestrator, RetryPolicy
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner
from tests.fakes.scripted_source import scripted_endpoint, with_scripted_model

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKS = [
    (page.relative_to(ROOT).as_posix(), target)
    for page in PAGES
    for target in re.findall(r"\]\(((?!https?:|#)[^)]+)\)", page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("example", list(find_examples(*map(str, PAGES))), ids=str)
def test_a_snippet_runs_and_prints_what_it_says(example: CodeExample, eval_example: EvalExample):
    if "#>" in example.source:
        eval_example.run_print_check(example)
        return
    # Nothing is printed that every model would print: it is enough that the program runs.
    example.source = with_scripted_model(example.source)
    with scripted_endpoint():
        eval_example.run(example)


def supervised():
    model = ScriptedChatModel([])
    return LangGraphOrchestrator(
        FakePlanner(),
        ExecutionAgent(model),
        MonitoringAgent(model),
        supervision="llm",
        retry_policy=RetryPolicy(max_replans=1),
        checkpointer=InMemorySaver(),
    )


def test_the_drawings_of_the_graphs_are_what_the_code_draws():
    run = LangGraphOrchestrator(FakePlanner(), FakeExecutor(), FakeMonitor()).draw_mermaid()
    evaluation = build_evaluation_graph().get_graph().draw_mermaid()
    page = (ROOT / "docs" / "concepts" / "graph.md").read_text(encoding="utf-8")
    drawings = re.findall(r"```mermaid\n(.*?)```", page, flags=re.DOTALL)

    assert drawings == [without_settings(code) for code in (run, supervised().draw_mermaid(), evaluation)]


def without_settings(code):
    """Leave out the settings before a drawing: the documentation reads them as options of its own."""
    return re.sub(r"\A---\n.*?---\n", "", code, flags=re.DOTALL)


@pytest.mark.parametrize(("page", "target"), LINKS)
def test_a_link_leads_to_a_file(page, target):
    assert not target or ((ROOT / page).parent / target.split("#")[0]).exists()


def test_the_readme_stays_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_every_example_says_what_it_shows(name):
    assert (ROOT / "examples" / name).read_text(encoding="utf-8").startswith('"""')
