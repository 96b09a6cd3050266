"""Milliseconds per plan step, with agents that answer at once: what is left is the machinery.

The same job (plan; then execute and judge every step; keep a record of each and a growing context)
by LangGraphOrchestrator, by a bare LangGraph loop, by plain Python, and by pydantic-graph, Burr and
CrewAI Flow where they are installed. No saver, no tracing. One process, interleaved repeats.

    uv run python benchmarks/orchestration.py
    uv run --with pydantic-graph --with apache-burr --with crewai python benchmarks/orchestration.py

The peers are never dependencies of the project. Always exits with 0; the words pass and fail are
for people.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib.util
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final, Literal, Protocol, cast

from typing_extensions import TypedDict

for _name, _value in {
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "OTEL_SDK_DISABLED": "true",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_DISABLE_TRACKING": "true",
    "CREWAI_TRACING_ENABLED": "false",
}.items():
    os.environ[_name] = _value  # before the imports: no peer may call home, and all run untraced

ROOT: Final = Path(__file__).resolve().parents[1]
# evaluation.py beside this file has the name of the package.
sys.path[:] = [str(ROOT), *(path for path in sys.path if Path(path or ".").resolve() != ROOT / "benchmarks")]

from langgraph.graph import END, START, StateGraph  # noqa: E402
from langgraph.graph.state import CompiledStateGraph  # noqa: E402

from evaluation import JudgeRequest, build_evaluation_graph  # noqa: E402
from evaluation.results.state import EvaluationState  # noqa: E402
from orchestrator import LangGraphOrchestrator  # noqa: E402

SIZES: Final = (10, 100, 1000)
OURS_SYNC: Final = "LangGraphOrchestrator, plain agents"
OURS_ASYNC: Final = "LangGraphOrchestrator, async agents"
OURS_NONE: Final = "the same, mode none by a function"
EVALUATING: Final = "bare loop and evaluation graph"
BARE_ASYNC: Final = "bare LangGraph loop, ainvoke"
BARE_SYNC: Final = "bare LangGraph loop, invoke"
PLAIN: Final = "plain Python"

OVER_BARE_TARGET: Final = 2.0
DELEGATION_TARGET: Final = 5.0
NOTHING_TARGET: Final = 1.05
GROWTH_TARGET: Final = 1.2
IMPORT_TARGET: Final = 1.5
BUSY: Final = 1.15
"""Wall over CPU time of rows that only compute, above which others were using the machine."""
BUSY_SPREAD: Final = 0.25

TASK: Final = "a task"
Route = Literal["next_step", "retry", "end"]
Job = Callable[[], int]
"""Does one run and returns how many steps were validated."""


# The agents, and the work that every row does.


class Planner:
    """Plans as many steps as it was told to."""

    def __init__(self, steps: int) -> None:
        self.plan = [f"step {index}" for index in range(steps)]

    def generate_plan(self, task: str, /) -> list[str]:
        """Return the plan."""
        return self.plan


class Executor:
    """Answers at once."""

    def execute_step(self, step_description: str, /, context: str = "") -> str:
        """Return a result."""
        return "done"


class Monitor:
    """Approves at once."""

    def evaluate(self, objective: str, result: str) -> dict[str, object]:
        """Return a verdict."""
        return {"success": True, "feedback": "as asked"}


class AsyncPlanner(Planner):
    """The same, awaited."""

    async def agenerate_plan(self, task: str, /) -> list[str]:
        """Return the plan."""
        return self.plan


class AsyncExecutor(Executor):
    """The same, awaited."""

    async def aexecute_step(self, step_description: str, /, context: str = "") -> str:
        """Return a result."""
        return "done"


class AsyncMonitor(Monitor):
    """The same, awaited."""

    async def aevaluate(self, objective: str, result: str) -> dict[str, object]:
        """Return a verdict."""
        return {"success": True, "feedback": "as asked"}


class Record(TypedDict):
    """What is kept of an execution."""

    step_index: int
    step: str
    attempt: int
    result: str
    status: str
    verdict: dict[str, object] | None


def executed(index: int, step: str, attempts: int, result: str) -> Record:
    return Record(
        step_index=index,
        step=step,
        attempt=attempts + 1,
        result=result,
        status="pending_validation",
        verdict=None,
    )


def judged(record: Record, verdict: dict[str, object]) -> Record:
    return {**record, "verdict": verdict, "status": "validated" if verdict["success"] else "failed"}


def longer(context: str, record: Record) -> str:
    entry = f"Step {record['step_index'] + 1}: {record['step']}\nResult: {record['result']}"
    return f"{context}\n\n{entry}" if context else entry


def settle(current: list[Record], new: list[Record]) -> list[Record]:
    """Reducer: append an execution, or put the judged one in its place."""
    if not new:
        return current
    record = new[0]
    if current and current[-1]["step_index"] == record["step_index"]:
        return [*current[:-1], record]
    return [*current, record]


# LangGraphOrchestrator.


def ours_sync(steps: int) -> Job:
    orchestrator = LangGraphOrchestrator(Planner(steps), Executor(), Monitor())
    return lambda: _validated(orchestrator.run(TASK)["results"])


def ours_async(steps: int) -> Job:
    orchestrator = LangGraphOrchestrator(AsyncPlanner(steps), AsyncExecutor(), AsyncMonitor())
    return lambda: _validated(asyncio.run(orchestrator.arun(TASK))["results"])


def ours_none(steps: int) -> Job:
    agents = AsyncPlanner(steps), AsyncExecutor(), AsyncMonitor()
    orchestrator = LangGraphOrchestrator(*agents, supervision=lambda _step, _index: "none")
    return lambda: _validated(asyncio.run(orchestrator.arun(TASK))["results"])


def _validated(records: Sequence[Mapping[str, object]]) -> int:
    return sum(record["status"] == "validated" for record in records)


# The bare LangGraph loop: three nodes, conditional edges, one reducer.


class BareState(TypedDict):
    """As the orchestrator's, without what only the orchestrator offers."""

    task: str
    plan: list[str]
    current_step_index: int
    context: str
    results: Annotated[list[Record], settle]
    attempts: int
    max_retries: int
    status: str


