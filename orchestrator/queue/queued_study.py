"""Executes the runs of ``tune`` by the workers of a queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel

from agents import load_model
from evaluation.evalset.task_case import TaskCase
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.persistence import Store
from orchestrator.queue.job_queue import JobQueue
from orchestrator.queue.queued_cases import follow_runs
from orchestrator.queue.queued_job import QueuedJob, build_digest, check_queued_task
from orchestrator.retry.policy import RetryPolicy
from orchestrator.runs.run_saver import lock_thread
from orchestrator.runs.run_selection import ENDED
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.tuning.model_runs import ModelRunner, has_verdict, measure_run
from orchestrator.tuning.recorded_replies import StoredReplies
from orchestrator.tuning.study_tasks import read_tasks
from orchestrator.tuning.trials import MeasuredRun
from orchestrator.tuning.tune_spec import DEFAULT, TuneSpec, build_space


class QueuedStudy:
    """Names the runs of a study, equally on all machines that have the same specification and tasks.

    Args:
        spec: The specification.

    Attributes:
        app: The ``app`` of its jobs. Another version of the specification or of the tasks has another one.

    Raises:
        ConfigurationError: The specification or the tasks are not accepted.
    """

    def __init__(self, spec: TuneSpec) -> None:
        self.spec, self.space = spec, build_space(spec)
        cases = read_tasks(spec, check_queued_task).values()
        policies = (DEFAULT, *self.space.everything)
        self._cases = {self._digest_case(case): case for case in cases}
        self._policies = {build_digest(each.policy.model_dump_json()): each.policy for each in policies}
        settings = spec.model_dump_json(exclude={"tasks", "space"})
        version = build_digest(settings, *self._cases, *self._policies)
        self.app = f"study:{spec.name}.{version}"

    def name_run(self, case: TaskCase, policy: RetryPolicy) -> str:
        """Returns the thread of a run. It follows from all that decides the run."""
        return f"tune-{self.spec.name}-{self._digest_case(case)}-{build_digest(policy.model_dump_json())}"

    def find_run(self, thread_id: str) -> tuple[TaskCase, RetryPolicy]:
        """Returns the task and the policy of a run.

        Raises:
            ConfigurationError: The study has no such run.
        """
        *_, case_digest, policy_digest = ["", *thread_id.split("-")]
        case, policy = self._cases.get(case_digest), self._policies.get(policy_digest)
        if case is None or policy is None or self.name_run(case, policy) != thread_id:
            raise ConfigurationError(
                f"{thread_id!r:.200} is no run of {self.app}; start the workers and the search with the same "
                "files"
            )
        return case, policy

    def _digest_case(self, case: TaskCase) -> str:
        return build_digest(self.spec.model, str(self.spec.planning), case.model_dump_json())


class StudyApp:
    """Executes the runs of a study in a worker, as an orchestrator does those of an app.

    A job only names its run; what is executed comes from the specification of the worker. A run that was
    interrupted begins again, and gets its recorded replies: its tasks have no tools, so nothing is done
    twice, and no model is asked twice. Runs of the same task share replies, so a lock lets one at a time run.

    Args:
        study: The study.
        store: The store of the queue.
        load: Loads a model by its specification.

    Raises:
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded.
    """

    def __init__(
        self, study: QueuedStudy, store: Store, load: Callable[[str], BaseChatModel] = load_model
    ) -> None:
        replies = StoredReplies(store.saver, study.spec.name)
        self._runner = ModelRunner(study.spec, replies, load, study.space.escalations)
        self._study, self._store = study, store
        self._running: dict[str, LangGraphOrchestrator] = {}

    async def arun_once(self, _task: str, thread_id: str, /) -> OrchestratorState:
        """Executes a run that has not ended, or that failed for a reason apart from its policy.

        Raises:
            ThreadBusyError: Another run of the task is under way.
            ConfigurationError: The study has no such run.
        """
        case, policy = self._study.find_run(thread_id)
        replies = f"replies-{build_digest(self._study.spec.name, case.title)}"
        async with lock_thread(self._store.saver, replies, wait=True):
            ended = await asyncio.to_thread(find_measured, self._store, thread_id)
            if ended is not None:
                return ended
            orchestrator = self._runner.build(case, policy, self._store)
            self._running[thread_id] = orchestrator
            try:
                return await orchestrator.arun(case.task, thread_id, replace=True)
            finally:
                self._running.pop(thread_id)

    async def acancel(self, thread_id: str, reason: str, /) -> None:
        """Ends a run as failed; a later search executes it."""
        running = self._running.get(thread_id)
        stored = running or self._runner.build(*self._study.find_run(thread_id), self._store)
        await stored.acancel(thread_id, reason)

    def interrupt(self) -> None:
        """Stops all runs at once."""
        for orchestrator in [*self._running.values()]:
            orchestrator.interrupt()


def find_measured(store: Store, thread_id: str) -> OrchestratorState | None:
    """Returns the last state of a run that says something about its policy, or None.

    Raises:
        StoreError: The store cannot be read.
    """
    run = store.history.find(thread_id)
    if run is None or run.status not in ENDED:
        return None
    state = store.history.show(thread_id).state
    return state if has_verdict(state) else None


@dataclass(frozen=True, slots=True)
class QueuedRunner:
    """Runs the tasks of a trial over the workers of a queue at once; a ``TrialRunner``.

    The name of a run follows from the study, so a search that was interrupted goes on: what is queued stays
    queued, and a run that has ended is not executed again.

    Attributes:
        queue: The queue.
        study: The study, which the workers have, too.
    """

    queue: JobQueue
    study: QueuedStudy

    def run_all(self, cases: Sequence[TaskCase], policy: RetryPolicy) -> list[MeasuredRun]:
        """Runs each task once under a policy.

        Raises:
            BudgetSpentError: The budget of calls is spent.
            ConfigurationError: A run is queued by another search of this name with other files.
            RunFailedError: A run failed for a reason that says nothing about the policy.
            StoreError: A worker cannot execute a run, or it left the queue before it ended.
            StoreLostError: The database was lost; the same search goes on later.
        """
        runs = {self.study.name_run(case, policy): case for case in cases}
        states = {thread_id: find_measured(self.queue.store, thread_id) for thread_id in runs}
        missing = {thread_id: case for thread_id, case in runs.items() if states[thread_id] is None}
        queue, app = self.queue.name, self.study.app
        jobs = [
            QueuedJob(queue=queue, app=app, task=case.task, thread_id=thread_id)
            for thread_id, case in missing.items()
        ]
        for job in jobs:  # before one is queued: no run is taken from another search
            self.queue.find(job)
        for job in jobs:
            self.queue.engine.enqueue(job)
        states |= follow_runs(self.queue, {thread_id: case.title for thread_id, case in missing.items()})
        return [self._measure(states[thread_id], case) for thread_id, case in runs.items()]

    @staticmethod
    def _measure(state: OrchestratorState | None, case: TaskCase) -> MeasuredRun:
        if state is None or state["status"] not in ENDED:
            end = "was cancelled before it began" if state is None else "left the queue before it ended"
            raise StoreError(f"the run of {case.title!r:.80} {end}; start the search again")
        return measure_run(state, case)
