"""Runs whose only step is refused under one strategy of a retry policy, in processes that are killed."""

from __future__ import annotations

import traceback
from collections.abc import Mapping

from langchain_core.messages import BaseMessage
from langchain_core.runnables.config import ensure_config
from langgraph.checkpoint.base import BaseCheckpointSaver

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator, RetryPolicy
from orchestrator.persistence import open_store
from orchestrator.state.graph_state import OrchestratorState
from tests.fakes.monitor import FakeMonitor
from tests.faults.children import CONFIG, PROCESSES, MortalSaver, Place, ended, kept, settled
from tests.faults.story import THREAD, Log

CONTRACT = EvaluationContract(checks=[{"check": "excludes", "texts": ["red"]}])


def execute_again(step):
    return step.request


STRATEGIES: Mapping[str, Mapping[str, object]] = {
    "feedback": {},
    "resample": {},
    "escalate": {"model": "other"},
    "custom": {"strategy": execute_again},
    "ask_human": {},
}
DENY = {"answer": "deny", "text": "no"}


class Planner:
    """Writes down each call."""

    def __init__(self, log: Log) -> None:
        self.log = log

    async def generate_plan(self, task: str) -> list[str]:
        self.log.write({"what": "plan", "key": task})
        return ["write"]


def build_strategy(use: str, log: Log, saver: BaseCheckpointSaver[str]) -> LangGraphOrchestrator:
    """Builds an orchestrator whose executor writes down each call, and dies in each once if its saver may."""

    def answer(prompt: list[BaseMessage]) -> str:
        key = ensure_config()["configurable"]["idempotency_key"]
        log.write({"what": "execute", "key": key})
        if isinstance(saver, MortalSaver):
            saver.die_once(f"in call {key}")
        return "red"

    model = ScriptedChatModel(answer, usage=(5, 5))
    policy = RetryPolicy(
        max_retries=3,
        strategies=[{"use": use, **STRATEGIES[use]}],
    )
    models = {"other": model} if use == "escalate" else None
    return LangGraphOrchestrator(
        Planner(log),
        ExecutionAgent(model),
        FakeMonitor(),
        contract=CONTRACT,
        retry_policy=policy,
        models=models,
        checkpointer=saver,
    )


def finish(orchestrator: LangGraphOrchestrator) -> OrchestratorState:
    """Runs the task, or goes on with it, to its end; whatever a person is asked is denied."""
    snapshot = orchestrator.graph.get_state(CONFIG)
    begun = "checkpoint_id" in snapshot.config["configurable"]
    if begun and not snapshot.tasks:
        return snapshot.values
    state = orchestrator.resume(THREAD) if begun else orchestrator.run("write", THREAD)
    while state["question"] is not None and state["status"] == "executing":
        state = orchestrator.resume(THREAD, DENY)
    return state


def run_once(place: Place, use: str, every: int) -> None:
    """Runs a strategy in this process, to its end or death."""
    try:
        saver = MortalSaver()
        orchestrator = build_strategy(use, place.log, saver)
        with open_store(place.store) as store:
            saver.begin(store.saver, place.deaths, every)
            stored = settled(kept(orchestrator.graph.get_state(CONFIG, subgraphs=True)))
            place.log.write({"what": "kept", "executions": len(stored)})
            finish(orchestrator)
    except BaseException:
        place.error.write_text(traceback.format_exc())
        raise


def run_killed(place: Place, use: str, every: int) -> int:
    """Runs a strategy and kills it at every n-th moment; returns the number of kills."""
    kills = 0
    while True:
        child = PROCESSES.Process(target=run_once, args=(place, use, every), daemon=True)
        child.start()
        if ended(child, place):
            return kills
        kills += 1


def read_state(place: Place, use: str) -> OrchestratorState:
    """Reads the state that a place keeps."""
    with open_store(place.store) as store:
        return build_strategy(use, place.log, store.saver).graph.get_state(CONFIG).values
