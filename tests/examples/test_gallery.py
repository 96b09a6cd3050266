"""Every example has a page, and the gallery lists the pages in the order in which one learns."""

from __future__ import annotations

import re
from pathlib import Path

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
