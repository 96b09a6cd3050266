"""The page of the queue, and the same as JSON."""

from __future__ import annotations

import httpx
import pytest

from orchestrator.persistence import open_store
from orchestrator.queue import open_queue
from orchestrator.serving import OneOrchestrator, ServerOptions, build_app
from tests.orchestrator.queue.worker_app import build
from tests.orchestrator.queue.workers import APP, fleet_on
from tests.orchestrator.serving.conftest import ADDRESS

FAILED = "UPDATE orchestrator_jobs SET error = 'it broke', failed_at = now() WHERE thread_id = ?"
LOST = """
    INSERT INTO orchestrator_workers
        (id, queue, apps, host, process, version, concurrency, heartbeat_s, seen)
    VALUES (?, 'default', '{}', 'host7', 42, '0.1', 2, 1, now() - interval '1 hour')
"""


async def read_pages(store):
    """The page and the JSON of a store."""
    app = build_app(store, OneOrchestrator(build(store)), ServerOptions())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=ADDRESS) as client:
        return (await client.get("/queue")).text, (await client.get("/api/queue")).json()


async def test_a_store_without_a_queue_says_so(tmp_path):
    with open_store(tmp_path / "runs.sqlite") as store:
        page, document = await read_pages(store)

    assert ("This store has no queue" in page, document) == (True, None)


@pytest.mark.parametrize("name", ["run", "<script>alert(1)</script>"])
async def test_the_page_shows_jobs_and_workers(postgres_url, tmp_path, name):
    with fleet_on(postgres_url, tmp_path / "fleet"), open_queue(postgres_url) as queue:
        queue.submit("Do all", app=APP, thread_id=name)
        queue.store.saver.change(FAILED, [(name,)])
        queue.store.saver.change(LOST, [("w",)])
        page, document = await read_pages(queue.store)

    assert "host7 42" in page
    assert "lost" in page
    assert "<script>alert" not in page
    assert [job["failed"] for job in document["jobs"]] == [1]
    assert [worker["is_alive"] for worker in document["workers"]] == [False]
