"""State histories of LangGraph: snapshots, the newest first, whose values have messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from evaluation.importers.imported_message import UnknownFormatError, read_list, read_run_error
from evaluation.recordings.formats.conversations import ConversationFormat, find_messages
from evaluation.recordings.recorded_run import RecordedRun, list_ignored
from evaluation.values import JsonObject, as_object

_READ: Final = frozenset(
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
        ignored = list_ignored(snapshot, _READ, "the snapshot")
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
