"""Store runs in a file, list them, and fork one: run it again from its second step.

The models are scripted, so the example runs anywhere. For a real one, use ``load_model("ollama:qwen3")``.
"""

import tempfile
from pathlib import Path

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import open_store


def build_orchestrator(saver, model):
    return LangGraphOrchestrator(
        PlanningAgent(model), ExecutionAgent(model), MonitoringAgent(model), checkpointer=saver
    )


APPROVED = '{"success": true, "feedback": "good"}'
file = Path(tempfile.mkdtemp()) / "runs.sqlite"

with open_store(file) as store:  # or "postgresql://USER:PASSWORD@HOST/NAME"
    plan = '{"plan": ["Say hello", "Say goodbye"]}'
    model = ScriptedChatModel([plan, "Hello", APPROVED, "Goodbye", APPROVED])
    build_orchestrator(store.saver, model).run("Be polite", "polite")

with open_store(file) as store:  # perhaps in another process, days later
    model = ScriptedChatModel(["Farewell", APPROVED])
    build_orchestrator(store.saver, model).fork("polite", 1, "polite, second version")
    for run in store.history.runs():
        results = [record["result"] for record in store.history.show(run.thread_id).state["results"]]
        print(f"{run.thread_id}: {run.status}, {run.steps_done}/{run.steps_planned} steps, {results}")
    store.history.delete("polite")
