"""Ctrl-C in a user's script, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import open_store
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

SCRIPT = """
import asyncio, sys, time
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import open_store

class Agent:
    def generate_plan(self, task): return ["one", "two"]
    def evaluate(self, objective, result): return {"success": True, "feedback": "good"}
    def execute_step(self, step, context=""):
        if step == "two":
            print("under way", flush=True)
            time.sleep(60)  # a call that cannot be cancelled
        return "first process"

def interrupted(call):
    try:
        call()
    except KeyboardInterrupt as error:
        print("interrupted", *getattr(error, "__notes__", []), flush=True)

agent = Agent()
with open_store(sys.argv[1]) as store:
    orchestrator = LangGraphOrchestrator(agent, agent, agent, checkpointer=store)
    interrupted(lambda: orchestrator.run("task", "blocking"))
    interrupted(lambda: asyncio.run(orchestrator.arun("task", "awaited")))
    interrupted(lambda: list(orchestrator.stream("task", "streamed")))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
def test_ctrl_c_in_a_script_leaves_runs_that_another_process_resumes(tmp_path, environment):
    lines = []
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "runs.sqlite")],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        for line in running.stdout:
            lines.append(line.strip())
            if lines[-1] == "under way":
                running.send_signal(signal.SIGINT)
    assert lines[1::2] == [
        "interrupted The run is stored; resume('blocking') continues it.",
        "interrupted",
        "interrupted",
    ]

    with open_store(tmp_path / "runs.sqlite") as store:
        interrupted = {run.thread_id for run in store.history.runs(status="interrupted")}
        assert interrupted == {"blocking", "awaited", "streamed"}
        assert [resume(store, thread) for thread in interrupted] == [["first process", "second process"]] * 3


def resume(store, thread: str) -> list[str]:
    agents = FakePlanner(["one", "two"]), FakeExecutor("second process"), FakeMonitor()
    state = LangGraphOrchestrator(*agents, checkpointer=store, synthesis=False).resume(thread)
    return [record["result"] for record in state["results"]]
