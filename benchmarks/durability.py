"""Measures the bytes and milliseconds of a durable step, for each store and durability.

The same job (plan; then execute and judge every step; keep a record of each and a growing context) by the
orchestrator and by a bare LangGraph loop with ``operator.add``. Agents answer at once. PostgreSQL comes from
a package of the tests.

    uv run python -m benchmarks.durability
    uv run python -m benchmarks.durability --stores sqlite --durabilities sync --sizes 1000

Always exits with 0; the words pass and MISSED are for people.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.baselines.durable_loop import (
    CONFIG,
    TASK,
    Durability,
    Run,
    make_long_agents,
    prepare_bare,
    prepare_bare_reports,
)
from benchmarks.durability_stores import (
    Open,
    Saver,
    StoreKind,
    memory_stores,
    postgres_stores,
    sqlite_stores,
    start_postgres,
)
from benchmarks.instant_agents import count_validated
from benchmarks.measuring import print_load
from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator
from orchestrator.state.graph_state import RunInput

SIZES: Final = (10, 100, 1000)
STORES: Final = ("memory", "sqlite", "postgres")
DURABILITIES: Final[tuple[Durability, ...]] = ("sync", "async", "exit")

OURS: Final = "orchestrator"
CONTRACT: Final = "orchestrator, with a contract"
BARE: Final = "bare loop"
BARE_REPORTS: Final = "bare loop, stores as much"
LARGEST_REPORTS: Final = 200
"""Most steps of the bare loop that stores as much: its bytes grow with the square of the steps."""

TIME_TARGET: Final = 1.3
BYTES_TARGET: Final = 0.1
STEP_BYTES_TARGET: Final = 15_000
GET_STATE_TARGET: Final = 250.0


def prepare_ours(
    saver: Saver, steps: int, durability: Durability, contract: EvaluationContract | None = None
) -> Run:
    agents = make_long_agents(steps)
    orchestrator = LangGraphOrchestrator(*agents, checkpointer=saver, step_contract=contract)

    async def execute() -> int:
        if durability == "sync":
            return count_validated((await orchestrator.arun(TASK, "benchmark"))["results"])
        begin = RunInput(task=TASK, status="planning")
        state = await orchestrator.graph.ainvoke(begin, CONFIG, durability=durability)
        return count_validated(state["results"])

    async def read_state() -> int:
        return count_validated((await orchestrator.graph.aget_state(CONFIG)).values["results"])

    return Run(execute, read_state)


def prepare_with_contract(saver: Saver, steps: int, durability: Durability) -> Run:
    contract = EvaluationContract.model_validate(
        {"required_content": [{"text": "a"}], "checks": [{"check": "word_count", "max": 500}]}
    )
    return prepare_ours(saver, steps, durability, contract)


@dataclass(frozen=True)
class Sample:
    """Milliseconds and bytes of a step, and milliseconds of reading the whole state (best of five)."""

    wall: float
    cpu: float
    size: float
    read_wall: float
    read_cpu: float


@dataclass(frozen=True)
class Row:
    """One row of the table: how its run is prepared, and whether it uses LangGraph's own store."""

    name: str
    prepare: Callable[[Saver, int, Durability], Run]
    is_bare: bool

    def take_sample(self, kind: StoreKind, steps: int, durability: Durability) -> Sample:
        """Run once, with a store of its own."""
        return asyncio.run(self._take_sample(kind.bare if self.is_bare else kind.ours, steps, durability))

    async def _take_sample(self, open_empty: Open, steps: int, durability: Durability) -> Sample:
        async with open_empty() as store:
            run = self.prepare(store.saver, steps, durability)
            wall, cpu = await _time_call(run.execute, steps)
            reads = [await _time_call(run.read_state, steps) for _ in range(5)]
            size = store.size() / steps
        read_wall, read_cpu = (min(times) for times in zip(*reads, strict=True))
        return Sample(wall / steps, cpu / steps, size, read_wall, read_cpu)


async def _time_call(call: Callable[[], Awaitable[int]], steps: int) -> tuple[float, float]:
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    validated = await call()
    taken = 1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - cpu)
    if validated != steps:
        raise RuntimeError(f"{validated} of {steps} steps are validated")
    return taken


