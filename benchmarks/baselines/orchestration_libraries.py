"""The other frameworks of ``orchestration``, each used as its documentation says.

Each imports its library only when its row is prepared.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from benchmarks.baselines.bare_loops import (
    TASK,
    Record,
    Route,
    add_to_context,
    judged_record,
    make_plan,
    new_record,
)
from benchmarks.instant_agents import count_validated, make_agents, make_async_agents
from benchmarks.measuring import Job, Subject


@dataclass
class Memory:
    """The state of the frameworks whose steps change it in place."""

    task: str = TASK
    plan: list[str] = field(default_factory=list)
    index: int = 0
    context: str = ""
    results: list[Record] = field(default_factory=list)
    attempts: int = 0


def _judge_in_place(memory: Any, verdict: dict[str, object]) -> Route:
    # ``memory`` is a Memory or CrewAI's state, which has the same fields.
    record = memory.results[-1] = judged_record(memory.results[-1], verdict)
    if record["status"] != "validated":
        memory.attempts += 1
        return "retry"
    memory.context = add_to_context(memory.context, record)
    memory.index, memory.attempts = memory.index + 1, 0
    return "end" if memory.index == len(memory.plan) else "next_step"


def prepare_pydantic_graph(steps: int) -> Job:
    from pydantic_graph import GraphBuilder, StepContext, TypeExpression

    planner, executor, monitor = make_async_agents(make_plan(steps))
    builder = GraphBuilder(state_type=Memory, output_type=int)

    @builder.step
    async def plan(ctx: StepContext[Memory, None, None]) -> None:
        ctx.state.plan = await planner.agenerate_plan(ctx.state.task)

    @builder.step
    async def execute(ctx: StepContext[Memory, None, object]) -> None:
        memory = ctx.state
        step = memory.plan[memory.index]
        result = await executor.aexecute_step(step, context=memory.context)
        memory.results.append(new_record(memory.index, step, memory.attempts, result))

    @builder.step
    async def judge(ctx: StepContext[Memory, None, None]) -> Route:
        record = ctx.state.results[-1]
        return _judge_in_place(ctx.state, await monitor.aevaluate(record["step"], record["result"]))

    @builder.step
    async def finish(ctx: StepContext[Memory, None, object]) -> int:
        return count_validated(ctx.state.results)

    after = (
        builder.decision()
        .branch(builder.match(TypeExpression[Literal["next_step", "retry"]]).to(execute))
        .branch(builder.match(TypeExpression[Literal["end"]]).to(finish))
    )
    builder.add(
        builder.edge_from(builder.start_node).to(plan),
        builder.edge_from(plan).to(execute),
        builder.edge_from(execute).to(judge),
        builder.edge_from(judge).to(after),
        builder.edge_from(finish).to(builder.end_node),
    )
    graph = builder.build()
    return lambda: asyncio.run(graph.run(state=Memory()))


def prepare_burr(steps: int) -> Job:
    from burr.core import ApplicationBuilder, State, action, default, when

    planner, executor, monitor = make_agents(make_plan(steps))

    @action(reads=["task"], writes=["plan", "index", "context", "results", "attempts", "status"])
    def plan(state: State) -> State:
        steps_of_plan = planner.generate_plan(state["task"])
        return state.update(
            plan=steps_of_plan, index=0, context="", results=[], attempts=0, status="executing"
        )

    # A write deep-copies the old value of the field. The pending record has a field of its own, so that the
    # growing list is written once for each step.
    @action(reads=["plan", "index", "context", "attempts"], writes=["pending"])
    def execute(state: State) -> State:
        index = state["index"]
        step = state["plan"][index]
        result = executor.execute_step(step, context=state["context"])
        return state.update(pending=new_record(index, step, state["attempts"], result))

    @action(
        reads=["plan", "index", "context", "pending", "attempts"],
        writes=["index", "context", "results", "attempts", "status"],
    )
    def judge(state: State) -> State:
        pending = state["pending"]
        record = judged_record(pending, monitor.evaluate(pending["step"], pending["result"]))
        if record["status"] != "validated":
            return state.append(results=record).update(attempts=state["attempts"] + 1)
        index = state["index"] + 1
        return state.append(results=record).update(
            index=index,
            context=add_to_context(state["context"], record),
            attempts=0,
            status="success" if index == len(state["plan"]) else "executing",
        )

    @action(reads=["results"], writes=["validated"])
    def finish(state: State) -> State:
        return state.update(validated=count_validated(state["results"]))

    app = (
        ApplicationBuilder()
        .with_actions(plan=plan, execute=execute, judge=judge, finish=finish)
        .with_transitions(
            ("plan", "execute"),
            ("execute", "judge"),
            ("judge", "execute", when(status="executing")),
            ("judge", "finish", default),
        )
        .with_state(task=TASK)
        .with_entrypoint("plan")
        .build()
    )

    def run() -> int:
        _, _, state = app.run(halt_after=["finish"])
        return int(state["validated"])

    return run


def prepare_crewai_flow(steps: int) -> Job:
    from crewai.flow import Flow, listen, or_, router, start
    from pydantic import BaseModel

    planner, executor, monitor = make_async_agents(make_plan(steps))

    class FlowState(BaseModel):
        """The fields of ``Memory``; a flow requires a pydantic model."""

        task: str = TASK
        plan: list[str] = []
        index: int = 0
        context: str = ""
        results: list[Record] = []
        attempts: int = 0

    class Loop(Flow[FlowState]):
        """Plan, then execute and judge until the router returns "end"."""

        @start()
        async def plan(self) -> None:
            self.state.plan = await planner.agenerate_plan(self.state.task)

        @listen(or_(plan, "next_step", "retry"))
        async def execute(self) -> None:
            memory = self.state
            step = memory.plan[memory.index]
            result = await executor.aexecute_step(step, context=memory.context)
            memory.results.append(new_record(memory.index, step, memory.attempts, result))

        @router(execute)
        async def judge(self) -> Route:
            record = self.state.results[-1]
            return _judge_in_place(self.state, await monitor.aevaluate(record["step"], record["result"]))

        @listen("end")
        async def finish(self) -> int:
            return count_validated(self.state.results)

    # Its events would print panels on the terminal: off, as in use as a library.
    flow = Loop(suppress_flow_events=True, tracing=False, max_method_calls=2 * steps + 10)
    return lambda: int(flow.kickoff())


PEERS: Final = (
    Subject("pydantic-graph", prepare_pydantic_graph, 0, "pydantic-graph", "pydantic_graph"),
    Subject("Burr", prepare_burr, 0, "apache-burr", "burr"),
    Subject("CrewAI Flow", prepare_crewai_flow, 0, "crewai", "crewai"),
)
