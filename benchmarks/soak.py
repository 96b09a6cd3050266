"""Faults by chance for as long as one likes: kills, failing stores, clocks, doubled answers, a model server.

    uv run python benchmarks/soak.py --minutes 60
    uv run python benchmarks/soak.py --minutes 60 --seed 7

Rounds with other moments each, until the time is up; after each the table of all of them, and the seed that
gives the same moments again. Exits with 1 where anything was lost, done twice or ended with a wrong status.
"""

from __future__ import annotations

import argparse
import logging
import random
import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import reduce
from operator import add
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
# evaluation.py beside this file has the name of the package.
sys.path[:] = [str(ROOT), *(path for path in sys.path if Path(path or ".").resolve() != ROOT / "benchmarks")]

from tests.faults import cases  # noqa: E402
from tests.faults.answers import answered_twice, resumed_twice  # noqa: E402
from tests.faults.breaking import CORRUPTIONS  # noqa: E402
from tests.faults.killing import Places, killed_by_chance, sqlite_places  # noqa: E402
from tests.faults.model_runs import failing, made  # noqa: E402
from tests.faults.servers import Postgres, postgres_in  # noqa: E402
from tests.faults.tally import HEAD, Tally, told_of  # noqa: E402
from tests.faults.time_setting import crashed_before  # noqa: E402

KILLS: Final = 20
SEQUENCES: Final = 100
CALLS: Final = 38
"""Of agents, in the short run of the tests."""


def one_round(places: Places, postgres: Postgres, chance: random.Random) -> Iterator[Tally]:
    """Every fault but those of disks, at moments of its own."""
    seeds = iter(lambda: chance.randrange(2**32), None)
    at = iter(lambda: chance.randint(1, CALLS), None)
    yield killed_by_chance("SIGKILL by chance, SQLite", places, "long", next(seeds), KILLS)
    yield killed_by_chance("SIGKILL by chance, PostgreSQL", postgres.place, "long", next(seeds), KILLS)
    for case in (cases.locked_for_a_while, cases.locked):
        yield case(places, next(at))
    for fails in (cases.stopped, cases.crashed, cases.cut):
        yield fails(postgres, next(at))
    yield from (cases.corrupted(places, how) for how in CORRUPTIONS)
    for where in (places, postgres.place):
        yield crashed_before(where, "short", next(at))
        yield answered_twice(where, next(seeds))
        yield resumed_twice(where, next(seeds))
    first = next(seeds)
    yield failing("model's server, faults in sequences by chance", map(made, range(first, first + SEQUENCES)))


def summed(tallies: Sequence[Tally]) -> list[Tally]:
    """One of each fault, in their order."""
    faults = dict.fromkeys(tally.fault for tally in tallies)
    return [reduce(add, (tally for tally in tallies if tally.fault == fault)) for fault in faults]


def main() -> int:
    """Print the tables; the exit status is 1 where there was any harm."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    asked = parser.parse_args()
    for name in ("psycopg.pool", "agents", "langchain_core"):  # they tell of every failed attempt
        logging.getLogger(name).setLevel(logging.CRITICAL)
    chance, began, tallies = random.Random(asked.seed), time.monotonic(), list[Tally]()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        places, postgres = sqlite_places(folder), stack.enter_context(postgres_in(folder))
        while time.monotonic() - began < 60 * asked.minutes:
            tallies = summed([*tallies, *one_round(places, postgres, chance)])
            print(f"\nseed {asked.seed}, {(time.monotonic() - began) / 60:.1f} minutes\n{HEAD}")
            print("\n".join(map(told_of, tallies)), flush=True)
    return int(any(any(tally.harm) for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
