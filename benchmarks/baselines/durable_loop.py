"""A bare LangGraph loop with ``operator.add``, as one writes it by hand: the baseline of ``durability``."""

from __future__ import annotations

import operator
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from benchmarks.durability_stores import Saver
from benchmarks.instant_agents import (
    AsyncExecutor,
    AsyncMonitor,
    AsyncPlanner,
    count_validated,
    extend_context,
    make_agents,
)
from orchestrator import LangGraphOrchestrator

Durability = Literal["sync", "async", "exit"]
TASK: Final = "a task"
CONFIG: Final = RunnableConfig(configurable={"thread_id": "benchmark"}, recursion_limit=100_000)


class LongExecutor(AsyncExecutor):
    """Returns 200 characters that differ for every step: equal ones would compress too well."""

    def execute_step(self, step_description: str, /, context: str = "") -> str:
        """Return a result."""
        return random.Random(step_description).randbytes(100).hex()


def make_long_agents(steps: int) -> tuple[AsyncPlanner, AsyncExecutor, AsyncMonitor]:
    plan = [f"do the thing number {index} of the task" for index in range(steps)]
    return AsyncPlanner(plan), LongExecutor(), AsyncMonitor()


@dataclass(frozen=True)
class Run:
    """A run, and the reading of its state; each returns how many steps are validated."""

    execute: Callable[[], Awaitable[int]]
    read_state: Callable[[], Awaitable[int]]


class BareState(TypedDict):
    """The state of a loop as one writes it by hand: records are added to a list."""

    task: str
    plan: list[str]
    current_step_index: int
    context: str
    output: str
    results: Annotated[list[Mapping[str, object]], operator.add]


Update = dict[str, Any]


def prepare_bare(saver: Saver, steps: int, durability: Durability) -> Run:
    return _prepare_bare(saver, steps, durability, {})


def prepare_bare_reports(saver: Saver, steps: int, durability: Durability) -> Run:
    return _prepare_bare(saver, steps, durability, _other_fields())


def _other_fields() -> Mapping[str, object]:
    """Return the other fields of an orchestrator's record, so that the loop stores as much."""
    record = LangGraphOrchestrator(*make_agents(["a step"])).run(TASK)["results"][0]
    return {name: value for name, value in record.items() if name not in _RECORD}


_RECORD: Final = ("step_index", "step", "attempt", "result", "status", "verdict")


def _prepare_bare(saver: Saver, steps: int, durability: Durability, more: Mapping[str, object]) -> Run:
    planner, executor, monitor = make_long_agents(steps)

    async def planner_node(state: BareState) -> Update:
        return {"plan": await planner.agenerate_plan(state["task"]), "current_step_index": 0}

    async def executor_node(state: BareState) -> Update:
        step = state["plan"][state["current_step_index"]]
        return {"output": await executor.aexecute_step(step, context=state["context"])}

    async def monitor_node(state: BareState) -> Update:
        index, output = state["current_step_index"], state["output"]
        step = state["plan"][index]
        verdict = await monitor.aevaluate(step, output)
        values = (index, step, 1, output, "validated" if verdict["success"] else "failed", verdict)
        return {
            "results": [{**dict(zip(_RECORD, values, strict=True)), **more}],
            "current_step_index": index + 1,
            "context": extend_context(state["context"], index, step, output),
        }

    def route_monitor(state: BareState) -> str:
        return "executor_node" if state["current_step_index"] < len(state["plan"]) else END

    graph = StateGraph(BareState)
    graph.add_sequence([planner_node, executor_node, monitor_node])
    graph.add_edge(START, "planner_node")
    graph.add_conditional_edges("monitor_node", route_monitor, ["executor_node", END])
    compiled = graph.compile(checkpointer=saver)
    begin = BareState(task=TASK, plan=[], current_step_index=0, context="", output="", results=[])

    async def execute() -> int:
        return count_validated((await compiled.ainvoke(begin, CONFIG, durability=durability))["results"])

    async def read_state() -> int:
        return count_validated((await compiled.aget_state(CONFIG)).values["results"])

    return Run(execute, read_state)