class BareUpdate(TypedDict, total=False):
    """What a node changes."""

    plan: list[str]
    current_step_index: int
    context: str
    results: list[Record]
    attempts: int
    status: str


def blank() -> BareState:
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


def _planned(plan: list[str]) -> BareUpdate:
    return {"plan": plan, "current_step_index": 0, "attempts": 0, "status": "executing"}


def _executed(state: BareState, result: str) -> BareUpdate:
    index = state["current_step_index"]
    return {"results": [executed(index, state["plan"][index], state["attempts"], result)]}


def _judged(state: BareState, verdict: dict[str, object]) -> BareUpdate:
    record = judged(state["results"][-1], verdict)
    if record["status"] != "validated":
        return {"results": [record], "attempts": state["attempts"] + 1}
    index = record["step_index"] + 1
    return {
        "results": [record],
        "context": longer(state["context"], record),
        "current_step_index": index,
        "attempts": 0,
        "status": "success" if index == len(state["plan"]) else "executing",
    }


def _after_planner(state: BareState) -> Literal["execute", "end"]:
    return "execute" if state["plan"] else "end"


def _after_executor(state: BareState) -> Literal["judge", "end"]:
    return "judge" if state["status"] == "executing" else "end"


def _after_monitor(state: BareState) -> Route:
    if state["status"] != "executing":
        return "end"
    return "retry" if state["attempts"] else "next_step"


BareGraph = CompiledStateGraph[BareState, None, BareState, BareState]


def _wired(graph: StateGraph[BareState, None, BareState, BareState], steps: int) -> BareGraph:
    graph.add_edge(START, "planner_node")
    graph.add_conditional_edges("planner_node", _after_planner, {"execute": "executor_node", "end": END})
    graph.add_conditional_edges("executor_node", _after_executor, {"judge": "monitor_node", "end": END})
    routes: dict[Hashable, str] = {"next_step": "executor_node", "retry": "executor_node", "end": END}
    graph.add_conditional_edges("monitor_node", _after_monitor, routes)
    return graph.compile().with_config(recursion_limit=2 * steps + 10)


class MonitorJudge:
    """The monitor as the evaluation graph's judge."""

    monitor = AsyncMonitor()

    async def ajudge(self, request: JudgeRequest) -> object:
        """Give the monitor's word as a score."""
        verdict = await self.monitor.aevaluate(request.input, request.output)
        return {"score": 5.0 if verdict["success"] else 1.0, "rationale": "the monitor's word"}


