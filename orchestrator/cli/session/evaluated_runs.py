"""Finds the runs that ``orchestrator evaluate`` evaluates: in files and in the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain
from pathlib import Path

from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import ReadRun, StateFormat, read_runs
from evaluation.values import as_object
from orchestrator.cli.session.stored_options import open_store
from orchestrator.cli.view.consoles import one_line
from orchestrator.errors import ConfigurationError


@contextmanager
def open_runs(files: Sequence[Path], threads: Sequence[str], db: str | None) -> Iterator[Iterator[ReadRun]]:
    """Yields the runs of the files, and then the stored ones.

    Raises:
        ConfigurationError: A file cannot be read.
        StoreError: There is no store, or no such run.
    """
    if missing := [file for file in files if not file.is_file()]:
        raise ConfigurationError(f"{one_line(str(missing[0]))} is no file; give files of recorded runs")
    recorded = chain.from_iterable(map(read_runs, files))
    with open_store(db) if threads else nullcontext() as store:
        states = [] if store is None else [(each, store.history.show(each).state) for each in threads]
        stored = (
            RecordedRun({"case_id": thread, **run.case})
            for thread, state in states
            for run in StateFormat().read(as_object(state))
        )
        yield chain(recorded, stored)
