"""Orchestrate an agent that you have: `create_agent` of LangChain carries out the steps.

The process is killed in the refund, before its answer is stored. A new process resumes the run: a person is
asked and says what happened, and the refund is not made again. `create_deep_agent` of deepagents takes the
place of `create_agent` without another change. A scripted model stands for a real one.
"""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage

from agents import ActingTool, EffectsMiddleware, MonitoringAgent, PlanningAgent
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import Store, open_store

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else None
REFUNDS = "refunds.txt"


def get_order(order_id: str) -> dict[str, object]:
    """Read an order."""
    return {"order_id": order_id, "total": 40.0}


def refund(order_id: str, amount: float) -> dict[str, object]:
    """Refund an amount of an order."""
    assert FOLDER is not None
    with (FOLDER / REFUNDS).open("a", encoding="utf-8") as refunds:
        refunds.write(f"{order_id} {amount}\n")
    print(f"  refund of {amount} for {order_id}", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)  # nobody learns that it is refunded
    return {"status": "refunded"}


def answer(messages: list[BaseMessage]) -> AIMessage:
    """Answer from the prompt alone, so that a new process can go on with a script of its own."""
    calls = [("get_order", {"order_id": "A17"}), ("refund", {"order_id": "A17", "amount": 40.0})]
    made = sum(message.type == "tool" for message in messages)
    if made == len(calls):
        return AIMessage("Order A17: 40.0 are refunded.")
    name, args = calls[made]
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": name}])


def build(store: Store) -> LangGraphOrchestrator:
    """Build the orchestrator around the agent."""
    acting = {"refund": ActingTool(succeeded={"/status": "refunded"})}
    agent = create_agent(
        ScriptedChatModel(answer), [get_order, refund], middleware=[EffectsMiddleware(acting)]
    )
    return LangGraphOrchestrator(
        PlanningAgent(ScriptedChatModel(['{"plan": ["Refund order A17"]}'])),
        agent,
        MonitoringAgent(ScriptedChatModel(['{"success": true, "feedback": "refunded"}'])),
        acting_tools=acting,
        checkpointer=store,
    )


def run_or_resume(folder: Path) -> None:
    """Start the run, or resume it after the crash and answer its question."""
    with open_store(folder / "runs.sqlite") as store:
        orchestrator = build(store)
        if store.history.find("order A17") is None:
            orchestrator.run("Refund order A17", "order A17")
        question = orchestrator.resume("order A17")["question"]
        assert question is not None
        print(f"  the run asks: {question['text'].split('?')[0]}?")
        stated = {"answer": "correct", "text": '{"status": "refunded"}', "answered_by": "Ada"}
        state = orchestrator.resume("order A17", stated)
    for effect in state["effects"]:
        print(f"  {effect['name']}: {effect['outcome']}, {effect['answer']}")
    made = (folder / REFUNDS).read_text(encoding="utf-8").splitlines()
    print(f"{state['status']}: {state['output']} Refunds made: {len(made)}")


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