def bare_async(steps: int) -> Job:
    """Build the bare loop."""
    monitor = AsyncMonitor()
    return _bare_async(steps, lambda record: monitor.aevaluate(record["step"], record["result"]))


def bare_evaluating(steps: int) -> Job:
    """Build the bare loop, with the evaluation graph within its monitor node."""
    evaluation = build_evaluation_graph(MonitorJudge(), checkpointer=False)

    async def judge(record: Record) -> dict[str, object]:
        run = {"input": record["step"], "final_output": record["result"], "latency_ms": 1.0}
        case = cast("EvaluationState", {"agent_run": run, "subjective_criteria": ["objective"]})
        report = (await evaluation.ainvoke(case))["evaluation_report"]
        return {"success": report["status"] == "passed", "feedback": report["summary"]}

    return _bare_async(steps, judge)


def _bare_async(steps: int, judge: Callable[[Record], Awaitable[dict[str, object]]]) -> Job:
    planner, executor = AsyncPlanner(steps), AsyncExecutor()

    async def planner_node(state: BareState) -> BareUpdate:
        return _planned(await planner.agenerate_plan(state["task"]))

    async def executor_node(state: BareState) -> BareUpdate:
        step = state["plan"][state["current_step_index"]]
        return _executed(state, await executor.aexecute_step(step, context=state["context"]))

    async def monitor_node(state: BareState) -> BareUpdate:
        record = state["results"][-1]
        return _judged(state, await judge(record))

    graph = StateGraph(BareState)
    graph.add_node("planner_node", planner_node)
    graph.add_node("executor_node", executor_node)
    graph.add_node("monitor_node", monitor_node)
    compiled = _wired(graph, steps)

    async def run() -> int:
        return _validated((await compiled.ainvoke(blank()))["results"])

    return lambda: asyncio.run(run())


def bare_sync(steps: int) -> Job:
    planner, executor, monitor = Planner(steps), Executor(), Monitor()

    def planner_node(state: BareState) -> BareUpdate:
        return _planned(planner.generate_plan(state["task"]))

    def executor_node(state: BareState) -> BareUpdate:
        step = state["plan"][state["current_step_index"]]
        return _executed(state, executor.execute_step(step, context=state["context"]))

    def monitor_node(state: BareState) -> BareUpdate:
        record = state["results"][-1]
        return _judged(state, monitor.evaluate(record["step"], record["result"]))

    graph = StateGraph(BareState)
    graph.add_node("planner_node", planner_node)
    graph.add_node("executor_node", executor_node)
    graph.add_node("monitor_node", monitor_node)
    compiled = _wired(graph, steps)
    return lambda: _validated(compiled.invoke(blank())["results"])


# Plain Python.


def plain(steps: int) -> Job:
    planner, executor, monitor = Planner(steps), Executor(), Monitor()

    def run() -> int:
        context, results, attempts = "", list[Record](), 0
        for index, step in enumerate(planner.generate_plan(TASK)):
            result = executor.execute_step(step, context=context)
            record = judged(executed(index, step, attempts, result), monitor.evaluate(step, result))
            results.append(record)
            context = longer(context, record)
        return _validated(results)

    return run


# The peers, each by its own documented way. They import their library when they are prepared.


@dataclass
class Memory:
    """State of the peers whose steps change it in place."""

    task: str = TASK
    plan: list[str] = field(default_factory=list)
    index: int = 0
    context: str = ""
    results: list[Record] = field(default_factory=list)
    attempts: int = 0


class _Mutable(Protocol):
    plan: list[str]
    index: int
    context: str
    results: list[Record]
    attempts: int


def _route(memory: _Mutable, verdict: dict[str, object]) -> Route:
    """Settle the latest record in place and say what follows."""
    record = memory.results[-1] = judged(memory.results[-1], verdict)
    if record["status"] != "validated":
        memory.attempts += 1
        return "retry"
    memory.context = longer(memory.context, record)
    memory.index, memory.attempts = memory.index + 1, 0
    return "end" if memory.index == len(memory.plan) else "next_step"


