"""Give the executor tools and require that it calls them: a price that the model made up does not pass.

    python examples/tools.py
    python examples/tools.py ollama:qwen3        a real model that can call tools

The script replaces a model that first answers from memory. The embedded model is too small to call tools.
"""

import sys

from langchain_core.messages import AIMessage

from agents.testing import Reply, ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator

PRICES = {"moby dick": 12.5, "ulysses": 18.0}


def price_of(title: str) -> float:
    """Return the price of a book in euros."""
    return PRICES[title.lower()]


SCRIPT: list[Reply] = [
    '{"plan": ["Look up the price of Moby Dick"]}',
    "Moby Dick costs 9.99 euros.",  # no tool was called
    AIMessage("", tool_calls=[{"name": "price_of", "args": {"title": "Moby Dick"}, "id": "1"}]),
    "Moby Dick costs 12.50 euros.",
]
model = sys.argv[1] if sys.argv[1:] else ScriptedChatModel(SCRIPT)
orchestrator = LangGraphOrchestrator.from_model(
    model,
    tools=[price_of],
    contract=EvaluationContract.model_validate(
        {"must_call": ["price_of"], "required_content": [{"number": PRICES["moby dick"]}]}
    ),
)
state = orchestrator.run("What does Moby Dick cost?")

for record in state["results"]:
    print(f"attempt {record['attempt']}: {record['result']}")
    for call in record["tool_calls"]:
        print(f"  {call['name']}({call['args']}) returned {call['result']}")
    print(f"  {record['status']}: {record['verdict'] and record['verdict']['feedback']}")
print(f"{state['status']}, {state['basis']}: {state['output']}")
