"""Every example has a page, and the gallery lists the pages in the order in which one learns."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import OLLAMA_MODEL

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "examples"
LESSONS = [
    "evaluate_run",
    "first_run",
    "tools",
    "contracts",
    "structured_output",
    "models_by_role",
    "parallel_plan",
    "human_approval",
    "crash_and_resume",
    "fastapi_app",
    "notebook",
    "ollama_run",
    "mcp_tools",
    "contract_middleware",
    "your_own_agent",
    "judges",
]
FILES = sorted(path.name for path in (ROOT / "examples").iterdir() if path.is_file())
GALLERY = (PAGES / "index.md").read_text(encoding="utf-8")


def test_the_gallery_has_the_order_in_which_one_learns():
    [contents] = re.findall(r"```\{toctree\}\n(.*?)```", GALLERY, re.DOTALL)
    assert [line for line in contents.split() if line in LESSONS] == LESSONS


def test_a_page_says_how_to_run_its_example(subtests):
    for lesson in LESSONS:
        with subtests.test(lesson=lesson):
            page = (PAGES / f"{lesson}.md").read_text(encoding="utf-8")
            [file] = (ROOT / "examples").glob(f"{lesson}.*")
            assert f"examples/{file.name}" in page


def test_the_gallery_names_every_example(subtests):
    for name in FILES:
        with subtests.test(name=name):
            lesson, _ = name.split(".")
            assert lesson in LESSONS or f"examples/{name}" in GALLERY


def test_the_tutorial_leads_through_the_first_six_examples():
    tutorial = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    positions = [tutorial.find(f"examples/{lesson}.py") for lesson in LESSONS[:6]]
    assert -1 not in positions
    assert positions == sorted(positions)


EXAMPLE = Path(__file__).parents[2] / "examples" / "ollama_run.py"


def run_example(host: str) -> list[str]:
    process = subprocess.run(
        [sys.executable, str(EXAMPLE), OLLAMA_MODEL],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "OLLAMA_HOST": host, "NO_PROXY": "127.0.0.1"},
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


def test_the_example_uses_a_model_of_the_server(ollama_url):
    lines = run_example(ollama_url)

    assert lines[0] == f"model: {OLLAMA_MODEL}"
    assert any(line.startswith(("success, ", "failed, ")) for line in lines), lines
    assert any(line.startswith("step 1, attempt 1: ") for line in lines), lines


MAIN = Path(__file__).parents[2] / "examples" / "workers" / "main.py"


@pytest.mark.faults
@pytest.mark.timeout(600)
def test_200_runs_end_and_send_one_letter_each_although_a_worker_is_killed():
    printed = subprocess.check_output([sys.executable, str(MAIN)], text=True)

    assert re.search(r"killed a worker after \d+ letters\n200 results in \d+ s", printed)
    assert printed.endswith("200 letters to 200 customers\n")
