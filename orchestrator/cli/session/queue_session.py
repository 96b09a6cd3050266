"""Runs a worker of a queue, creates its tables, and lets its workers execute cases and searches."""

from __future__ import annotations

import shlex
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import typer

from agents.sync import run_loop
from orchestrator.cli.process_exit import explain_interruption, stop_on_signal
from orchestrator.cli.view.consoles import one_line
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError
from orchestrator.limits import read_limits, share_limits
from orchestrator.queue import JobQueue, open_queue
from orchestrator.queue.job_queue import check_queue_name, open_engine
from orchestrator.queue.queue_apps import import_orchestrator
from orchestrator.queue.queue_worker import QueueWorker
from orchestrator.queue.queued_cases import QueuedCases
from orchestrator.queue.queued_study import QueuedRunner, QueuedStudy, StudyApp
from orchestrator.tuning.tune_spec import TuneSpec, read_spec

_INTERRUPTED: Final = (
    "interrupted; the workers go on with the queued runs: the same command with --evaluation NAME, which is "
    "printed above, waits for them, and `orchestrator queue --cancel ID` ends one"
)


def run_worker(
    db: str | None,
    queue: str,
    apps: Sequence[str] | None,
    specs: Sequence[str] | None = None,
    limits: Sequence[str] | None = None,
    *,
    concurrency: int,
    heartbeat_s: float,
    grace_s: float,
) -> None:
    """Executes the jobs of a queue, also the runs of searches, by the files of their specifications.

    The other arguments are those of ``QueueWorker`` and ``share_limits``.

    Raises:
        ConfigurationError: An argument is not accepted.
        ModelSetupError: The model of a search cannot be loaded.
        ModelSpecError: A limit is not accepted, or a search names no model.
        StoreError: The database cannot be reached.
        StoreLostError: The connection was lost.
    """
    check_queue_name(queue)
    read = read_limits(limits or ())
    if not apps and not specs:
        raise ConfigurationError("a worker needs what it executes; give --app MODULE:FUNCTION or --tune SPEC")
    studies = [QueuedStudy(read_spec(path)) for path in specs or ()]
    with open_engine(db) as (store, engine):
        built: dict[str, LangGraphOrchestrator | StudyApp] = {
            study.app: StudyApp(study, store) for study in studies
        }
        built |= {app: import_orchestrator(app, store) for app in apps or ()}
        engine.install()  # after everything is built: bad input leaves no tables
        worker = QueueWorker(store, engine, queue, built, concurrency, heartbeat_s, grace_s, _report)
        with share_limits(store, read), stop_on_signal(worker.stop):
            _report(f"worker of {queue} on {store.where}, for {', '.join(built)}, until SIGTERM or Ctrl-C")
            run_loop(worker.run)


def install_queue(db: str | None) -> None:
    """Creates the tables of the store and its queues, or brings them up to date.

    Raises:
        ConfigurationError: It is no PostgreSQL.
        StoreError: The database cannot be reached.
    """
    with open_engine(db) as (_, engine):
        engine.install()


def cancel_job(queue: JobQueue, thread_id: str) -> None:
    """Cancels the run of a job, and says so.

    Raises:
        ConfigurationError: No queue has a job of this run.
    """
    if not queue.cancel(thread_id):
        run = queue.store.history.find(thread_id)
        state = "no run of this name is stored" if run is None else f"the run is stored as {run.status}"
        raise ConfigurationError(
            f"--cancel {thread_id!r:.80} has no job in any queue ({state}); give the name of a run that is "
            "queued or being executed"
        )
    _report(f"cancelled: {thread_id}")


@contextmanager
def open_cases_queue(
    db: str | None, name: str, calls_per_second: float | None, concurrency: int
) -> Iterator[JobQueue]:
    """Opens the queue of a command that lets its workers execute cases.

    Raises:
        ConfigurationError: An option is missing, or cannot be used with a queue.
        StoreError: The database cannot be reached, or has no queue.
    """
    if calls_per_second is not None:
        raise ConfigurationError(
            "--calls-per-second limits this process, and the workers call the models; leave it out, and "
            "start the workers with --limit"
        )
    if concurrency != 1:
        raise ConfigurationError(
            "--concurrency is for runs in this process, and the workers execute them; leave it out, and "
            "start the workers with --concurrency"
        )
    with open_queue(db, name) as opened, explain_interruption(_INTERRUPTED):
        yield opened


@contextmanager
def open_study_runner(spec: TuneSpec, db: str | None, queue: str | None) -> Iterator[QueuedRunner | None]:
    """Opens what lets the workers of a queue execute the runs of a search; None without a queue.

    Raises:
        ConfigurationError: An option is missing, or the specification is not accepted.
        StoreError: The database cannot be reached, or has no queue.
    """
    if queue is None:
        if db is not None:
            raise ConfigurationError("--db names the database of a queue; give --queue NAME, or leave it out")
        yield None
        return
    study = QueuedStudy(spec)
    with open_queue(db, queue) as opened:
        _report(f"{study.app} in queue {queue}; workers take its runs with --tune and the same files")
        yield QueuedRunner(opened, study)


def queue_cases(queue: JobQueue, evaluation: str | None) -> QueuedCases:
    """Returns the cases of an evaluation, and says how it is continued; None for a new name."""
    name = evaluation or uuid.uuid4().hex[:8]
    _report(f"evaluation {name} in queue {queue.name}; --evaluation {shlex.quote(name)} continues it")
    return QueuedCases(queue, name)


def _report(line: str) -> None:
    typer.echo(one_line(line), err=True)