def pydantic_graph(steps: int) -> Job:
    from pydantic_graph import GraphBuilder, StepContext, TypeExpression

    planner, executor, monitor = AsyncPlanner(steps), AsyncExecutor(), AsyncMonitor()
    builder = GraphBuilder(state_type=Memory, output_type=int)

    @builder.step
    async def plan(ctx: StepContext[Memory, None, None]) -> None:
        ctx.state.plan = await planner.agenerate_plan(ctx.state.task)

    @builder.step
    async def execute(ctx: StepContext[Memory, None, object]) -> None:
        memory = ctx.state
        step = memory.plan[memory.index]
        result = await executor.aexecute_step(step, context=memory.context)
        memory.results.append(executed(memory.index, step, memory.attempts, result))

    @builder.step
    async def judge(ctx: StepContext[Memory, None, None]) -> Route:
        record = ctx.state.results[-1]
        return _route(ctx.state, await monitor.aevaluate(record["step"], record["result"]))

    @builder.step
    async def finish(ctx: StepContext[Memory, None, object]) -> int:
        return _validated(ctx.state.results)

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


def burr(steps: int) -> Job:
    from burr.core import ApplicationBuilder, State, action, default, when

    planner, executor, monitor = Planner(steps), Executor(), Monitor()

    @action(reads=["task"], writes=["plan", "index", "context", "results", "attempts", "status"])
    def plan(state: State) -> State:
        made = planner.generate_plan(state["task"])
        return state.update(plan=made, index=0, context="", results=[], attempts=0, status="executing")

    # A write deep-copies what the field held: the pending record has a field of its own, so that the
    # growing list is written once in a step.
    @action(reads=["plan", "index", "context", "attempts"], writes=["pending"])
    def execute(state: State) -> State:
        index = state["index"]
        step = state["plan"][index]
        result = executor.execute_step(step, context=state["context"])
        return state.update(pending=executed(index, step, state["attempts"], result))

    @action(
        reads=["plan", "index", "context", "pending", "attempts"],
        writes=["index", "context", "results", "attempts", "status"],
    )
    def judge(state: State) -> State:
        pending = state["pending"]
        record = judged(pending, monitor.evaluate(pending["step"], pending["result"]))
        if record["status"] != "validated":
            return state.append(results=record).update(attempts=state["attempts"] + 1)
        index = state["index"] + 1
        return state.append(results=record).update(
            index=index,
            context=longer(state["context"], record),
            attempts=0,
            status="success" if index == len(state["plan"]) else "executing",
        )

    @action(reads=["results"], writes=["validated"])
    def finish(state: State) -> State:
        return state.update(validated=_validated(state["results"]))

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


def crewai_flow(steps: int) -> Job:
    from crewai.flow import Flow, listen, or_, router, start
    from pydantic import BaseModel

    planner, executor, monitor = AsyncPlanner(steps), AsyncExecutor(), AsyncMonitor()

    class Kept(BaseModel):
        """The flow's state, as ``Memory``."""

        task: str = TASK
        plan: list[str] = []
        index: int = 0
        context: str = ""
        results: list[Record] = []
        attempts: int = 0

    class Loop(Flow[Kept]):
        """Plan, then execute and judge until the router says end."""

        @start()
        async def plan(self) -> None:
            memory = self.state
            memory.plan = await planner.agenerate_plan(memory.task)

        @listen(or_(plan, "next_step", "retry"))
        async def execute(self) -> None:
            memory = self.state
            step = memory.plan[memory.index]
            result = await executor.aexecute_step(step, context=memory.context)
            memory.results.append(executed(memory.index, step, memory.attempts, result))

        @router(execute)
        async def judge(self) -> Route:
            memory = self.state
            record = memory.results[-1]
            return _route(memory, await monitor.aevaluate(record["step"], record["result"]))

        @listen("end")
        async def finish(self) -> int:
            return _validated(self.state.results)

    # Its events would print panels on the terminal: quiet, as for use as a library.
    flow = Loop(suppress_flow_events=True, tracing=False, max_method_calls=2 * steps + 10)
    return lambda: int(flow.kickoff())


# Measuring.


@dataclass(frozen=True)
class Subject:
    """One row: ``prepare`` builds all that can be built before the clock starts."""

    name: str
    prepare: Callable[[int], Job]
    package: str = ""
    module: str = ""

    @property
    def installed(self) -> bool:
        """Whether the peer's library is there; our own rows always are."""
        return not self.module or importlib.util.find_spec(self.module) is not None


SUBJECTS: Final = (
    Subject(OURS_SYNC, ours_sync),
    Subject(OURS_ASYNC, ours_async),
    Subject(OURS_NONE, ours_none),
    Subject(EVALUATING, bare_evaluating),
    Subject(BARE_ASYNC, bare_async),
    Subject(BARE_SYNC, bare_sync),
    Subject(PLAIN, plain),
    Subject("pydantic-graph", pydantic_graph, "pydantic-graph", "pydantic_graph"),
    Subject("Burr", burr, "apache-burr", "burr"),
    Subject("CrewAI Flow", crewai_flow, "crewai", "crewai"),
)


