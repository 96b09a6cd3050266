"""Resume a run whose process was killed, without doing anything twice.

The second step pays a bill and then kills the process before its result is stored. A new process resumes the
run: the first step is not executed again. The second step is, with the same idempotency key, so the tool sees
that it has already paid. The agents need no model.
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

from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import open_store

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else None


def read_payments(folder: Path) -> dict[str, str]:
    """Read the bills that are paid, by idempotency key."""
    ledger = folder / "ledger.json"
    return json.loads(ledger.read_text(encoding="utf-8")) if ledger.exists() else {}


@tool
def pay(bill: str, folder: str, config: RunnableConfig) -> str:
    """Pay a bill, once for each key."""
    key = config.get("configurable", {})["idempotency_key"]
    payments = read_payments(Path(folder))
    if key in payments:
        return f"{bill} was paid before"
    (Path(folder) / "ledger.json").write_text(json.dumps({**payments, key: bill}), encoding="utf-8")
    return f"{bill} is paid now"


class Planner:
    """Plans two steps."""

    def generate_plan(self, _task: str, /) -> list[str]:
        """Return the steps."""
        return ["fetch the bill", "pay the bill"]


class Executor:
    """Executes the steps; after the first payment it kills its own process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def execute_step(self, step: str, /, context: str = "") -> str:
        """Execute one step."""
        print(f"  executing: {step}", flush=True)
        if step == "fetch the bill":
            return "bill 42"
        bill = context.rsplit(maxsplit=1)[-1]
        receipt = str(pay.invoke({"bill": bill, "folder": str(self.folder)}))
        if not (self.folder / "crashed").exists():
            (self.folder / "crashed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return receipt


class Monitor:
    """Approves every result."""

    def evaluate(self, objective: str, result: str) -> dict[str, object]:
        """Return a verdict."""
        return {"success": True, "feedback": f"{objective}: {result}"}


def run_or_resume(folder: Path) -> None:
    """Start the run, or resume it after the crash."""
    with open_store(folder / "runs.sqlite") as store:
        orchestrator = LangGraphOrchestrator(Planner(), Executor(folder), Monitor(), checkpointer=store)
        has_crashed = (folder / "crashed").exists()
        state = orchestrator.resume("bill") if has_crashed else orchestrator.run("Pay the bill", "bill")
    print(f"{state['status']}: {state['results'][-1]['result']}; paid {len(read_payments(folder))} time(s)")


def run_both_processes() -> None:
    """Start the run in one process, which is killed, and resume it in another one."""
    with tempfile.TemporaryDirectory() as folder:
        for part in ("first process", "second process"):
            print(part, flush=True)
            process = subprocess.run([sys.executable, __file__, folder], check=False)  # noqa: S603 - this file
            if process.returncode:
                print(f"  it was killed by signal {-process.returncode}")


if __name__ == "__main__":
    if FOLDER is None:
        run_both_processes()
    else:
        run_or_resume(FOLDER)
