"""A process that is killed between two tool calls of a step does not repeat the first."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.faults

CHILD = """
import os, signal, sys
from pathlib import Path
from langchain_core.messages import AIMessage
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import open_store

folder, action = Path(sys.argv[1]), sys.argv[2]

def note(text: str) -> str:
    \"\"\"Write a note, and die at the second if it is the first try.\"\"\"
    if text == "b" and action == "run":
        os.kill(os.getpid(), signal.SIGKILL)
    with (folder / "notes").open("a") as file:
        file.write(text)
    return "noted"

def call(text):
    return AIMessage("", tool_calls=[{"name": "note", "args": {"text": text}, "id": text}])

asked = [call("a"), call("b"), "done"]
replies = ['{"plan": ["Take notes"]}', *asked] if action == "run" else asked[2:]
monitor = ScriptedChatModel(['{"success": true, "feedback": "good"}'])
with open_store(str(folder / "runs.sqlite")) as store:
    orchestrator = LangGraphOrchestrator.from_model(
        ScriptedChatModel(replies), monitor_model=monitor, tools=[note], checkpointer=store
    )
    state = orchestrator.run("Take notes", "one") if action == "run" else orchestrator.resume("one")
    print(*[each["args"]["text"] for each in state["question"]["tool_calls"]])
    state = orchestrator.resume("one", {"answer": "approve"})
    [record] = state["results"]
    print(state["status"], *[each["args"]["text"] for each in record["tool_calls"]])
"""


def run_and_resume(program, folder):
    """Run a program that is killed, then the same program to resume its run; both ended processes."""
    commands = ([sys.executable, "-c", program, str(folder), action] for action in ("run", "resume"))
    return [
        subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
        for command in commands
    ]


def test_a_step_goes_on_after_the_last_tool_call_that_had_ended_and_asks_about_the_one_that_had_not(tmp_path):
    killed, resumed = run_and_resume(CHILD, tmp_path)

    assert killed.returncode == -9
    # The start of b in which the process died has a record of its own.
    assert (resumed.stdout, resumed.stderr[-500:]) == ("b\nsuccess a b b\n", "")
    assert (tmp_path / "notes").read_text() == "ab"


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