@dataclass(frozen=True)
class Sample:
    """Milliseconds per step of one run; ``cpu`` is of all threads of the process."""

    wall: float
    cpu: float


Samples = dict[tuple[str, int], list[Sample]]


def measure(subjects: Sequence[Subject], sizes: Sequence[int], repeats: int) -> Samples:
    samples: Samples = {}
    for subject in subjects:
        sample(subject, min(sizes))  # imports, caches, first-use costs: not counted
    gc.collect()
    gc.freeze()
    for repeat in range(repeats):
        shift = repeat % len(subjects)
        for size in sizes:
            for subject in (*subjects[shift:], *subjects[:shift]):
                samples.setdefault((subject.name, size), []).append(sample(subject, size))
        print(f"\rrepeat {repeat + 1} of {repeats}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return samples


def sample(subject: Subject, size: int) -> Sample:
    job = subject.prepare(size)
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    validated = job()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if validated != size:
        raise RuntimeError(f"{subject.name} validated {validated} of {size} steps")
    return Sample(1000 * wall / size, 1000 * cpu / size)


def median(samples: Sequence[Sample]) -> Sample:
    return Sample(
        statistics.median(one.wall for one in samples), statistics.median(one.cpu for one in samples)
    )


@dataclass(frozen=True)
class Ratio:
    """Of two rows: the median of the ratios within each repeat, and the fastest run of each."""

    wall: float
    cpu: float
    best: float


def compare(own: Sequence[Sample], base: Sequence[Sample]) -> Ratio:
    """Within a repeat, what else the machine did weighs on both; the fastest runs hold least of it."""
    middle = median(
        [Sample(one.wall / other.wall, one.cpu / other.cpu) for one, other in zip(own, base, strict=True)]
    )
    return Ratio(middle.wall, middle.cpu, min(one.cpu for one in own) / min(one.cpu for one in base))


IMPORTS: Final = ("langgraph.graph", "orchestrator")
_CHILD: Final = """
import time
wall, cpu = time.perf_counter(), time.process_time()
import {module}
print(time.perf_counter() - wall, time.process_time() - cpu)
"""


def import_times(repeats: int) -> dict[str, list[Sample]]:
    """Milliseconds of an import: process cold, caches (bytecode, files) warm."""
    times: dict[str, list[Sample]] = {module: [] for module in IMPORTS}
    with TemporaryDirectory() as bytecode:  # of our own: the environment may forbid writing any
        for repeat in range(repeats + 1):
            for module in IMPORTS if repeat % 2 else IMPORTS[::-1]:
                taken = import_once(module, bytecode)
                if repeat:  # the first of each fills the caches
                    times[module].append(taken)
    return times


def import_once(module: str, bytecode: str) -> Sample:
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", _CHILD.format(module=module)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parent.parent,
        env=environment,
    )
    wall, cpu = map(float, done.stdout.split()[-2:])
    return Sample(1000 * wall, 1000 * cpu)


# Reporting.


def table(samples: Samples, subjects: Sequence[Subject], sizes: Sequence[int]) -> None:
    print(f"{'':37}{'':>6}{'ms per step':^27}{'':8}{'over ainvoke':>18}{'over invoke':>16}")
    print(f"{'':37}{'steps':>6}{'wall':>9}{'CPU':>9}{'best':>9}{'spread':>8}", end="")
    print(f"{'wall':>10}{'CPU':>8}{'wall':>8}{'CPU':>8}")
    for subject in subjects:
        for size in sizes:
            own = samples[subject.name, size]
            middle, best = median(own), min(one.cpu for one in own)
            print(f"{subject.name if size == sizes[0] else '':37}{size:>6}", end="")
            print(f"{middle.wall:>9.4f}{middle.cpu:>9.4f}{best:>9.4f}{_spread(own):>8.0%}  ", end="")
            for base in (BARE_ASYNC, BARE_SYNC):
                over = compare(own, samples[base, size])
                print(f"{over.wall:>8.3g}{over.cpu:>8.3g}", end="")
            print()


