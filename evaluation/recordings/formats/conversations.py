"""Conversations as a list or in a field, also of snapshots of LangGraph and of results of tau-bench."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from evaluation.importers.imported_message import UnknownFormatError, read_list, read_run_error
from evaluation.recordings.recorded_run import RecordedRun, list_ignored, read_message_run
from evaluation.values import JsonObject, as_list, as_object

_KEYS: Final = ("messages", "traj", "contents", "input_messages")
"""Fields that have the messages of a conversation."""
_MARKS: Final = frozenset({"role", "type", "parts", "lc"})
"""A message has at least one of these fields."""
_READ: Final = frozenset({"id", "thread_id", "object", "error"})


def are_messages(value: object) -> bool:
    """Returns whether a value is a list of objects that look like messages."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and bool(_MARKS & item.keys()) for item in value)
    )


def find_messages(value: object) -> str | None:
    """Returns the field of an object that has messages; None if there is none."""
    if not isinstance(value, Mapping):
        return None
    return next((key for key in _KEYS if are_messages(value.get(key))), None)


class ConversationFormat:
    """A list of messages, or an object that has one."""

    name = "list of messages"

    def recognises(self, value: object) -> bool:
        """Returns whether the value is a list of messages, or has one."""
        return are_messages(value) or find_messages(value) is not None

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields one run; raises as ``run_from_messages`` does."""
        key = find_messages(value)
        if key is None:
            yield read_message_run(as_list(value))
            return
        ignored = list_ignored(value, _READ | {key}, "the conversation")
        name = value.get("id") or value.get("thread_id")
        yield read_message_run(as_list(value[key]), name, read_run_error(value), ignored)


_READ_OF_SNAPSHOTS: Final = frozenset(
    {"values", "next", "tasks", "config", "parent_config", "metadata", "created_at", "error"}
)
_ERROR: Final = 3
"""Index of the error of a task."""


class HistoryFormat:
    """The history of a thread, or one snapshot of it."""

    name = "LangGraph state history"

    def recognises(self, value: object) -> bool:
        """Returns whether the value is a snapshot, or a list of snapshots."""
        first = value[0] if isinstance(value, list) and value else value
        return isinstance(first, dict) and find_messages(first.get("values")) is not None

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields the run of the newest snapshot; raises as ``run_from_messages`` does."""
        given: object = value
        snapshot = as_object(given[0] if isinstance(given, list) else given)
        tasks = [_open_task(task) for task in read_list(snapshot, "tasks", "the snapshot")]
        errors = [error for each in (*tasks, snapshot) if (error := read_run_error(each))]
        waiting = [f"the thread has not ended: next is {snapshot['next']}"] if snapshot.get("next") else []
        ignored = list_ignored(snapshot, _READ_OF_SNAPSHOTS, "the snapshot")
        thread = as_object(as_object(snapshot.get("config")).get("configurable")).get("thread_id")
        named = {"case_id": thread} if isinstance(thread, str) else {}
        for run in ConversationFormat().read(as_object(snapshot["values"])):
            recorded = {**as_object(run.case["agent_run"]), **(errors[0] if errors else {})}
            case = {**named, **run.case, "agent_run": recorded}
            yield replace(run, case=case, warnings=(*run.warnings, *ignored, *waiting))


def _open_task(task: object) -> JsonObject:
    # JSON writes LangGraph's named tuple as a list: id, name, path, error.
    if isinstance(task, list) and len(task) > _ERROR:
        return {"error": task[_ERROR]}
    if not isinstance(task, dict) or "name" not in task:
        raise UnknownFormatError("the snapshot has a task without a name")
    return task


_READ_OF_RESULTS: Final = frozenset({"task_id", "trial", "reward", "traj", "error"})


class TauBenchFormat:
    """A run of a task, with the reward that the benchmark gave it."""

    name = "tau-bench result"

    def recognises(self, value: object) -> bool:
        """Returns whether the value is a result."""
        return isinstance(value, dict) and {"task_id", "reward", "traj"} <= value.keys()

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields the run; raises as ``run_from_messages`` does."""
        run = read_message_run(
            read_list(value, "traj", "the result"),
            f"task {value['task_id']}",
            read_run_error(value),
            warnings=list_ignored(value, _READ_OF_RESULTS, "the result"),
            failed=lambda answer: answer.startswith("Error"),
        )
        trial, reward = value.get("trial"), value["reward"]
        if not isinstance(trial, int | None) or not isinstance(reward, int | float | None):
            raise UnknownFormatError("the result has a trial or a reward that is no number")
        yield replace(run, trial=trial or 0, score=reward)