ROWS: Final = (
    Row(OURS, prepare_ours, is_bare=False),
    Row(CONTRACT, prepare_with_contract, is_bare=False),
    Row(BARE, prepare_bare, is_bare=True),
    Row(BARE_REPORTS, prepare_bare_reports, is_bare=True),
)
Samples = dict[tuple[str, int], list[Sample]]


def measure_rows(kind: StoreKind, sizes: Sequence[int], durability: Durability, repeats: int) -> Samples:
    samples: Samples = {}
    for repeat in range(repeats):
        for steps in sizes:
            for row in ROWS[:: -1 if repeat % 2 else 1]:
                if row.name != BARE_REPORTS or steps <= LARGEST_REPORTS:
                    samples.setdefault((row.name, steps), []).append(row.take_sample(kind, steps, durability))
    return samples


def median_of(samples: Sequence[Sample]) -> Sample:
    names = ("wall", "cpu", "size", "read_wall", "read_cpu")
    return Sample(*(median(getattr(sample, name) for sample in samples) for name in names))


def ratio_of(row: Sequence[Sample], base: Sequence[Sample], name: str) -> float:
    """Return the median of the ratios within each repeat."""
    pairs = zip(row, base, strict=True)
    return median(getattr(sample, name) / getattr(other, name) for sample, other in pairs)


HEAD: Final = """
| {store}, {durability} | steps | ms a step | CPU | bytes a step | get_state, ms | CPU \
| time over the bare loop | CPU | bytes |
|---|---|---|---|---|---|---|---|---|---|"""


def print_table(store: str, durability: Durability, samples: Samples) -> None:
    print(HEAD.format(store=store, durability=durability))
    for (name, steps), row in samples.items():
        middle, base = median_of(row), samples[BARE, steps]
        ratios = " | ".join(f"{ratio_of(row, base, of):.3g}" for of in ("wall", "cpu", "size"))
        print(f"| {name} | {steps} | {middle.wall:.2f} | {middle.cpu:.2f} | {middle.size:,.0f} ", end="")
        print(f"| {middle.read_wall:.1f} | {middle.read_cpu:.1f} | {ratios} |", flush=True)


def print_targets(store: str, durability: Durability, samples: Samples, steps: int) -> None:
    row, base = samples[OURS, steps], samples[BARE, steps]
    middle = median_of(row)
    targets = (
        ("time of a step over the bare loop's", ratio_of(row, base, "wall"), TIME_TARGET),
        ("CPU time of a step over the bare loop's", ratio_of(row, base, "cpu"), TIME_TARGET),
        ("bytes over the bare loop's", ratio_of(row, base, "size"), BYTES_TARGET),
        ("bytes a step", middle.size, STEP_BYTES_TARGET),
        ("get_state, ms of CPU", middle.read_cpu, GET_STATE_TARGET),
    )
    print(f"\nTargets at {steps} steps, {store}, {durability}:")
    for name, value, target in targets:
        print(f"  {'pass  ' if value <= target else 'MISSED'} {name}: {value:.3g} (at most {target:g})")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=3, help="runs of each row (default 3)")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="plan lengths")
    parser.add_argument("--stores", nargs="+", choices=STORES, default=list(STORES))
    parser.add_argument("--durabilities", nargs="+", choices=DURABILITIES, default=list(DURABILITIES))
    parser.add_argument("--folder", type=Path, help="folder for the stores (default: a temporary one)")
    options = parser.parse_args()

    with TemporaryDirectory(dir=options.folder) as folder, start_postgres(Path(folder)) as url:
        kinds = {
            "memory": memory_stores(),
            "sqlite": sqlite_stores(Path(folder)),
            "postgres": postgres_stores(url),
        }
        # Imports and caches are not measured.
        ROWS[0].take_sample(kinds["sqlite"], 10, "sync")
        ROWS[2].take_sample(kinds["sqlite"], 10, "sync")
        for store in options.stores:
            for durability in options.durabilities:
                samples = measure_rows(kinds[store], options.sizes, durability, options.repeats)
                print_table(store, durability, samples)
                print_targets(store, durability, samples, max(options.sizes))
    print_load()


if __name__ == "__main__":
    main()