def _spread(samples: Sequence[Sample]) -> float:
    """From the fastest run to the slowest, as a part of the median."""
    walls = sorted(one.wall for one in samples)
    return (walls[-1] - walls[0]) / statistics.median(walls)


def delegation(own: Sequence[Sample], base: Sequence[Sample]) -> Ratio:
    """The milliseconds a step of one row above another, as ``compare`` takes them."""
    middle = median(
        [Sample(one.wall - other.wall, one.cpu - other.cpu) for one, other in zip(own, base, strict=True)]
    )
    return Ratio(middle.wall, middle.cpu, min(one.cpu for one in own) - min(one.cpu for one in base))


def targets(samples: Samples, sizes: Sequence[int]) -> None:
    print(f"\n{'Targets':84}{'wall':>12}{'CPU':>12}{'best CPU':>12}")
    for size in sizes:
        delegating = delegation(samples[OURS_ASYNC, size], samples[BARE_ASYNC, size])
        _verdict(
            f"ms a step above the bare loop, with an evaluation each, {size} steps",
            delegating,
            DELEGATION_TARGET,
        )
    for name in (OURS_SYNC, OURS_ASYNC):
        for size in sizes:
            over = compare(samples[name, size], samples[BARE_ASYNC, size])
            _verdict(f"{name} / {BARE_ASYNC}, {size} steps", over, OVER_BARE_TARGET)
    for size in sizes:
        over = compare(samples[OURS_NONE, size], samples[OURS_ASYNC, size])
        _verdict(f"{OURS_NONE} / {OURS_ASYNC}, {size} steps", over, NOTHING_TARGET)
    if {100, 1000} <= set(sizes):
        for name in (OURS_SYNC, OURS_ASYNC):
            growth = compare(samples[name, 1000], samples[name, 100])
            _verdict(f"{name}, a step of 1000 / a step of 100", growth, GROWTH_TARGET)


def imports(times: dict[str, list[Sample]]) -> None:
    base, own = IMPORTS
    over = compare(times[own], times[base])
    _verdict(f"import {own} / import {base} (cold process, warm caches)", over, IMPORT_TARGET)
    for module in IMPORTS:
        middle, best = median(times[module]), min(one.cpu for one in times[module])
        print(f"  import {module:18}{middle.wall:>6.0f} ms, CPU {middle.cpu:.0f} ms, best {best:.0f} ms")


def _verdict(what: str, over: Ratio, target: float) -> None:
    print(f"{f'<= {target}  {what}':84}", end="")
    for value in (over.wall, over.cpu, over.best):
        print(f"{value:>7.2f} {'pass' if value <= target else 'FAIL'}", end="")
    print()


def noise(samples: Samples, sizes: Sequence[int]) -> None:
    """Rows of one thread that only compute: their wall time above CPU time is what others took."""
    size = max(sizes)
    alone = [one for name in (BARE_ASYNC, BARE_SYNC) for one in samples[name, size]]
    taken = statistics.median(one.wall / one.cpu for one in alone)
    spread = max(_spread(samples[name, size]) for name in (BARE_ASYNC, BARE_SYNC))
    busy = taken > BUSY or spread > BUSY_SPREAD
    print(f"\nMachine: {'busy, trust the CPU columns' if busy else 'quiet'}; ", end="")
    print(f"wall / CPU of the bare loops {taken:.2f}, their spread {spread:.0%}, load ", end="")
    print(" ".join(f"{load:.1f}" for load in os.getloadavg()) + f" on {os.cpu_count()} CPUs")


def environment(subjects: Sequence[Subject]) -> None:
    names = ["langgraph", "langchain-core", "pydantic", *(one.package for one in subjects if one.package)]
    print(f"Python {sys.version.split()[0]}, " + ", ".join(f"{name} {_version(name)}" for name in names))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=7, help="runs of each row (default 7)")
    parser.add_argument("--import-repeats", type=int, default=9, help="imports of each module (default 9)")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="plan lengths")
    options = parser.parse_args()

    present = [subject for subject in SUBJECTS if subject.installed]
    environment(present)
    samples = measure(present, options.sizes, options.repeats)
    table(samples, present, options.sizes)
    for subject in SUBJECTS:
        if subject not in present:
            print(f"{subject.name:38}not installed (uv run --with {subject.package} ...)")
    targets(samples, options.sizes)
    imports(import_times(options.import_repeats))
    noise(samples, options.sizes)


if __name__ == "__main__":
    main()
