"""A queue, and workers within the process of the test."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orchestrator import LangGraphOrchestrator
from orchestrator.queue import JobQueue, QueueWorker, open_queue
from tests.orchestrator.queue.worker_app import build, list_effects
from tests.orchestrator.queue.workers import APP


@dataclass
class Bench:
    """A queue, what was done, and what its workers reported."""

    queue: JobQueue
    folder: Path
    reports: list[str] = field(default_factory=list)

    def submit(self, thread_id: str = "run", task: str = "Do all", **options):
        return self.queue.submit(task, app=APP, thread_id=thread_id, **options)

    def effects(self) -> list[str]:
        return list_effects(self.folder)

    def status(self, thread_id: str = "run") -> str | None:
        run = self.queue.store.history.find(thread_id)
        return None if run is None else run.status

    def count(self) -> Counter[str]:
        jobs = self.queue.read_status().jobs
        states = ("waiting", "delayed", "running", "failed")
        return Counter({state: sum(getattr(job, state) for job in jobs) for state in states})

    def worker(self, app: LangGraphOrchestrator | None = None, **options) -> QueueWorker:
        built = {APP: app or build(self.queue.store)}
        settings = {"concurrency": 2, "heartbeat_s": 2.0, "grace_s": 10.0, "report": self.reports.append}
        return QueueWorker(self.queue, built, **{**settings, **options})

    @asynccontextmanager
    async def working(self, worker: QueueWorker | None = None) -> AsyncIterator[QueueWorker]:
        """A worker that is stopped at the end of the block."""
        worker = worker or self.worker()
        task = asyncio.create_task(worker.run())
        try:
            yield worker
        finally:
            worker.stop()
            await task

    async def reach(self, is_reached: Callable[[], bool], seconds: float = 40) -> None:
        deadline = time.monotonic() + seconds
        while not await asyncio.to_thread(is_reached):
            assert time.monotonic() < deadline, (self.count(), self.reports, self.effects())
            await asyncio.sleep(0.05)


@pytest.fixture
def bench(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("EFFECTS", str(tmp_path))
    with open_queue(postgres_url) as queue:
        yield Bench(queue, tmp_path)
