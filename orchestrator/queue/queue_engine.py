"""The port to the engine of a queue, which delivers jobs and notices workers that died.

Another engine takes the place of ``pgqueuer_engine.py`` and ``pgqueuer_tables.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol

from orchestrator.queue.queued_job import QueuedJob


class JobHandler(Protocol):
    """What a worker does with the jobs that the engine delivers, some of them twice."""

    async def execute(self, job: QueuedJob) -> float | None:
        """Executes a job; returns None at its end, or the seconds after which it is delivered again."""
        ...

    def interrupt(self) -> None:
        """Stops all jobs at once, because the connection to the engine is lost. Others continue them."""
        ...


class QueueEngine(Protocol):
    """Delivers jobs at least once."""

    def install(self) -> None:
        """Creates the tables of the store and its queues, or brings them up to date."""
        ...

    def is_installed(self) -> bool:
        """Checks whether there are tables."""
        ...

    def enqueue(self, job: QueuedJob) -> bool:
        """Adds a job; returns False if a job of its name waits or is being executed."""
        ...

    def find(self, key: str) -> QueuedJob | None:
        """Returns the job of a name that waits or is being executed, or None.

        Raises:
            ConfigurationError: The job cannot be read.
        """
        ...

    def cancel(self, thread_id: str) -> str | None:
        """Replaces the job of a run by one that ends the run, and tells the worker that executes it.

        Returns:
            The state of the replaced job, "picked" if a worker has it; None if the run has no job.
        """
        ...

    def remove_waiting(self, thread_id: str) -> None:
        """Removes the job of a run unless a worker has it."""
        ...

    def read_states(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Returns the states of jobs by name, without those that have ended; "failed" is one of them."""
        ...

    async def work(
        self,
        routes: Sequence[str],
        handler: JobHandler,
        stop: asyncio.Event,
        *,
        concurrency: int,
        heartbeat_s: float,
    ) -> None:
        """Executes jobs until ``stop`` is set and the last one has ended.

        Raises:
            StoreLostError: The connection was lost. Other workers take over the jobs.
        """
        ...
