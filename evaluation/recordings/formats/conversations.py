"""Conversations as a list or in a field, also of snapshots of LangGraph and of results of tau-bench."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from evaluation.importers.imported_message import UnknownFormatError, read_list, read_run_error
from evaluation.recordings.recorded_run import RecordedRun, RunFormat, read_message_run
from evaluation.values import JsonObject, as_list, as_object

_KEYS: Final = ("messages", "traj", "contents", "input_messages")
"""Fields that have the messages of a conversation."""
_MARKS: Final = frozenset({"role", "type", "parts", "lc"})
"""A message has at least one of these fields."""
_ERROR: Final = 3
"""Index of the error of a task."""


def are_messages(value: object) -> bool:
    """Returns whether a value is a list of objects that look like messages."""
    messages = as_list(value)
    return bool(messages) and not any(_MARKS.isdisjoint(as_object(item)) for item in messages)


def find_nested(value: object, formats: Sequence[RunFormat] = ()) -> list[str]:
    """Returns the paths of the lists of messages anywhere in a value, such as ``simulations[3].messages``.

    A list in one of the ``formats`` counts, too.
    """
    found: list[str] = []
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        path, each = waiting.pop()
        is_listed = isinstance(each, list) and any(form.recognises(each) for form in formats)
        is_read = are_messages(each) and all("role" in as_object(message) for message in as_list(each))
        if is_listed or is_read:
            found.append(path or "the list itself")
        elif isinstance(each, list):
            waiting += [(f"{path}[{index}]", item) for index, item in reversed([*enumerate(each)])]
        elif isinstance(each, dict):
            waiting += [(f"{path}.{name}".lstrip("."), item) for name, item in reversed(each.items())]
    return found


def _find_messages(value: object) -> list[object]:
    """Returns the messages of a list or an object; none if it has no such list."""
    fields = [value[key] for key in _KEYS if key in value] if isinstance(value, dict) else [value]
    return next((as_list(each) for each in fields if are_messages(each)), [])


def _read_conversation(value: object) -> Iterator[RecordedRun]:
    fields = as_object(value)
    name = fields.get("id") or fields.get("thread_id")
    # An empty list beside the messages says that none was made; messages alone may lack them.
    stated: JsonObject = {"earlier_calls": []} if fields.get("tool_calls") == [] else {}
    yield read_message_run(_find_messages(value), name, {**stated, **read_run_error(fields)})


def _open_snapshot(value: object) -> JsonObject:
    """Returns the newest snapshot of a history, or the snapshot itself."""
    return as_object(value[0] if isinstance(value, list) and value else value)


def _is_history(value: object) -> bool:
    return bool(_find_messages(as_object(_open_snapshot(value).get("values"))))


def _read_history(value: object) -> Iterator[RecordedRun]:
    snapshot = _open_snapshot(value)
    tasks = [_open_task(task) for task in read_list(snapshot, "tasks", "the snapshot")]
    errors = [error for each in (*tasks, snapshot) if (error := read_run_error(each))]
    waiting = [f"the thread has not ended: next is {snapshot['next']}"] if snapshot.get("next") else []
    values = as_object(snapshot["values"])
    thread = as_object(as_object(snapshot.get("config")).get("configurable")).get("thread_id")
    fields = {**read_run_error(values), **(errors[0] if errors else {})}
    name = values.get("id") or values.get("thread_id") or thread
    yield read_message_run(_find_messages(values), name, fields, waiting)


def _open_task(task: object) -> JsonObject:
    # JSON writes LangGraph's named tuple as a list: id, name, path, error.
    if isinstance(task, list) and len(task) > _ERROR:
        return {"error": task[_ERROR]}
    if not isinstance(task, dict) or "name" not in task:
        raise UnknownFormatError("the snapshot has a task without a name")
    return task


def _read_result(value: JsonObject) -> Iterator[RecordedRun]:
    messages, name = read_list(value, "traj", "the result"), f"task {value['task_id']}"
    # A label, which a stored result keeps; it decides nothing.
    fields = {**read_run_error(value), "metadata": {"reward": value["reward"]}}
    run = read_message_run(messages, name, fields, failed=lambda answer: answer.startswith("Error"))
    if not isinstance(trial := value.get("trial"), int | None):
        raise UnknownFormatError("the result has a trial that is no number")
    yield replace(run, trial=trial or 0)


CONVERSATION: Final = RunFormat("list of messages", _read_conversation, test=_find_messages)
HISTORY: Final = RunFormat("LangGraph state history", _read_history, test=_is_history)
TAU_BENCH: Final = RunFormat("tau-bench result", _read_result, (frozenset({"task_id", "reward", "traj"}),))
