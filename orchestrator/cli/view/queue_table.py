"""Draws a queue: its jobs, its workers, and what was submitted."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from orchestrator.cli.view.consoles import one_line
from orchestrator.queue.job_queue import Submission
from orchestrator.queue.queue_status import QueueStatus


def describe_submission(submitted: Submission, status: QueueStatus) -> str:
    """Says what became of a task, and how full its queue is."""
    jobs = [job for job in status.jobs if job.queue == submitted.queue]
    waiting, running = sum(job.waiting for job in jobs), sum(job.running for job in jobs)
    workers = sum(worker.is_alive for worker in status.workers if worker.queue == submitted.queue)
    return (
        f"{submitted.status}: {one_line(submitted.thread_id)} in {submitted.queue} "
        f"({waiting} waiting, {running} running, {workers} workers)"
    )


def draw_status(status: QueueStatus) -> Text:
    """Draws the jobs of all queues, their workers, and the failed jobs."""
    return Text("\n").join(Text(one_line(line)) for line in _list_lines(status))


def _list_lines(status: QueueStatus) -> Iterator[str]:
    for job in status.jobs:
        counts = f"{job.waiting} waiting, {job.running} running, {job.delayed} delayed, {job.failed} failed"
        lack = "" if job.workers else "; no live worker takes them"
        yield f"{job.queue}  {job.kind} {job.app}: {counts}{lack}"
    if not status.jobs:
        yield "no job is queued"
    for worker in status.workers:
        life = "alive" if worker.is_alive else "no sign of life"
        yield (
            f"worker {worker.host} {worker.process} of {worker.queue} ({worker.version}): {life}, "
            f"last seen {worker.seen:%Y-%m-%d %H:%M:%S %Z}"
        )
    for failure in status.failed:
        yield f"failed {failure.thread_id}: {failure.reason}"
