"""Finds the runs that ``orchestrator evaluate`` evaluates: in files and in the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from evaluation import ContractError, run_from_state
from evaluation.evalset.appended_case import append_case
from evaluation.inputs.intake import UnreadableCase
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import ReadRun, read_runs
from orchestrator.cli.evaluate_options import EvaluateOptions
from orchestrator.cli.session.stored_options import open_store
from orchestrator.cli.view.consoles import one_line
from orchestrator.errors import ConfigurationError
from orchestrator.experiments.case_of_run import build_case
from orchestrator.persistence.store import Store
from orchestrator.runs.run_selection import ENDED


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
            state = store.history.show(thread).state
            run = run_from_state(state)
        except ContractError as error:
            yield UnreadableCase(thread, str(error))
        else:
            approved_by = "a person" if state.get("basis") == "approved" else None
            yield RecordedRun({"case_id": thread, "agent_run": run}, approved_by=approved_by)


def add_runs(options: EvaluateOptions, path: Path) -> int:
    """Appends a case for each run of ``--thread`` to a file of cases, and returns their number.

    Raises:
        ConfigurationError: There is no such option.
        ContractError: A run has not ended, or the file cannot be changed.
        OSError: The file cannot be read or written.
        StoreError: There is no store, or no such run.
    """
    if not options.thread or options.files or options.runs:
        raise ConfigurationError("--add-to needs the runs to add; give --thread ID, and no files")
    with open_store(options.db) as store:
        cases = [build_case(thread, store.history.show(thread).state) for thread in options.thread]
    for case in cases:
        append_case(path, case)
    return len(cases)
