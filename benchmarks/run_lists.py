"""Measures the pages of a list of 100,000 stored runs, for each store, with filters that are rare or absent.

    uv run python -m benchmarks.run_lists
    uv run python -m benchmarks.run_lists --runs 10000 --stores sqlite

One run is executed; the rows of the others are copies of its row with other names, times and tasks.
PostgreSQL comes from a package of the tests. Always exits with 0; the words pass and MISSED are for people.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.durability_stores import start_postgres
from benchmarks.instant_agents import make_agents
from benchmarks.measuring import print_load
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import Store, open_store

STORES: Final = ("sqlite", "sqlite, encrypted", "postgres")
TARGET_MS: Final = 200.0
RARE: Final = 5_000
"""Of so many runs, one has a rare status, basis and task."""
BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
PAGE: Final = 25
LISTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "first page": {},
    "rare status": {"status": "waiting"},
    "rare basis": {"basis": "approved"},
    "rare text": {"task": "unicorn"},
    "absent text": {"task": "no task has this"},
}


def fill(store: Store, count: int) -> None:
    """Stores one run, and copies its row."""
    LangGraphOrchestrator(*make_agents(["one", "two"]), checkpointer=store).run("Summarise the report", "run")
    [(kind, data)] = store.saver.select("SELECT type, summary FROM orchestrator_runs", ())
    values: Any = store.saver.serde.loads_typed((kind, data))
    rows = [_copy_row(store, values, number) for number in range(count)]
    store.saver.change(
        "INSERT INTO orchestrator_runs (thread_id, mark, checkpoint_id, status, type, summary) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        rows,
    )


def _copy_row(store: Store, values: Mapping[str, object], number: int) -> tuple[object, ...]:
    is_rare = number % RARE == RARE // 2
    title = "Unicorn" if is_rare else "Report"
    text = f"{title} {number}: read the table, sum its columns, and write a summary. " * 2
    started = BEGIN + timedelta(seconds=number * 7919 % 10**6)
    updated = BEGIN + timedelta(seconds=number)
    status, basis = ("waiting" if is_rare else "success"), ("approved" if is_rare else "judged")
    summary = {
        **values,
        "thread_id": f"run {number}",
        "task": text,
        "status": status,
        "basis": basis,
        "started": started,
        "updated": updated,
    }
    kind, data = store.saver.serde.dumps_typed(summary)
    place = f"1f0c0000-{number // 65536:04x}-6000-8000-{number:012x}"
    return (f"run {number}", "", place, status, kind, data)


def measure(store: Store, selection: Mapping[str, Any], repeats: int) -> tuple[float, int]:
    """Returns the 95th percentile of the time of a page in milliseconds, and the number of its runs."""
    times, count = [], 0
    for _ in range(repeats):
        begin = time.perf_counter()
        count = len(store.history.runs(limit=PAGE, **selection))
        times.append((time.perf_counter() - begin) * 1000)
    return sorted(times)[int(0.95 * len(times))], count


@contextmanager
def open_kind(kind: str, folder: Path) -> Iterator[Store]:
    """Opens an empty store."""
    if kind == "postgres":
        with start_postgres(folder) as url, open_store(url("postgres")) as store:
            yield store
    else:
        key = "0123456789abcdef" if "encrypted" in kind else None
        with open_store(folder / f"{kind}.sqlite", encryption_key=key) as store:
            yield store


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--stores", nargs="*", choices=STORES, default=STORES)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        for kind in options.stores:
            with open_kind(kind, Path(folder)) as store:
                fill(store, options.runs)
                middle = store.history.runs(limit=options.runs // 2).next
                for name, selection in {**LISTS, "a page in the middle": {"cursor": middle}}.items():
                    p95, count = measure(store, selection, options.repeats)
                    verdict = "pass" if p95 <= TARGET_MS else "MISSED"
                    print(f"{kind:18}  {name:34}  {count:3} runs  p95 {p95:8.1f} ms  {verdict}", flush=True)
    print_load()


if __name__ == "__main__":
    main()
