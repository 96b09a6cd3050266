"""Measures the web server under load: clients that hold event streams, runs, and a client of the pages.

    uv run python -m benchmarks.serve_load
    uv run python -m benchmarks.serve_load --streams 50 --runs 20 --seconds 30

The load generator is a process of its own on the same cores. Models are scripted, and each call takes 0.5 s.
An event is lost if a stream lacks one that the run has. Always exits with 0.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Final

import httpx

from benchmarks.measuring import print_load, print_target
from tests.faults.children import Place
from tests.faults.served import Server

CALL_S: Final = 0.5
PAUSE_S: Final = 0.1
"""Between two pages."""
PAGES: Final = ("/", "/runs", "/run?thread_id={}", "/runs?text=guest1", "/start")
TARGET_MS: Final = 400.0
TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass
class Load:
    """What the clients saw.

    Attributes:
        until: When no client begins anything more, in seconds of the monotonic clock.
        current: The run under way in each place.
        seen: The ids of the events that each stream of a run had.
        pages: Milliseconds of each request, by page.
    """

    until: float
    current: dict[int, str] = field(default_factory=dict)
    seen: dict[str, list[list[str]]] = field(default_factory=lambda: defaultdict(list))
    pages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    async def keep_running(self, client: httpx.AsyncClient, place: int) -> None:
        """Start one run after another, and wait for the end of each."""
        while time.monotonic() < self.until:
            answer = await client.post("/api/runs", json={"task": f"Invite guest{place}"})
            thread_id = self.current[place] = answer.raise_for_status().json()["thread_id"]
            await self._follow(client, thread_id)

    async def keep_following(self, client: httpx.AsyncClient, place: int) -> None:
        """Hold a stream of the run in a place, and of the one after it."""
        last = None
        while time.monotonic() < self.until:
            await asyncio.sleep(0.05)
            if (thread_id := self.current.get(place)) not in (None, last):
                await self._follow(client, thread_id)
                last = thread_id

    async def keep_reading(self, client: httpx.AsyncClient) -> None:
        """Fetch one page after another."""
        while time.monotonic() < self.until:
            for page in PAGES:
                began = time.perf_counter()
                answer = await client.get(page.format(next(iter(self.current.values()), "")))
                self.pages[page].append((time.perf_counter() - began) * 1000)
                if self.current:
                    answer.raise_for_status()
                await asyncio.sleep(PAUSE_S)

    async def _follow(self, client: httpx.AsyncClient, thread_id: str) -> None:
        async with client.stream("GET", f"/api/runs/{thread_id}/events") as stream:
            ids = [line[4:] async for line in stream.aiter_lines() if line.startswith("id: ")]
        self.seen[thread_id].append(ids)

    def count_lost(self) -> tuple[int, int, int]:
        """Return the events of all streams, those lost, and those that came twice."""
        streams = [(ids, max(map(len, each))) for each in self.seen.values() for ids in each]
        lost = sum(size - len(set(ids)) for ids, size in streams)
        return sum(len(ids) for ids, _ in streams), lost, sum(len(ids) - len(set(ids)) for ids, _ in streams)


async def put_load(address: str, streams: int, runs: int, seconds: float) -> Load:
    """Let all clients work for a time."""
    load = Load(time.monotonic() + seconds)
    limits = httpx.Limits(max_connections=None)
    async with (
        httpx.AsyncClient(base_url=address, timeout=60, trust_env=False, limits=limits) as client,
        httpx.AsyncClient(base_url=address, timeout=60, trust_env=False) as reader,
    ):
        await asyncio.gather(
            *(load.keep_running(client, place) for place in range(runs)),
            *(load.keep_following(client, number % runs) for number in range(streams - runs)),
            load.keep_reading(reader),
        )
    return load


def read_cpu_seconds(process: int) -> float:
    """Return the CPU time of a process and its threads."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def print_pages(load: Load) -> None:
    """Print a row for each page, and the target."""
    print("| page | requests | median, ms | p95, ms |\n|---|---|---|---|")
    for page, times in load.pages.items():
        print(f"| {page} | {len(times)} | {median(times):.0f} | {quantiles(times, n=20)[-1]:.0f} |")
    times = [each for one in load.pages.values() for each in one]
    print_target("p95 of all pages, ms", [quantiles(times, n=20)[-1]], TARGET_MS, digits=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--streams", type=int, default=50, help="clients with streams (default 50)")
    parser.add_argument("--runs", type=int, default=20, help="runs at once (default 20)")
    parser.add_argument("--seconds", type=float, default=30.0, help="time of the load (default 30)")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        server = Server.start(Place(str(Path(name) / "runs.sqlite"), Path(name)), CALL_S, asks=False)
        address = str(server.client.base_url)
        asyncio.run(put_load(address, 1, 1, 1.0))  # loads what the first run loads
        process = server.process.pid or 0
        began, cpu, served = time.perf_counter(), time.process_time(), read_cpu_seconds(process)
        load = asyncio.run(put_load(address, options.streams, options.runs, options.seconds))
        wall = time.perf_counter() - began
        print_pages(load)
        events, lost, twice = load.count_lost()
        print(
            f"{len(load.seen)} runs, {events} events of {options.streams} streams: {lost} lost, {twice} twice"
        )
        server_s, own_s = read_cpu_seconds(process) - served, time.process_time() - cpu
        print(f"CPU seconds in {wall:.0f} s: server {server_s:.1f}, load generator {own_s:.1f}")
        server.kill()
    print_load()


if __name__ == "__main__":
    main()
