"""Injects random faults for hours: kills, failing stores, doubled answers.

    uv run python -m benchmarks.soak --minutes 60
    uv run python -m benchmarks.soak --minutes 60 --seed 7

Each round injects the faults at other moments. After each round it prints the table of all rounds, and the
seed that repeats them. Exits with 1 if anything was lost, done twice or ended with a wrong status.
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

from tests.faults import cases
from tests.faults.answers import answered_twice, resumed_twice
from tests.faults.breaking import CORRUPTIONS
from tests.faults.killing import Places, killed_by_chance, sqlite_places
from tests.faults.servers import Postgres, postgres_in
from tests.faults.tally import Tally

KILLS: Final = 20
CALLS: Final = 38
"""Calls of agents in the short run of the tests."""
HEAD: Final = "| fault | times tried | lost | done twice | wrong status |\n|---|---|---|---|---|"


def one_round(places: Places, postgres: Postgres, chance: random.Random) -> Iterator[Tally]:
    """Inject every fault except disk faults, at random moments."""
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
        yield answered_twice(where, next(seeds))
        yield resumed_twice(where, next(seeds))


def add_by_fault(tallies: Sequence[Tally]) -> list[Tally]:
    """Add up the tallies of each fault, in order of the first."""
    faults = dict.fromkeys(tally.fault for tally in tallies)
    return [reduce(add, (tally for tally in tallies if tally.fault == fault)) for fault in faults]


def format_row(tally: Tally) -> str:
    """Format a row of the table below ``HEAD``."""
    return f"| {tally.fault} | {tally.tried} | {tally.lost} | {tally.twice} | {tally.wrong} |"


def main() -> int:
    """Print the tables; return 1 if there was any harm."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    options = parser.parse_args()
    for name in ("psycopg.pool", "agents", "langchain_core"):  # they log every failed attempt
        logging.getLogger(name).setLevel(logging.CRITICAL)
    chance, began, tallies = random.Random(options.seed), time.monotonic(), list[Tally]()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        places, postgres = sqlite_places(folder), stack.enter_context(postgres_in(folder))
        while time.monotonic() - began < 60 * options.minutes:
            tallies = add_by_fault([*tallies, *one_round(places, postgres, chance)])
            print(f"\nseed {options.seed}, {(time.monotonic() - began) / 60:.1f} minutes\n{HEAD}")
            print("\n".join(map(format_row, tallies)), flush=True)
    return int(any(any(tally.harm) for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
