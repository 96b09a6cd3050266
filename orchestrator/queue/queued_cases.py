"""Executes the cases of an evaluation by the workers of a queue."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from evaluation.evalset.task_case import TaskCase
from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.experiments.model_arms import describe_state
from orchestrator.queue.job_queue import JobQueue
from orchestrator.queue.queued_job import build_key
from orchestrator.runs.run_selection import ENDED

_POLL_S: Final = 0.2
QueuedCase: TypeAlias = tuple[str, TaskCase, int]
"""The ``MODULE:FUNCTION`` of the workers that execute a case, the case, and the number of its run, from 0."""


@dataclass(frozen=True, slots=True)
class QueuedCases:
    """The cases of an evaluation as runs of a queue.

    The name of a run follows from the evaluation, the app and the case, so an evaluation that was interrupted
    goes on: what is queued stays queued, and a run that has ended is not executed again.

    Attributes:
        queue: The queue.
        name: Name of the evaluation.
    """

    queue: JobQueue
    name: str

    def execute(self, jobs: Sequence[QueuedCase]) -> Iterator[QueuedCase]:
        """Queues all executions; yields each when its run has ended, which its case has as ``agent_run``.

        A case that has an ``agent_run`` already is yielded as it is. A run that waits for a person goes no
        further.

        Raises:
            ConfigurationError: A case has a hook, or a task that is not accepted.
            StoreError: A worker cannot execute a case.
            StoreLostError: The database was lost; the same evaluation goes on later.
        """
        if hooked := next((case for _, case, _ in jobs if case.before or case.after), None):
            raise ConfigurationError(
                f"case {hooked.title!r:.80} has a hook before or after it, which no worker runs; leave out "
                "--queue, or the hook"
            )
        yield from (job for job in jobs if job[1].agent_run is not None)
        for app, _, _ in jobs:
            self.queue.check_app(app)  # before any is queued
        open_jobs = {self._name_run(*job): job for job in jobs if job[1].agent_run is None}
        for thread_id, (app, case, _) in open_jobs.items():
            self.queue.submit(case.task, app=app, thread_id=thread_id)
        while open_jobs:
            for thread_id in self._list_left_queue(open_jobs):
                if (run := self._read_run(thread_id)) is not None:
                    app, case, trial = open_jobs.pop(thread_id)
                    yield app, case.model_copy(update={"agent_run": run}), trial
            time.sleep(_POLL_S)

    def _name_run(self, app: str, case: TaskCase, trial: int) -> str:
        digest = hashlib.sha256(f"{app} {case.title}".encode()).hexdigest()[:16]
        return f"evaluation-{self.name}-{digest}-{trial}"

    def _list_left_queue(self, open_jobs: Mapping[str, QueuedCase]) -> list[str]:
        states = self.queue.engine.read_states([build_key(thread_id) for thread_id in open_jobs])
        for thread_id, (_, case, _) in open_jobs.items():
            if states.get(build_key(thread_id)) == "failed":
                raise StoreError(
                    f"the workers cannot execute case {case.title!r:.80}; `orchestrator queue` says why"
                )
        return [thread_id for thread_id in open_jobs if build_key(thread_id) not in states]

    def _read_run(self, thread_id: str) -> dict[str, object] | None:
        """Returns the ``agent_run`` of a run that has no job; None if it goes on in a job of another kind."""
        history = self.queue.store.history
        found = history.find(thread_id)
        if found is None:
            return {"error": "the run was cancelled before it began"}
        if found.status not in ENDED and found.status != "waiting":
            return None
        return describe_state(history.show(thread_id).state, thread_id, self.queue.store.where)
