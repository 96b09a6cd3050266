"""A process that is killed between two tool calls of a step does not repeat the first."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.faults


def run_and_resume(program, folder):
    """Run a program that is killed, then the same program to resume its run; both ended processes."""
    commands = ([sys.executable, "-c", program, str(folder), action] for action in ("run", "resume"))
    return [
        subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
        for command in commands
    ]


ONCE = """
import os, signal, sys
from pathlib import Path
from langchain_core.messages import AIMessage
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import open_store

folder, action = Path(sys.argv[1]), sys.argv[2]

def pay(to: str) -> str:
    \"\"\"Pay, and die at once if it is the first try.\"\"\"
    with (folder / "paid").open("a") as file:
        file.write(to)
    if action == "run":
        os.kill(os.getpid(), signal.SIGKILL)
    return "paid"

asked = AIMessage("", tool_calls=[{"name": "pay", "args": {"to": "Ada"}, "id": "1"}])
replies = ['{"plan": ["Pay Ada"]}', asked] if action == "run" else ["done"]
monitor = ScriptedChatModel(['{"success": true, "feedback": "good"}'])
with open_store(str(folder / "runs.sqlite")) as store:
    orchestrator = LangGraphOrchestrator.from_model(
        ScriptedChatModel(replies),
        monitor_model=monitor,
        tools=[pay],
        acting_tools=["pay"],
        checkpointer=store,
    )
    state = orchestrator.run("Pay Ada", "one") if action == "run" else orchestrator.resume("one")
    print(state["question"]["text"].split("?")[0])
    state = orchestrator.resume("one", {"answer": "deny", "text": "it is in the books"})
    print(state["status"])
"""


def test_a_process_that_dies_in_a_call_that_acts_asks_before_it_makes_it_again(tmp_path):
    killed, resumed = run_and_resume(ONCE, tmp_path)

    assert killed.returncode == -9
    assert (resumed.stdout, resumed.stderr[-500:]) == ("May the tool pay run again\nsuccess\n", "")
    assert (tmp_path / "paid").read_text() == "Ada"
