"""Let a person approve a step. The question waits in a file, so another process can answer it days later.

python examples/human_approval.py ask runs.sqlite
python examples/human_approval.py answer runs.sqlite
python examples/human_approval.py                       both, one after the other

The answer can also correct the step, or end the run.
"""

import sys
import tempfile
from pathlib import Path

from orchestrator import LangGraphOrchestrator, OrchestratorState
from orchestrator.persistence import open_store

THREAD = "greeting"


def ask(path: str) -> OrchestratorState:
    """Run until there is a question for a person."""
    with open_store(path) as store:
        orchestrator = LangGraphOrchestrator.from_model(
            "local", contract=None, supervision="human", checkpointer=store
        )
        state = orchestrator.run("Write one friendly sentence of greeting", THREAD)
    if question := state["question"]:
        print(f"the run waits: {question['text']}")
        print("  output:", " ".join(question["output"].split())[:200])
        print("  possible answers:", ", ".join(question["accepts"]))
    return state


def answer(path: str) -> OrchestratorState:
    """Resume the run with the answer of the person."""
    with open_store(path) as store:
        orchestrator = LangGraphOrchestrator.from_model(
            "local", contract=None, supervision="human", checkpointer=store
        )
        state = orchestrator.resume(THREAD, {"answer": "approve", "answered_by": "Ada"})
    supervision = state["results"][-1]["supervision"]
    if supervision and supervision["answer"]:
        print(f"{supervision['answer']['answered_by']} answered: {supervision['answer']['answer']}")
    print(f"{state['status']}, {state['basis']}: {state['output']}")
    return state


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["ask", path]:
            ask(path)
        case ["answer", path]:
            answer(path)
        case _:
            with tempfile.TemporaryDirectory() as folder:
                ask(str(Path(folder, "runs.sqlite")))
                answer(str(Path(folder, "runs.sqlite")))
