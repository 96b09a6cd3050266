"""A queue, and workers within the process of the test."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orchestrator.queue import RunQueue, open_queue
from tests.orchestrator.queue.worker_app import list_effects
from tests.orchestrator.queue.workers import APP, list_jobs


@dataclass
class Bench:
    queue: RunQueue
    folder: Path
    reports: list[str] = field(default_factory=list)

    def submit(self, thread_id: str = "run", task: str = "Do all") -> str:
        return self.queue.submit(task, thread_id).status

    def submit_unchecked(self, thread_id: str = "run", task: str = "Do all", app: str = APP) -> None:
        """Queue a job as one that was submitted at the same moment."""
        deferred = self.queue.jobs.configure_task("orchestrator.run", queue=self.queue.name, lock=thread_id)
        deferred.defer(app=app, task=task, thread_id=thread_id)

    def effects(self) -> list[str]:
        return list_effects(self.folder)

    def status(self, thread_id: str = "run") -> str | None:
        run = self.queue.store.history.find(thread_id)
        return None if run is None else run.status

    def jobs(self) -> Counter[str]:
        return Counter(job.status for job in list_jobs(self.queue))

    @asynccontextmanager
    async def working(self, queue: RunQueue | None = None, **options: float) -> AsyncIterator[None]:
        """A worker that is stopped at the end of the block."""
        settings = {"concurrency": 2, "grace_s": 10.0, **options}
        task = asyncio.create_task((queue or self.queue).work(self.reports.append, **settings))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def reach(self, is_reached: Callable[[], bool], seconds: float = 40) -> None:
        deadline = time.monotonic() + seconds
        while not await asyncio.to_thread(is_reached):
            assert time.monotonic() < deadline, (self.jobs(), self.reports, self.effects())
            await asyncio.sleep(0.05)


@pytest.fixture
def bench(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("EFFECTS", str(tmp_path))
    with open_queue([APP], postgres_url) as queue:
        yield Bench(queue, tmp_path)
