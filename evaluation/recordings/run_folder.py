"""Reads the recorded runs of a folder: all files in it, trials of Harbor, and events of OpenHands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from evaluation.contract.intake import UnreadableCase
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import ReadRun, UnknownFormat, read_runs, read_value
from evaluation.validation import parse_json
from evaluation.values import JsonObject, as_object

_SUFFIXES: Final = frozenset({".json", ".jsonl", ".ndjson", ".traj", ".eval"})
_EVENT: Final = re.compile(r"(?:event-)?(\d+)(?:-[\w-]+)?\.json")
"""Matches the name of a file in a folder ``events`` that holds one event of OpenHands."""
_OF_TRIAL: Final = ("config.json", "result.json")


def read_folder(folder: Path) -> Iterator[ReadRun]:
    """Yields the runs of the files below a folder whose names end as a run's, by their paths.

    The runs of a trial of Harbor are its trajectory, and have the name of the task and the exception of the
    trial. A folder with one event of OpenHands in each file is a run. A file in no known format is an
    ``UnknownFormat``.

    Raises:
        OSError: A file cannot be read; raised when its first run is taken.
    """
    files = [
        file for file in sorted(folder.rglob("*")) if _is_wanted(file.relative_to(folder)) and file.is_file()
    ]
    # A trial that was killed has no result; its configuration, which comes first, names it, too.
    results = {file.parent: _read_result(file) for file in files if file.name in _OF_TRIAL}
    trials = {place: result for place, result in results.items() if "trial_name" in result}
    single = {file for file in files if file.parent.name == "events" and _EVENT.fullmatch(file.name)}
    inner = {next((each for each in file.parents if each in trials), file) for file in files}
    for place in sorted({each.parent if each in single else each for each in inner}):
        name = str(place.relative_to(folder))
        if place in trials:
            yield from _read_trial(place, trials[place], files)
        elif place.is_dir():
            yield from _read_events([file for file in single if file.parent == place], name)
        else:
            yield from read_runs(place, name)


def _is_wanted(path: Path) -> bool:
    return path.suffix.lower() in _SUFFIXES and not any(part.startswith(".") for part in path.parts)


def _read_result(file: Path) -> JsonObject:
    try:
        return as_object(parse_json(file.read_bytes()))
    except ValueError:  # told when the file is read as a run
        return {}


def _read_events(files: Sequence[Path], name: str) -> Iterator[ReadRun]:
    events: list[object] = []
    for file in sorted(files, key=lambda each: int(_EVENT.sub(r"\1", each.name))):
        try:
            events.append(parse_json(file.read_bytes()))
        except ValueError as error:  # without one of its events, the run is not whole
            yield UnreadableCase(f"{name}/{file.name}", str(error))
            return
    yield from read_value(events, name)


def _read_trial(trial: Path, result: JsonObject, files: Sequence[Path]) -> Iterator[ReadRun]:
    logs = [file for file in files if trial in file.parents and "agent" in file.relative_to(trial).parts[:-1]]
    chosen = [file for file in logs if file.name == "trajectory.json"] or logs
    raised = as_object(result.get("exception_info"))
    error = {"error": f"{raised.get('exception_type')}: {raised.get('exception_message')}"} if raised else {}
    name = {"case_id": str(result.get("task_name") or trial.name)}
    read = [run for file in chosen for run in read_runs(file, f"{trial.name}/{file.name}")]
    # A trajectory that is there and cannot be read says nothing about how the trial ended.
    is_broken = any(not isinstance(run, RecordedRun | UnknownFormat) for run in read)
    if not any(isinstance(run, RecordedRun) for run in read) and (raised or not is_broken):
        yield RecordedRun(
            {**name, "agent_run": {"messages": [], "error": "the trial has no trajectory", **error}}
        )
    for number, run in enumerate(read):
        yield run if isinstance(run, UnreadableCase) or number else _name_run(run, name, error)


def _name_run(run: RecordedRun, name: Mapping[str, str], error: Mapping[str, str]) -> RecordedRun:
    return replace(run, case={**run.case, **name, "agent_run": {**as_object(run.case["agent_run"]), **error}})
