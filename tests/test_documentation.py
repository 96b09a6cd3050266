"""Runs the documentation: every Python snippet, its printed output, the drawings of the graphs, the links."""

import re
from pathlib import Path

import pytest
from pytest_examples import CodeExample, EvalExample, find_examples

from agents.parsing import tool_names
from tests.draw_graphs import draw_graphs, read_drawings
from tests.draw_trace import draw_trace, read_trace
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


def test_the_guide_for_contributors_names_files_and_functions_that_exist():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = ("agents", "evaluation", "orchestrator", "benchmarks", "examples", "tests", "docs")
    files = [*ROOT.glob("*.*"), *(path for folder in folders for path in (ROOT / folder).rglob("*.*"))]
    paths = [f"/{path.relative_to(ROOT).as_posix()}" for path in files]
    source = "\n".join(path.read_text(encoding="utf-8") for path in files if path.suffix == ".py")

    named = set(re.findall(r"`([\w/]+\.(?:py|pyi|md|json))`", guide))
    missing = {name for name in named if not any(path.endswith(f"/{name}") for path in paths)}
    assert missing == {"orchestrator/cli/commands/NAME_command.py"}
    assert {name for name in re.findall(r"`(_\w+)`", guide) if f"def {name}(" not in source} == set()


def test_the_drawings_of_the_graphs_are_what_the_code_draws():
    assert read_drawings() == draw_graphs(), "python -m tests.draw_graphs writes them"


def test_the_trace_is_what_a_tracer_records():
    assert read_trace() == draw_trace(), "python -m tests.draw_trace writes it"


def test_a_link_leads_to_a_file(subtests):
    for page, target in LINKS:
        with subtests.test(page=page, target=target):
            assert not target or ((ROOT / page).parent / target.split("#")[0]).exists()


def test_the_readme_stays_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_the_page_of_effects_lists_the_verbs_of_the_code():
    page = (ROOT / "docs" / "how-to" / "effects.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert [block.split() for block in blocks] == [
        sorted(verbs)
        for verbs in (
            tool_names.ACTING_VERBS,
            tool_names._NOUN_VERBS,
            tool_names._LAST_VERBS,
            tool_names._READING_VERBS,
            tool_names._PLAIN_READING_VERBS,
        )
    ]


def test_the_picture_shows_an_attempt_that_fails_a_check_and_one_that_passes():
    texts = re.findall(r">([^<>]+)</text>", (ROOT / "docs" / "live-view.svg").read_text(encoding="utf-8"))
    shown = " ".join(texts).replace("&#160;", " ")
    failed, passed = shown.find("the text has 17 words"), shown.rfind("step 2 of 2, attempt 2")
    # It claims no more than is known.
    assert -1 < failed < passed < shown.rfind("Done. Form: 1 check passed. Answer: not verified")
