"""Finds the runs that ``orchestrator evaluate`` evaluates: in files and in the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from itertools import chain

from evaluation import ContractError, run_from_state
from evaluation.inputs.intake import UnreadableCase
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import ReadRun, read_runs
from orchestrator.cli.evaluate_options import EvaluateOptions
from orchestrator.cli.session.stored_options import open_store
from orchestrator.cli.view.consoles import one_line
from orchestrator.errors import ConfigurationError
from orchestrator.persistence.store import Store
from orchestrator.runs.summary import ENDED


@contextmanager
def open_runs(options: EvaluateOptions) -> Iterator[Iterator[ReadRun]]:
    """Yields the runs of the files, and then the stored ones.

    Raises:
        ConfigurationError: A file cannot be read.
        StoreError: There is no store, or no such run.
    """
    files = options.files or []
    if missing := [file for file in files if not file.is_file()]:
        raise ConfigurationError(f"{one_line(str(missing[0]))} is no file; give files of recorded runs")
    recorded = chain.from_iterable(map(read_runs, files))
    with open_store(options.db) if options.thread or options.runs else nullcontext() as store:
        if store is None:
            yield recorded
            return
        for thread in options.thread or []:
            store.history.show(thread)  # a wrong name is found before the first evaluation
        yield chain(recorded, _read_stored(store, options))


def _read_stored(store: Store, options: EvaluateOptions) -> Iterator[ReadRun]:
    threads = list(options.thread or [])
    if options.runs is not None:
        recent = store.history.runs(since=datetime.now(UTC) - options.runs)
        threads += [run.thread_id for run in recent if run.status in ENDED]
    for thread in dict.fromkeys(threads):
        try:
            run = run_from_state(store.history.show(thread).state)
        except ContractError as error:
            yield UnreadableCase(thread, str(error))
        else:
            yield RecordedRun({"case_id": thread, "agent_run": run})
