"""A run that is killed in the middle goes on where it was, and does nothing twice.

The second step pays a bill and then kills the process, before anything of it is stored. The run is resumed
in a new process: the first step is not executed again, the second one is, with the same idempotency key, by
which the tool sees that it has paid already. Agents without a model, so that only the run is shown.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver

from orchestrator import LangGraphOrchestrator

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else None


def payments(folder: Path) -> dict[str, str]:
    """What was paid so far, by key."""
    ledger = folder / "ledger.json"
    return json.loads(ledger.read_text(encoding="utf-8")) if ledger.exists() else {}


@tool
def pay(bill: str, folder: str, config: RunnableConfig) -> str:
    """Pay a bill, once for each key."""
    key = config["configurable"]["idempotency_key"]
    paid = payments(Path(folder))
    if key in paid:
        return f"{bill} was paid before"
    (Path(folder) / "ledger.json").write_text(json.dumps({**paid, key: bill}), encoding="utf-8")
    return f"{bill} is paid now"


class Planner:
    """Plans two steps."""

    def generate_plan(self, _task: str, /) -> list[str]:
        """Return them."""
        return ["fetch the bill", "pay the bill"]


class Executor:
    """Does them; the first time that it has paid, it kills its process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def execute_step(self, step: str, /, context: str = "") -> str:
        """Do one step."""
        print(f"  executing: {step}", flush=True)
        if step == "fetch the bill":
            return "bill 42"
        said = str(pay.invoke({"bill": context.rsplit(maxsplit=1)[-1], "folder": str(self.folder)}))
        if not (self.folder / "crashed").exists():
            (self.folder / "crashed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return said


class Monitor:
    """Accepts everything."""

    def evaluate(self, objective: str, result: str) -> dict[str, object]:
        """Say so."""
        return {"success": True, "feedback": f"{objective}: {result}"}


def run(folder: Path) -> None:
    """Begin the run, or go on with it."""
    with SqliteSaver.from_conn_string(str(folder / "runs.sqlite")) as saver:
        orchestrator = LangGraphOrchestrator(Planner(), Executor(folder), Monitor(), checkpointer=saver)
        begun = (folder / "crashed").exists()
        state = orchestrator.resume("bill") if begun else orchestrator.run("Pay the bill", "bill")
    print(f"{state['status']}: {state['results'][-1]['result']}; paid {len(payments(folder))} time(s)")


def both() -> None:
    """Begin in one process, which dies, and go on in another one."""
    with tempfile.TemporaryDirectory() as folder:
        for part in ("first process", "second process"):
            print(part, flush=True)
            ended = subprocess.run([sys.executable, __file__, folder], check=False)  # noqa: S603 - this file
            if ended.returncode:
                print(f"  it was killed by signal {-ended.returncode}")


if __name__ == "__main__":
    if FOLDER is None:
        both()
    else:
        run(FOLDER)
