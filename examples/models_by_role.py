"""Give each role its own model: a strong one plans and judges, a small one does the work.

    python examples/models_by_role.py
    python examples/models_by_role.py ollama:qwen3        plans and judges; the embedded model executes

Without an argument, scripts replace the strong model.
"""

import json
import sys

from langchain_core.messages import BaseMessage

from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator


def plan(prompt: list[BaseMessage]) -> str:
    """Replace a model that plans."""
    return json.dumps({"plan": ["Write a sentence about bricks.", "Write a sentence about wood."]})


def judge(prompt: list[BaseMessage]) -> str:
    """Replace a model that judges."""
    return json.dumps({"success": True, "feedback": "It is a sentence about the material."})


strong = sys.argv[1] if sys.argv[1:] else None
orchestrator = LangGraphOrchestrator.from_model(
    "local",
    planner_model=strong or ScriptedChatModel(plan, usage=(120, 30)),
    monitor_model=strong or ScriptedChatModel(judge, usage=(200, 20)),
    synthesis=False,  # the result of the last step is the output
)
state = orchestrator.run("Write about bricks and wood as building materials.")

for record in state["results"]:
    print(f"{record['step']} {' '.join(record['result'].split())}")
    print(f"  {record['status']}: {record.get('basis_reason')}")
executed = [record["usage"] for record in state["results"]]
judged = [record["judge_usage"] for record in state["results"] if record["judge_usage"]]
for role, usages in (("executor, embedded", executed), ("monitor", judged)):
    tokens = sum(usage["total_tokens"] or 0 for usage in usages)
    print(f"{role}: {sum(usage['model_calls'] for usage in usages)} calls, {tokens} tokens")
print(f"whole run: {state['usage']['model_calls']} calls, {state['usage']['total_tokens']} tokens")
print(f"{state['status']}, {state['basis']}")
