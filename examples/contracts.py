"""Give each step a contract: fields, checks of the library, and a check of your own.

    python examples/contracts.py
    python examples/contracts.py ollama:qwen3

The script replaces a model whose first notice breaks two rules; the second one obeys the feedback.
"""

import sys

from agents.testing import ScriptedChatModel
from evaluation import CheckContext, EvaluationContract, check
from orchestrator import LangGraphOrchestrator


@check
def names_no_price(context: CheckContext) -> bool:
    """Do not mention a price."""
    return "euro" not in context.output.lower()


CONTRACTS = [
    {"checks": [{"check": "list_item_count", "min": 3}]},
    {
        "required_content": [{"text": "Tuesday"}],
        "checks": [{"check": "word_count", "max": 12}, {"check": "function", "name": "names_no_price"}],
    },
]


def contract_of(step: str, index: int) -> EvaluationContract:
    """Return the contract of a step; the steps are those of the plan."""
    return EvaluationContract.model_validate(CONTRACTS[index])


SCRIPT = [
    '{"plan": ["List the opening days", "Write a notice of at most 12 words"]}',
    "- Tuesday\n- Thursday\n- Saturday",
    "We open on Tuesday, Thursday and Saturday, and a reader's card costs only five euros a year.",
    "Open on Tuesday, Thursday and Saturday.",
]
model = sys.argv[1] if sys.argv[1:] else ScriptedChatModel(SCRIPT)
orchestrator = LangGraphOrchestrator.from_model(
    model, planning="always", step_contract=contract_of, checks=[names_no_price], synthesis=False
)
state = orchestrator.run("Announce when the library is open: Tuesday, Thursday and Saturday")

for record in state["results"]:
    print(f"step {record['step_index'] + 1}, attempt {record['attempt']}: {record['status']}")
    print(f"  {record['result']!r}")
    if record["status"] == "failed" and record["verdict"]:
        print(f"  {record['verdict']['feedback']}")
print(f"{state['status']}, {state['basis']}; judge calls: {state['judge_calls']}")
