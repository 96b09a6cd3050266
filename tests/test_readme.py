"""The README says what is so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator import LangGraphOrchestrator
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_program_of_the_readme_runs_as_it_stands(embedded_llm):
    [program] = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] in ("success", "failed")


def test_the_program_of_the_readme_is_the_quickstart_example():
    [program] = blocks("python")

    assert program in (ROOT / "examples" / "quickstart.py").read_text(encoding="utf-8")


def test_the_picture_of_the_graph_is_what_the_code_draws():
    [picture] = blocks("mermaid")
    drawn = LangGraphOrchestrator(FakePlanner(), FakeExecutor(), FakeMonitor()).draw_mermaid()

    assert picture.strip() == drawn.strip()


@pytest.mark.parametrize("target", re.findall(r"\]\(((?!https?:)[^)]+)\)", README))
def test_what_the_readme_links_to_is_there(target):
    assert (ROOT / target).exists()


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_every_example_says_what_it_shows(name):
    assert (ROOT / "examples" / name).read_text(encoding="utf-8").startswith('"""')
