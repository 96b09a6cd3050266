"""Executes the cases of an evaluation by the workers of a queue."""

from __future__ import annotations

import logging
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, TypeAlias

from evaluation.evalset.task_case import TaskCase
from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.experiments.model_arms import describe_state
from orchestrator.queue.job_queue import JobQueue
from orchestrator.queue.queued_job import build_digest, build_key, check_queued_task
from orchestrator.runs.run_saver import format_resume_call
from orchestrator.runs.run_selection import ENDED, RunSummary
from orchestrator.state.graph_state import OrchestratorState

_POLL_S: Final = 0.2
_POLLS_BEFORE_WARNING: Final = 25
_ACTIVE: Final = frozenset({"planning", "executing"})
_log: Final = logging.getLogger(__name__)
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

        A case that has an ``agent_run`` already is yielded as it is. A run that waits for a person, or that
        has lost its job, has an error.

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
        for app, case, _ in jobs:  # before any is queued
            self.queue.check_app(app)
            check_queued_task(case.task)
        open_jobs = {self._name_run(*job): job for job in jobs if job[1].agent_run is None}
        for thread_id, (app, case, _) in open_jobs.items():
            self.queue.submit(case.task, app=app, thread_id=thread_id)
        titles = {thread_id: case.title for thread_id, (_, case, _) in open_jobs.items()}
        for thread_id, state in follow_runs(self.queue, titles):
            app, case, trial = open_jobs[thread_id]
            run = self._describe(thread_id, app, state)
            yield app, case.model_copy(update={"agent_run": run}), trial

    def _describe(self, thread_id: str, app: str, state: OrchestratorState | None) -> dict[str, object]:
        """Returns the ``agent_run`` of a run that no worker executes any more."""
        if state is None:
            return {"error": "the run was cancelled before it began"}
        if state["status"] in ENDED:
            return describe_state(state, thread_id, self.queue.store.where)
        if (question := state["question"]) is None:
            end = f"has no job any more; --evaluation {shlex.quote(self.name)} queues it again"
        else:
            answer = format_resume_call(thread_id, question)
            end = f"waits for a person; answer with {answer} of the orchestrator of {app}"
        return {"error": f"run {thread_id} {end}"}

    def _name_run(self, app: str, case: TaskCase, trial: int) -> str:
        return f"evaluation-{self.name}-{build_digest(app, case.title)}-{trial}"


def follow_runs(queue: JobQueue, titles: Mapping[str, str]) -> Iterator[tuple[str, OrchestratorState | None]]:
    """Yields each queued run when no worker executes it any more, with its last state.

    It has ended, waits for a person, or was interrupted and has lost its job. The state is None if it was
    cancelled before it began. Logs which jobs no worker takes.

    Args:
        queue: The queue.
        titles: For the thread of each run, the title of its case.

    Raises:
        StoreError: A worker cannot execute a run.
        StoreLostError: The database was lost.
    """
    left: frozenset[str] = frozenset()
    open_runs = dict(titles)
    for number in count(1):
        for thread_id, run in _find_ended(queue, open_runs).items():
            open_runs.pop(thread_id)
            yield thread_id, None if run is None else queue.store.history.show(thread_id).state
        if not open_runs:
            return
        time.sleep(_POLL_S)
        if number % _POLLS_BEFORE_WARNING == 0:
            reported, left = left, queue.read_status().describe_left(queue.name)
            for sentence in sorted(left - reported):
                _log.warning("%s", sentence)


def _find_ended(queue: JobQueue, titles: Mapping[str, str]) -> dict[str, RunSummary | None]:
    """Returns the runs that have left the queue, without those that a process executes nevertheless."""
    states = queue.engine.read_states([build_key(thread_id) for thread_id in titles])
    for thread_id, title in titles.items():
        if states.get(build_key(thread_id)) == "failed":
            raise StoreError(f"the workers cannot execute case {title!r:.80}; `orchestrator queue` says why")
    away = [thread_id for thread_id in titles if build_key(thread_id) not in states]
    known = {thread_id: queue.store.history.find(thread_id) for thread_id in away}
    return {thread_id: run for thread_id, run in known.items() if run is None or run.status not in _ACTIVE}
