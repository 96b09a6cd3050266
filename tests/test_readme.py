"""The README says what is so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent, MonitoringAgent
from agents.testing import ScriptedChatModel
from evaluation import build_evaluation_graph
from orchestrator import LangGraphOrchestrator, RetryPolicy
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_program_of_the_readme_runs_as_it_stands(embedded_llm):
    program = blocks("python")[0]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] in ("success", "failed")


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_program_of_the_readme_prints_what_it_says(at):
    program = blocks("python")[at]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    assert f"```\n{done.stdout}```" in README


@pytest.mark.parametrize(
    ("at", "name"),
    list(enumerate(["quickstart.py", "step_contract.py", "evaluate_run.py", "judges.py", "stored_runs.py"])),
)
def test_a_program_of_the_readme_is_an_example(at, name):
    assert blocks("python")[at] in (ROOT / "examples" / name).read_text(encoding="utf-8")


def test_the_pictures_of_the_graphs_are_what_the_code_draws():
    run = LangGraphOrchestrator(FakePlanner(), FakeExecutor(), FakeMonitor()).draw_mermaid()
    evaluation = build_evaluation_graph().get_graph().draw_mermaid()
    pictures = [picture.strip() for picture in blocks("mermaid")]

    assert pictures == [run.strip(), supervised().draw_mermaid().strip(), evaluation.strip()]


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


@pytest.mark.parametrize("target", re.findall(r"\]\(((?!https?:)[^)]+)\)", README))
def test_what_the_readme_links_to_is_there(target):
    assert (ROOT / target).exists()


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_every_example_says_what_it_shows(name):
    assert (ROOT / "examples" / name).read_text(encoding="utf-8").startswith('"""')
