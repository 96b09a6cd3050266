"""Every example has a page or a line in the gallery."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from langchain_core.messages import ToolMessage

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from tests.conftest import OLLAMA_MODEL
from tests.fakes.runs import call

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "examples"
LESSONS = sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "index")
FILES = sorted(path.name for path in (ROOT / "examples").iterdir() if path.is_file())


def test_a_page_says_how_to_run_its_example(subtests):
    for lesson in LESSONS:
        with subtests.test(lesson=lesson):
            page = (PAGES / f"{lesson}.md").read_text(encoding="utf-8")
            [file] = (ROOT / "examples").glob(f"{lesson}.*")
            assert f"examples/{file.name}" in page


def test_every_example_has_a_page_or_is_named_in_the_gallery(subtests):
    gallery = (PAGES / "index.md").read_text(encoding="utf-8")
    for name in FILES:
        with subtests.test(name=name):
            assert name.split(".")[0] in LESSONS or f"examples/{name}" in gallery


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


# The example with MCP tools runs as it is, against its real server


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.soak
def test_the_example_prints_what_the_servers_tools_returned():
    process = subprocess.run(
        [sys.executable, str(EXAMPLES / "mcp_tools.py")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout.splitlines() == [
        "tools: price_of, with_tax",
        "price_of({'title': 'Moby Dick'}) returned 12.5",
        "with_tax({'amount': 12.5}) returned 13.38",
        "success, unverified: Moby Dick costs 12.5 euros, 13.38 with tax.",
    ]


@pytest.mark.soak
async def test_a_tool_of_a_real_server_that_fails_is_told_to_the_model():
    server = {"transport": "stdio", "command": sys.executable, "args": [str(EXAMPLES / "mcp_server.py")]}
    client = import_module("langchain_mcp_adapters.client")  # slow, so not for each process that collects
    tools = await client.MultiServerMCPClient({"bookshop": server}).get_tools()
    model = ScriptedChatModel([call("price_of", title="Emma"), "There is no such book."])
    # The blocking entry, inside a running loop: these tools can only be awaited.
    assert ExecutionAgent(model, tools=tools).execute_step("What does Emma cost?") == "There is no such book."
    [answer] = [message for message in model.prompts[-1] if isinstance(message, ToolMessage)]
    assert "no book 'Emma'; there are: moby dick, ulysses" in answer.text
    assert answer.status == "error"
