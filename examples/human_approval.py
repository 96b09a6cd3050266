"""Let a person approve a step: one process asks and ends, another one resumes the run with the answer.

python examples/human_approval.py ask runs.sqlite
python examples/human_approval.py answer runs.sqlite
python examples/human_approval.py                       both, each in a process of its own
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from langgraph.checkpoint.sqlite import SqliteSaver

from agents import ExecutionAgent, MonitoringAgent, load_model
from orchestrator import LangGraphOrchestrator, OrchestratorState

THREAD = "greeting"


class OneStep:
    """A planner that needs no model."""

    def generate_plan(self, task: str, /) -> list[str]:
        """Return the task as its only step."""
        return [task]


def build_orchestrator(saver: SqliteSaver) -> LangGraphOrchestrator:
    """Build the same orchestrator in both processes."""
    llm = load_model("local")
    return LangGraphOrchestrator(
        OneStep(), ExecutionAgent(llm), MonitoringAgent(llm), supervision="human", checkpointer=saver
    )


def ask(path: str) -> OrchestratorState:
    """Run until the orchestrator has a question for a person."""
    with SqliteSaver.from_conn_string(path) as saver:
        state = build_orchestrator(saver).run("Write one friendly sentence of greeting", THREAD)
    question = state["question"]
    if question is not None:
        print(f"the run waits ({state['status']}): {question['text']}")
        print("  output:", " ".join(question["output"].split())[:200])
        print("  accepted:", ", ".join(question["accepts"]))
    return state


def answer(path: str) -> OrchestratorState:
    """Resume the run with the person's answer."""
    with SqliteSaver.from_conn_string(path) as saver:
        state = build_orchestrator(saver).resume(THREAD, {"answer": "approve", "answered_by": "Ada"})
    supervision = state["results"][-1]["supervision"]
    print(f"the run ended ({state['status']}):", supervision and supervision["answer"])
    return state


def run_both_parts() -> None:
    """Ask and answer, each in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        for part in ("ask", "answer"):
            path = str(Path(folder) / "runs.sqlite")
            subprocess.run([sys.executable, __file__, part, path], check=True)  # noqa: S603 - this file


if __name__ == "__main__":
    parts = {"ask": ask, "answer": answer}
    if len(sys.argv) == 3 and sys.argv[1] in parts:
        parts[sys.argv[1]](sys.argv[2])
    else:
        run_both_parts()
