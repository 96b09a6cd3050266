"""Many runs at once, each of which can be told from all others."""

import asyncio
import gc
import os
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from langgraph.checkpoint.base import BaseCheckpointSaver

from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import open_store
from orchestrator.state.graph_state import OrchestratorState
from tests.faults.children import PROCESSES

STEPS = 2


@dataclass(frozen=True)
class Planner:
    steps: int

    async def generate_plan(self, task: str) -> Sequence[str]:
        return [f"step {number} of {task}" for number in range(self.steps)]


class Executor:
    async def execute_step(self, step: str, context: str = "") -> str:
        return f"{step}, after {context.count('Result: ')}"


class Monitor:
    async def evaluate(self, objective: str, result: str) -> dict[str, object]:
        return {"success": True, "feedback": objective}


def build(saver: BaseCheckpointSaver[str] | None, steps: int = STEPS) -> LangGraphOrchestrator:
    return LangGraphOrchestrator(Planner(steps), Executor(), Monitor(), checkpointer=saver)


@dataclass(frozen=True)
class Load:
    """How many runs went.

    Attributes:
        seconds: For all of them.
        latencies: Of each, in seconds from the beginning of all.
        wrong: Runs that are lost, or hold anything of another one, as they were returned or as they are kept.
    """

    seconds: float
    latencies: Sequence[float]
    wrong: int

    @property
    def throughput(self) -> float:
        return len(self.latencies) / self.seconds

    @property
    def p99(self) -> float:
        """The latency that one run in a hundred exceeds, in seconds."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]


def at_once(saver: BaseCheckpointSaver[str], names: Sequence[str]) -> Load:
    """Begin all runs at once on one event loop."""
    orchestrator, began = build(saver), time.perf_counter()

    async def timed(name: str) -> tuple[float, OrchestratorState]:
        state = await orchestrator.arun(name, name)
        return time.perf_counter() - began, state

    async def all_of_them() -> list[tuple[float, OrchestratorState]]:
        return await asyncio.gather(*map(timed, names))

    ended = asyncio.run(all_of_them())
    seconds = time.perf_counter() - began
    returned = {name: state for name, (_, state) in zip(names, ended, strict=True)}
    wrong = sum(not _right(name, state, orchestrator) for name, state in returned.items())
    return Load(seconds, [latency for latency, _ in ended], wrong)


def _right(name: str, state: OrchestratorState, orchestrator: LangGraphOrchestrator) -> bool:
    kept = orchestrator.graph.get_state({"configurable": {"thread_id": name}}).values
    said = [(record["result"], (record["verdict"] or {})["feedback"]) for record in state["results"]]  # type: ignore[typeddict-item]
    steps = [f"step {number} of {name}" for number in range(STEPS)]
    wanted = [(f"{step}, after {number}", step) for number, step in enumerate(steps)]
    return (said, state["status"], kept) == (wanted, "success", state)


def by_processes(file: Path, processes: int, runs: int) -> Load:
    """Let so many processes write so many runs each to one file of SQLite, all of a process's at once."""
    with open_store(file):
        pass
    with ProcessPoolExecutor(processes, mp_context=PROCESSES) as pool:
        pool.submit(os.getpid).result()  # what they are forked from is there
        began = time.perf_counter()
        loads = list(pool.map(partial(_own, file, runs), range(processes)))
    seconds = time.perf_counter() - began
    with open_store(file, make=False) as store:
        kept = len(store.history.runs(status="success"))
    latencies = list(chain.from_iterable(load.latencies for load in loads))
    return Load(seconds, latencies, sum(load.wrong for load in loads) + abs(len(latencies) - kept))


def _own(file: Path, runs: int, process: int) -> Load:
    with open_store(file, make=False) as store:
        return at_once(store.saver, [f"run {number} of process {process}" for number in range(runs)])


def one_after_another(saver: BaseCheckpointSaver[str] | None, names: Iterable[str]) -> int:
    """Do runs of one step with one orchestrator; how many objects there are more afterwards."""
    orchestrator = build(saver, 1)
    gc.collect()
    before = len(gc.get_objects())
    ended = len({orchestrator.run(name, name)["status"] for name in names})  # nothing of the runs is kept
    gc.collect()
    return len(gc.get_objects()) - before if ended == 1 else 1_000_000_000
