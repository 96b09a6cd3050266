"""Resume a run whose process was killed, without doing anything twice.

The second step pays a bill, and the process is killed before the result of the tool is stored. A new process
resumes the run: the first step is not executed again. Nobody knows whether the bill is paid, so a person is
asked, and approves. The call has the same idempotency key, so the tool sees that it has already paid. A
scripted model stands for a real one.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig

from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import open_store

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else None
LEDGER = "ledger.json"


def read_payments(folder: Path) -> dict[str, str]:
    """Read the bills that are paid, by idempotency key."""
    ledger = folder / LEDGER
    return json.loads(ledger.read_text(encoding="utf-8")) if ledger.exists() else {}


def fetch_bill() -> str:
    """Fetch the bill."""
    print("  fetching the bill", flush=True)
    return "bill 42"


def pay(bill: str, config: RunnableConfig) -> str:
    """Pay a bill, once for each key."""
    print(f"  paying {bill}", flush=True)
    values = config.get("configurable", {})
    folder, key = Path(values["folder"]), values["idempotency_key"]
    payments = read_payments(folder)
    if key in payments:
        return f"{bill} was paid before"
    (folder / LEDGER).write_text(json.dumps({**payments, key: bill}), encoding="utf-8")
    os.kill(os.getpid(), signal.SIGKILL)  # nobody learns that the bill is paid
    return f"{bill} is paid now"


def answer(messages: list[BaseMessage]) -> AIMessage:
    """Answer from the prompt alone, so that a new process can go on with a script of its own."""
    if messages[-1].type == "tool":
        return AIMessage(messages[-1].text)
    call = {"name": "fetch_bill", "args": {}, "id": "1"}
    if messages[-1].text.endswith("Pay the bill"):
        call = {"name": "pay", "args": {"bill": "bill 42"}, "id": "2"}
    return AIMessage("", tool_calls=[call])


def run_or_resume(folder: Path) -> None:
    """Start the run, or resume it after the crash."""
    with open_store(folder / "runs.sqlite") as store:
        orchestrator = LangGraphOrchestrator.from_model(
            ScriptedChatModel(answer),
            planner_model=ScriptedChatModel(['{"plan": ["Fetch the bill", "Pay the bill"]}']),
            tools=[fetch_bill, pay],
            step_contract=lambda _, index: EvaluationContract(must_call=[("fetch_bill", "pay")[index]]),
            synthesis=False,
            checkpointer=store,
        )
        config = RunnableConfig(configurable={"folder": str(folder)})
        is_new = store.history.find("bill") is None
        state = (
            orchestrator.run("Settle what is open", "bill", config=config)
            if is_new
            else orchestrator.resume("bill", config=config)
        )
        if question := state["question"]:
            print(f"  {question['text'].split('?')[0]}?", flush=True)
            print("  Ada approves: the tool knows its key", flush=True)
            approval = {"answer": "approve", "answered_by": "Ada"}
            state = orchestrator.resume("bill", approval, config=config)
    print(f"{state['status']}: {state['output']}; paid {len(read_payments(folder))} time(s)")


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
