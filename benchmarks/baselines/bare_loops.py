"""The loops that ``orchestration`` compares itself with: bare LangGraph, and plain Python.

Each does the same job: plan, then execute and judge every step, with a record of each and a growing context.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Annotated, Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from benchmarks.instant_agents import (
    AsyncMonitor,
    count_validated,
    extend_context,
    make_agents,
    make_async_agents,
)
from benchmarks.measuring import Job
from evaluation import JudgeRequest, build_evaluation_graph

TASK = "a task"
Record = dict[str, Any]
Update = dict[str, Any]
Route = Literal["next_step", "retry", "end"]


def make_plan(steps: int) -> list[str]:
    return [f"step {index}" for index in range(steps)]


def new_record(index: int, step: str, attempts: int, result: str) -> Record:
    return {
        "step_index": index,
        "step": step,
        "attempt": attempts + 1,
        "result": result,
        "status": "pending_validation",
        "verdict": None,
    }


def judged_record(record: Record, verdict: dict[str, object]) -> Record:
    return {**record, "verdict": verdict, "status": "validated" if verdict["success"] else "failed"}


def add_to_context(context: str, record: Record) -> str:
    return extend_context(context, record["step_index"], record["step"], record["result"])


def merge_records(current: list[Record], new: list[Record]) -> list[Record]:
    """Reducer: append an execution, or replace it by the judged one."""
    if not new:
        return current
    if current and current[-1]["step_index"] == new[0]["step_index"]:
        return [*current[:-1], new[0]]
    return [*current, new[0]]


class BareState(TypedDict):
    """The orchestrator's state, without the fields that only the orchestrator needs."""

    task: str
    plan: list[str]
    current_step_index: int
    context: str
    results: Annotated[list[Record], merge_records]
    attempts: int
    max_retries: int
    status: str


def _first_state() -> BareState:
    return BareState(
        task=TASK,
        plan=[],
        current_step_index=0,
        context="",
        results=[],
        attempts=0,
        max_retries=2,
        status="planning",
    )


def _after_planning(plan: list[str]) -> Update:
    return {"plan": plan, "current_step_index": 0, "attempts": 0, "status": "executing"}


def _after_execution(state: BareState, result: str) -> Update:
    index = state["current_step_index"]
    return {"results": [new_record(index, state["plan"][index], state["attempts"], result)]}


def _after_judging(state: BareState, verdict: dict[str, object]) -> Update:
    record = judged_record(state["results"][-1], verdict)
    if record["status"] != "validated":
        return {"results": [record], "attempts": state["attempts"] + 1}
    index = record["step_index"] + 1
    return {
        "results": [record],
        "context": add_to_context(state["context"], record),
        "current_step_index": index,
        "attempts": 0,
        "status": "success" if index == len(state["plan"]) else "executing",
    }


def _route_planner(state: BareState) -> Literal["execute", "end"]:
    return "execute" if state["plan"] else "end"


def _route_executor(state: BareState) -> Literal["judge", "end"]:
    return "judge" if state["status"] == "executing" else "end"


def _route_monitor(state: BareState) -> Route:
    if state["status"] != "executing":
        return "end"
    return "retry" if state["attempts"] else "next_step"


def _compile_loop(steps: int, *nodes: Callable[[BareState], object]) -> CompiledStateGraph:
    graph = StateGraph(BareState)
    for name, node in zip(("planner_node", "executor_node", "monitor_node"), nodes, strict=True):
        graph.add_node(name, node)
    graph.add_edge(START, "planner_node")
    graph.add_conditional_edges("planner_node", _route_planner, {"execute": "executor_node", "end": END})
    graph.add_conditional_edges("executor_node", _route_executor, {"judge": "monitor_node", "end": END})
    routes: dict[Hashable, str] = {"next_step": "executor_node", "retry": "executor_node", "end": END}
    graph.add_conditional_edges("monitor_node", _route_monitor, routes)
    return graph.compile().with_config(recursion_limit=2 * steps + 10)


def prepare_bare_async(steps: int) -> Job:
    monitor = AsyncMonitor()
    return _prepare_async(steps, lambda record: monitor.aevaluate(record["step"], record["result"]))


class MonitorJudge:
    """The monitor as the judge of the evaluation graph."""

    monitor = AsyncMonitor()

    async def ajudge(self, request: JudgeRequest) -> object:
        """Return the monitor's verdict as a score."""
        verdict = await self.monitor.aevaluate(request.input, request.output)
        return {"score": 5.0 if verdict["success"] else 1.0, "rationale": "the monitor's verdict"}


def prepare_bare_evaluating(steps: int) -> Job:
    """Run the evaluation graph in the monitor node, as one would connect it by hand."""
    evaluation = build_evaluation_graph(MonitorJudge(), checkpointer=False)

    async def judge(record: Record) -> dict[str, object]:
        run = {"input": record["step"], "final_output": record["result"], "latency_ms": 1.0}
        state = await evaluation.ainvoke({"agent_run": run, "subjective_criteria": ["objective"]})
        report = state["evaluation_report"]
        return {"success": report["status"] == "passed", "feedback": report["summary"]}

    return _prepare_async(steps, judge)


def _prepare_async(steps: int, judge: Callable[[Record], Awaitable[dict[str, object]]]) -> Job:
    planner, executor, _ = make_async_agents(make_plan(steps))

    async def planner_node(state: BareState) -> Update:
        return _after_planning(await planner.agenerate_plan(state["task"]))

    async def executor_node(state: BareState) -> Update:
        step = state["plan"][state["current_step_index"]]
        return _after_execution(state, await executor.aexecute_step(step, context=state["context"]))

    async def monitor_node(state: BareState) -> Update:
        return _after_judging(state, await judge(state["results"][-1]))

    compiled = _compile_loop(steps, planner_node, executor_node, monitor_node)

    async def run() -> int:
        return count_validated((await compiled.ainvoke(_first_state()))["results"])

    return lambda: asyncio.run(run())


def prepare_bare_sync(steps: int) -> Job:
    planner, executor, monitor = make_agents(make_plan(steps))

    def planner_node(state: BareState) -> Update:
        return _after_planning(planner.generate_plan(state["task"]))

    def executor_node(state: BareState) -> Update:
        step = state["plan"][state["current_step_index"]]
        return _after_execution(state, executor.execute_step(step, context=state["context"]))

    def monitor_node(state: BareState) -> Update:
        record = state["results"][-1]
        return _after_judging(state, monitor.evaluate(record["step"], record["result"]))

    compiled = _compile_loop(steps, planner_node, executor_node, monitor_node)
    return lambda: count_validated(compiled.invoke(_first_state())["results"])


def prepare_plain_python(steps: int) -> Job:
    planner, executor, monitor = make_agents(make_plan(steps))

    def run() -> int:
        context, results = "", list[Record]()
        for index, step in enumerate(planner.generate_plan(TASK)):
            result = executor.execute_step(step, context=context)
            record = judged_record(new_record(index, step, 0, result), monitor.evaluate(step, result))
            results.append(record)
            context = add_to_context(context, record)
        return count_validated(results)

    return run
