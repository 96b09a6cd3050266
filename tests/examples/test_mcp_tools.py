"""The example with MCP tools runs as it is, against its real server."""

import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_mcp_adapters.client import MultiServerMCPClient

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel

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
    tools = await MultiServerMCPClient({"bookshop": server}).get_tools()
    call = {"name": "price_of", "args": {"title": "Emma"}, "id": "1"}
    model = ScriptedChatModel([AIMessage("", tool_calls=[call]), "There is no such book."])
    # The blocking entry, inside a running loop: these tools can only be awaited.
    assert ExecutionAgent(model, tools=tools).execute_step("What does Emma cost?") == "There is no such book."
    [answer] = [message for message in model.prompts[-1] if isinstance(message, ToolMessage)]
    assert "no book 'Emma'; there are: moby dick, ulysses" in answer.text
    assert answer.status == "error"
