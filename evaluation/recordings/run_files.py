"""Reads the recorded runs of a file by its content: one JSON document, or JSON Lines as a stream.

Of a folder, it reads all files, trials of Harbor, and events of OpenHands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias
from zipfile import BadZipFile

from evaluation.contract.intake import UnreadableCase
from evaluation.contract.run import run_from_state
from evaluation.errors import ContractError
from evaluation.recordings.default_contract import hold_own_audit
from evaluation.recordings.formats import (
    conversations,
    model_exchange,
    otel_spans,
)
from evaluation.recordings.record_format import HEAD, RecordFormat
from evaluation.recordings.recorded_run import RecordedRun, RunFormat
from evaluation.sensitive.scanner import shorten
from evaluation.validation import parse_json
from evaluation.values import JsonObject, as_object


def _read_case(value: JsonObject) -> Iterator[RecordedRun]:
    yield RecordedRun(value)


def _read_state(value: JsonObject) -> Iterator[RecordedRun]:
    yield RecordedRun({"agent_run": run_from_state(value)})


_RECORDS: Final = tuple(map(RecordFormat.load, (
    "inspect", "tau2", "toolbench", "claude_code", "codex", "codex_items", "codex_exec", "gemini_cli", "pi",
    "who_and_when", "named_agents", "swe_agent", "mini_swe_agent", "openhands", "autogen", "agents_sdk",
    "pydantic_ai", "adk_session", "adk_evalset", "adk_test", "atif",
)))  # fmt: skip
"""The formats whose files list records: the lines of a session are one value, too."""
_FORMATS: Final[Sequence[RunFormat]] = (
    RunFormat("case with agent_run", _read_case, (frozenset({"agent_run"}),)),
    *_RECORDS,
    # The state alone, or in the document of ``orchestrator show --json``.
    RunFormat(
        "state of a run of plan-execute-monitor",
        _read_state,
        (frozenset({"plan", "results", "status"}), frozenset({"thread_id", "state"})),
    ),
    otel_spans.SPANS,
    conversations.TAU_BENCH,
    model_exchange.EXCHANGE,
    conversations.HISTORY,
    conversations.CONVERSATION,
)
"""The first format that recognises a value reads it."""
ReadRun: TypeAlias = RecordedRun | UnreadableCase


class UnknownFormat(UnreadableCase):
    """Stands for a value that is in no known format, and has no messages anywhere."""


def read_runs(path: str | Path, name: str = "") -> Iterator[ReadRun]:
    """Yield the recorded runs of a file, in its order.

    Args:
        path: A file in UTF-8: JSON Lines with a run in each line, read while the runs are taken; a JSON
            document with a run or a list of runs; or the messages of one conversation, as a list or one in
            each line; or a log of Inspect in a zip. The format of each value is found by its fields.
        name: The name of the file in messages. Default: its own.

    Returns:
        The runs; one without a name is named after its place: ``runs.jsonl:7`` is the seventh line. What
        cannot be read is an ``UnreadableCase`` with the reason, and the others are read.

    Raises:
        OSError: The file cannot be read; raised when the first run is taken.
    """
    file = Path(path)
    place = name or file.name
    with file.open("rb") as stream:
        is_zip = stream.read(len(_ZIP)) == _ZIP
        stream.seek(0)
        yield from _read_zip(file, place) if is_zip else _read_stream(stream, place)


def _read_zip(file: Path, name: str) -> Iterator[ReadRun]:
    """Yields the runs of the log in a zip, as Inspect writes it in JSON."""
    try:
        logs = import_module("inspect_ai.log")
        log: object = logs.read_eval_log(str(file)).model_dump(mode="json", exclude_none=True)
    except ModuleNotFoundError:
        needed = "inspect_ai: install it, or run `inspect log convert --to json`; unpack any other zip"
        yield UnreadableCase(name, f"a zip is read as a log of Inspect, which needs {needed}")
    except (ValueError, KeyError, OSError, NotImplementedError, BadZipFile) as error:
        told = shorten(str(error), 200)
        yield UnreadableCase(name, f"this zip is no whole log of Inspect ({told}); unpack any other zip")
    else:
        yield from _read_values([(name, log)], name)


def read_cases(path: str | Path) -> Iterator[Any]:
    """Yield the cases of a file, for ``evaluate_many``, as ``read_runs`` reads them.

    Each has the audit of every recorded run, as for ``orchestrator evaluate``. What cannot be read leads to a
    report with status ``invalid`` that names the place.
    """
    return (hold_own_audit(run.case)[0] if isinstance(run, RecordedRun) else run for run in read_runs(path))


def _read_stream(stream: BinaryIO, name: str) -> Iterator[ReadRun]:
    numbered = ((number, line) for number, line in enumerate(stream, 1) if line.strip())
    head = [*islice(numbered, 2)]
    if not head:
        yield UnreadableCase(name, "the file is empty")
        return
    value = _parse(head[0][1], name)
    # A document of several lines has a part of a value in its first one; so may JSON Lines, by mistake.
    if not head[1:] or (isinstance(value, UnreadableCase) and not _is_whole_line(head[1][1])):
        yield from _read_document(b"".join(line for _, line in chain(head, numbered)), name)
        return
    head += islice(numbered, HEAD)
    rest = chain(head, numbered)
    if _find_format(value) is None and _is_session([value, *(_parse(line, name) for _, line in head[1:])]):
        yield from _read_session(rest, name)
        return
    places = ((f"{name}:{number}", line) for number, line in rest)
    yield from _read_values(((where, _parse(line, where)) for where, line in places), name)


def _is_session(values: list[object]) -> bool:
    """Returns whether lines are the messages or the records of one run."""
    return conversations.are_messages(values[:1]) or any(each.recognises(values) for each in _RECORDS)


def _read_session(lines: Iterable[tuple[int, bytes]], name: str) -> Iterator[ReadRun]:
    values: list[object] = []
    broken: list[UnreadableCase] = []
    cut: tuple[str, ...] = ()
    for number, line in lines:
        value = _parse(line, f"{name}:{number}")
        if not isinstance(value, UnreadableCase):
            values.append(value)
        elif line.endswith(b"\n"):
            broken.append(value)
        else:
            cut = (f"{value.where}: the last line is cut, as in a file that is still being written",)
    if broken:
        # A run that lacks a line within may lack the call, or the error, that decides about it.
        yield from broken
        return
    for run in _read_values([(name, values)], name):
        yield replace(run, warnings=(*run.warnings, *cut)) if isinstance(run, RecordedRun) else run
        cut = ()


def _is_whole_line(line: bytes) -> bool:
    return line.lstrip().startswith(b"{") and not isinstance(_parse(line), UnreadableCase)


def _read_document(data: bytes, name: str) -> Iterator[ReadRun]:
    value = _parse(data, name)
    if not isinstance(value, list) or _find_format(value) is not None:
        yield from _read_values([(name, value)], name)
        return
    if not value:
        yield UnreadableCase(name, "the list is empty")
    yield from _read_values(((f"{name}[{index}]", item) for index, item in enumerate(value)), name)


def _read_values(values: Iterable[tuple[str, object]], name: str) -> Iterator[ReadRun]:
    """Yields the runs of the values of a file; runs of a format that joins values come last."""
    joined: dict[RunFormat, list[object]] = {}
    for where, value in values:
        found = _find_format(value)
        if isinstance(value, UnreadableCase):
            yield value
        elif found is None:
            yield _describe_unknown(value, where)
        elif found.joins:
            joined.setdefault(found, []).append(value)
        else:
            yield from _read_as(found, value, where)
    for each, parts in joined.items():
        yield from _read_as(each, parts, name)


def _describe_unknown(value: object, where: str) -> UnreadableCase:
    """Returns why a value of a file is not read: it is in no known format."""
    keys = ", ".join(sorted(value)[:8]) if isinstance(value, dict) else ""
    looked = "; ".join(each.name for each in _FORMATS)
    what = f"no known format has these fields: {keys}" if keys else "it has no fields of a known format"
    nested = conversations.find_nested(value, _RECORDS)
    hint = f"the messages are under {nested[0]} ({len(nested)} such lists); " if nested else ""
    empty = (name for name, each in as_object(value).items() if each == [])
    hint += "".join(f"the list {name} is empty; " for name in empty)
    kind = UnreadableCase if nested else UnknownFormat
    return kind(where, f"{what}; {hint}known are: {looked}")


def _read_as(found: RunFormat, value: object, where: str) -> Iterator[ReadRun]:
    try:
        runs = [*found.read(value)]
    except ContractError as error:
        yield UnreadableCase(where, f"this {found.name} cannot be read: {error}")
        return
    for number, run in enumerate(runs, 1):
        place = where if len(runs) == 1 else f"{where}#{number}"
        name = run.case.get("case_id") or place
        warnings = tuple(f"{place}: {text}" for text in run.warnings)
        yield replace(run, case={**run.case, "case_id": name}, warnings=warnings, source=as_object(value))
    if not runs:
        yield UnreadableCase(where, f"this {found.name} has no run of an agent")


def _find_format(value: object) -> RunFormat | None:
    return next((each for each in _FORMATS if each.recognises(value)), None)


def _parse(data: bytes, where: str = "") -> object:
    try:
        return parse_json(data)
    except ValueError as error:
        return UnreadableCase(where, str(error))


_ZIP: Final = b"PK\x03\x04"
"""The first bytes of a zip, such as a log of Inspect."""


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
    results = {file.parent: as_object(_parse(file.read_bytes())) for file in files if file.name in _OF_TRIAL}
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


def _read_events(files: Sequence[Path], name: str) -> Iterator[ReadRun]:
    ordered = sorted(files, key=lambda each: int(_EVENT.sub(r"\1", each.name)))
    events = [_parse(file.read_bytes(), f"{name}/{file.name}") for file in ordered]
    # Without one of its events, the run is not whole.
    broken = (each for each in events if isinstance(each, UnreadableCase))
    yield from _read_values([(name, next(broken, events))], name)


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
        ended = {"messages": [], "error": "the trial has no trajectory", **error}
        yield RecordedRun({**name, "agent_run": ended})
    for number, run in enumerate(read):
        yield run if isinstance(run, UnreadableCase) or number else _name_run(run, name, error)


def _name_run(run: RecordedRun, name: Mapping[str, str], error: Mapping[str, str]) -> RecordedRun:
    return replace(run, case={**run.case, **name, "agent_run": {**as_object(run.case["agent_run"]), **error}})
