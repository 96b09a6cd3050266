"""Lets the workers of a queue execute the cases of ``orchestrator evaluate``."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import typer

from orchestrator.cli.evaluate_options import EvaluateOptions
from orchestrator.errors import ConfigurationError
from orchestrator.experiments.case_runs import Job
from orchestrator.queue import JobQueue, open_queue
from orchestrator.queue.queued_cases import QueuedCases


@contextmanager
def open_cases_queue(options: EvaluateOptions) -> Iterator[JobQueue]:
    """Opens the queue of a command.

    Raises:
        ConfigurationError: An option is missing, or cannot be used with a queue.
        StoreError: The database cannot be reached, or has no queue.
    """
    if options.db is None or options.queue is None:
        raise ConfigurationError("--queue needs the database of the queue; give --db postgresql://...")
    if options.calls_per_second is not None:
        raise ConfigurationError(
            "--calls-per-second limits this process, and the workers call the models; leave it out, and "
            "start the workers with --limit"
        )
    with open_queue(options.db, options.queue) as queue:
        yield queue


def queue_cases(
    queue: JobQueue, options: EvaluateOptions, target: str | None
) -> Callable[[Sequence[Job]], Iterator[Job]]:
    """Returns what queues cases, and yields each with its run when it has ended.

    Raises:
        ConfigurationError: No target is given.
    """
    if target is None:
        raise ConfigurationError("--queue needs what the workers execute; give --target MODULE:FUNCTION")
    name = options.evaluation or uuid.uuid4().hex[:8]
    typer.echo(f"evaluation {name} in queue {queue.name}; --evaluation {name} continues it", err=True)
    return QueuedCases(queue, target, name).execute
