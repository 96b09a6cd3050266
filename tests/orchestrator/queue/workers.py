"""Workers in processes of their own, and what they did."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from procrastinate.jobs import Job

from orchestrator.persistence import open_store
from orchestrator.queue import RunQueue, open_queue
from tests.orchestrator.queue.worker_app import STEPS, list_effects

APP = "tests.orchestrator.queue.worker_app:build"
APP_ONCE = f"{APP}_once"
ROOT = Path(__file__).parents[3]


def list_jobs(queue: RunQueue) -> list[Job]:
    return queue.jobs.job_manager.list_jobs(task="orchestrator.run")


@dataclass
class Fleet:
    db: str
    folder: Path
    effect_s: float = 0.05
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    def start(self, *options: str, app: str = APP) -> subprocess.Popen[bytes]:
        command = (sys.executable, "-m", "orchestrator", "worker", "--db", self.db, "--app", app)
        effects = {"EFFECTS": str(self.folder), "EFFECT_S": str(self.effect_s), "PYTHONPATH": str(ROOT)}
        with (self.folder / f"worker{next(self._numbers)}.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, *options], env={**os.environ, **effects}, stdout=log, stderr=subprocess.STDOUT
            )
        self.processes.append(process)
        return process

    def supervise(self, *options: str) -> None:
        """Start each worker again that ended with a status other than 0, as systemd does."""
        for process in [*self.processes]:
            if process.poll() not in (None, 0):
                self.processes.remove(process)
                self.start(*options)

    def submit(self, number: int, app: str = APP) -> None:
        with open_queue([app], self.db) as queue:
            for at in range(number):
                queue.submit("Do all", f"run{at}")

    def effects(self) -> Counter[str]:
        return Counter(list_effects(self.folder))

    def verdicts(self) -> int:
        file = self.folder / "verdicts"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def statuses(self) -> Counter[str]:
        with open_store(self.db) as store:
            return Counter(run.status for run in store.history.runs())

    def logs(self) -> str:
        return "\n".join(file.read_text(errors="replace") for file in sorted(self.folder.glob("*.log")))

    def wait(self, is_reached: Callable[[], bool], seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while not is_reached():
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {seconds} s: {self.statuses()}\n{self.logs()}")
            time.sleep(0.1)

    def wait_for_ends(self, number: int, seconds: float = 120) -> None:
        self.wait(lambda: self.statuses()["success"] == number and not self.jobs(), seconds)

    def jobs(self) -> int:
        with open_queue([], self.db) as queue:
            return len(list_jobs(queue))

    def stop(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()


@contextmanager
def fleet_on(db: str, folder: Path, **options: float) -> Iterator[Fleet]:
    folder.mkdir(exist_ok=True)
    fleet = Fleet(db, folder, **options)
    try:
        yield fleet
    finally:
        fleet.stop()


def is_each_effect_there_once(fleet: Fleet, runs: int) -> bool:
    """Whether all that was to be done was done, and nothing twice."""
    effects = fleet.effects()
    return len(effects) == runs * STEPS and set(effects.values()) == {1}
