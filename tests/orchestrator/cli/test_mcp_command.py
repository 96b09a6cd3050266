"""`orchestrator mcp` in a process of its own, with the clients of the SDK and of LangChain."""

import json
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest
from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.fakes.chat_server import call

TOOLS = '''
import os, sys

print("this module prints")

def send(to: str) -> str:
    """Send an invitation."""
    print("this tool prints, and reads:", sys.stdin.read())
    os.write(1, b"as does a library in C\\n")
    return f"sent to {to}"
'''
SERVED = ("--model", "openai:scripted", "--tools", "post_tools:send", "--acting-tools", "all:approve")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder, with the module `post_tools`."""
    (tmp_path / "post_tools.py").write_text(TOOLS)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def command(environment, chat, db):
    """The arguments of a command in front of a scripted model, and its environment."""
    server = chat(steps=[call("send", to="Ada"), "Ada is invited."])
    arguments = ["-m", "orchestrator", "mcp", "--db", str(db), *SERVED]
    return arguments, {**environment, **server.environment}


@asynccontextmanager
async def connect(arguments, environment):
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield session


async def test_another_process_answers_the_question_although_tools_print_and_read(command):
    messages = []

    async def report(progress, total, message):
        messages.append(message)

    async with connect(*command) as client:
        given = {"task": "Invite Ada", "thread_id": "invitation"}
        asked = await client.call_tool("run", given, progress_callback=report)
    async with connect(*command) as client:
        answer = {"thread_id": "invitation", "answer": "approve"}
        result = await client.call_tool("answer", answer)

    assert (messages[0], messages[-1]) == ("Run started", "Run paused")
    assert asked.structuredContent["question"]["tool_calls"][0]["args"] == {"to": "Ada"}
    assert result.structuredContent["output"] == "Ada is invited."


@pytest.mark.soak
async def test_the_client_of_langchain_gives_the_tools_to_an_agent(command):
    arguments, environment = command
    server = {"transport": "stdio", "command": sys.executable, "args": arguments, "env": environment}
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"runs": server}).get_tools()}
    (result,) = await tools["run"].ainvoke({"task": "Invite Ada"})

    assert sorted(tools) == ["answer", "evaluate", "resume", "run"]
    assert json.loads(result["text"])["status"] == "waiting"


@pytest.mark.soak
def test_the_end_of_the_input_ends_the_server(command):
    arguments, environment = command
    ended = subprocess.run(
        [sys.executable, *arguments],
        input=b"no JSON\n",
        capture_output=True,
        env=environment,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 0
    assert b"Traceback" not in ended.stderr
    assert all(json.loads(line) for line in ended.stdout.splitlines())


@pytest.mark.parametrize(
    ("given", "sentence"),
    [(["--tools", "nowhere:tool"], "nowhere"), (["--db", "missing.sqlite", "--read-only"], "there is no")],
)
def test_a_wrong_option_is_one_sentence_and_status_2(cli, tmp_path, given, sentence):
    ended = cli("mcp", "--db", "new.sqlite", *given)

    assert (ended.exit_code, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert sentence in ended.stderr
    assert [path.suffix for path in tmp_path.glob("*.*")] == [".py"]
