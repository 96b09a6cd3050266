"""A run is kept in a file, found again, and gone on with otherwise from one of its steps.

Scripted models, so that it runs anywhere; for real: ``agents.load_model("ollama:qwen3")``.
"""

import tempfile
from pathlib import Path

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import open_store


def build(saver, model):
    return LangGraphOrchestrator(
        PlanningAgent(model), ExecutionAgent(model), MonitoringAgent(model), checkpointer=saver
    )


good = '{"success": true, "feedback": "good"}'
file = Path(tempfile.mkdtemp()) / "runs.sqlite"

with open_store(file) as store:  # or "postgresql://USER:PASSWORD@HOST/NAME"
    first = ScriptedChatModel(['{"plan": ["Say hello", "Say goodbye"]}', "Hello", good, "Goodbye", good])
    build(store.saver, first).run("Be polite", "polite")

with open_store(file) as store:  # in another process, on another day
    build(store.saver, ScriptedChatModel(["Farewell", good])).fork("polite", 1, "polite, otherwise")
    for run in store.history.runs():
        results = [record["result"] for record in store.history.show(run.thread_id).state["results"]]
        print(f"{run.thread_id}: {run.status}, {run.steps_done}/{run.steps_planned} steps, {results}")
    store.history.delete("polite")
