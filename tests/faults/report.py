"""Try every fault and print what became of the runs: ``python -m tests.faults.report``."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial, reduce
from operator import add
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.faults import cases
from tests.faults.answers import answered_twice, resumed_twice
from tests.faults.breaking import CORRUPTIONS
from tests.faults.killing import killed_at_writes, killed_by_chance, sqlite_places
from tests.faults.model_runs import failing, made
from tests.faults.servers import Disk, NoDiskError, Postgres, disk_at, postgres_in
from tests.faults.tally import HEAD, Tally, told_of

Trial = Callable[[], Tally]


def trials(folder: Path, disk: Disk | None, postgres: Postgres) -> Iterator[list[Trial]]:
    """What is tried, fault by fault."""
    places = sqlite_places(folder)
    at_each = {
        cases.locked_for_a_while: places,
        cases.locked: places,
        cases.stopped: postgres,
        cases.crashed: postgres,
        cases.cut: postgres,
    }
    yield [partial(killed_by_chance, "SIGKILL by chance, SQLite", places, "long", 0, 100)]
    yield [partial(killed_by_chance, "SIGKILL by chance, PostgreSQL", postgres.place, "long", 0, 100)]
    at_writes = "SIGKILL before or after each write"
    yield [partial(killed_at_writes, f"{at_writes}, SQLite", places, "short")]
    # A node writes twice, so that each has four moments: one of them at least, and every kind in turn.
    at_nodes = "SIGKILL at the end of each node"
    yield [partial(killed_at_writes, f"{at_nodes}, SQLite", places, "long", every=3)]
    yield [partial(killed_at_writes, f"{at_nodes}, PostgreSQL", postgres.place, "long", every=3)]
    for case, where in at_each.items():
        yield [partial(case, where, at) for at in cases.MOMENTS]
    yield [partial(cases.corrupted, places, how) for how in CORRUPTIONS]
    both = (places, postgres.place)
    for twice in (answered_twice, resumed_twice):
        yield [partial(twice, where, seed) for where in both for seed in range(25)]
    yield [partial(failing, "model's server, faults in sequences by chance", map(made, range(1000)))]
    if disk is not None:
        yield [partial(cases.read_only, disk)]


def full_disks(folder: Path) -> Iterator[Trial]:
    """A disk that is full, each time another one."""
    for at in cases.MOMENTS:

        def full(at: int = at) -> Tally:
            own = folder / f"full{at}"
            own.mkdir()
            with disk_at(own) as disk:
                return cases.full(disk, at)

        yield full


def _disk(stack: ExitStack, folder: Path) -> Disk | None:
    try:
        return stack.enter_context(disk_at(folder))
    except NoDiskError as error:
        print(f"left out: {error}", file=sys.stderr)  # noqa: T201
        return None


def main() -> int:
    """Print the table; the exit status is 1 where there was any harm."""
    for name in ("psycopg.pool", "agents"):  # they tell of every failed attempt
        logging.getLogger(name).setLevel(logging.CRITICAL)
    harm = False
    print(HEAD)  # noqa: T201
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        disk, postgres = _disk(stack, folder), stack.enter_context(postgres_in(folder))
        for tried in (*trials(folder, disk, postgres), *([] if disk is None else [list(full_disks(folder))])):
            tally = reduce(add, (trial() for trial in tried))
            harm = harm or any(tally.harm)
            print(told_of(tally), flush=True)  # noqa: T201
    return int(harm)


if __name__ == "__main__":
    sys.exit(main())
