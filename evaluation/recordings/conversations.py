"""Conversations: messages of OpenAI, Anthropic, Gemini and LangChain, also in the states of LangGraph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evaluation.inputs.messages import run_from_messages
from evaluation.recordings.recorded_run import RecordedRun, list_ignored
from evaluation.values import JsonObject, as_list, as_object

_KEYS: Final = ("messages", "traj", "contents", "input_messages")
"""Fields that have the messages of a conversation."""
_MARKS: Final = frozenset({"role", "type", "parts", "lc"})
"""A message has at least one of these fields."""


def are_messages(value: object) -> bool:
    """Returns whether a value is a list of objects that look like messages."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and bool(_MARKS & item.keys()) for item in value)
    )


class ConversationFormat:
    """A list of messages, or an object that has one."""

    name = "list of messages"

    def recognises(self, value: object) -> bool:
        """Returns whether the value is a list of messages, or has one."""
        return are_messages(value) or _find_key(value) is not None

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields one run; raises as ``run_from_messages`` does."""
        key = _find_key(value)
        if key is None:
            yield RecordedRun({"agent_run": run_from_messages(as_list(value))})
            return
        named = value.get("id") or value.get("thread_id")
        name = {"case_id": named} if isinstance(named, str) else {}
        warnings = list_ignored(value, frozenset({key, "id", "thread_id", "object"}), "the conversation")
        yield RecordedRun({**name, "agent_run": run_from_messages(as_list(value[key]))}, warnings)


class ResponseFormat:
    """A response of OpenAI's Responses API: ``output`` items, and ``input`` if it was recorded."""

    name = "OpenAI response"

    def recognises(self, value: object) -> bool:
        """Returns whether the value is an object with a list of output items."""
        return (
            isinstance(value, dict)
            and value.get("object") == "response"
            and are_messages(value.get("output"))
        )

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields one run; raises as ``run_from_messages`` does."""
        given = value.get("input")
        asked = [{"role": "user", "content": given}] if isinstance(given, str) else as_list(given)
        run = run_from_messages([*asked, *as_list(value["output"])])
        error = as_object(value.get("error")).get("message")
        failed = {"error": error} if isinstance(error, str) else {}
        yield RecordedRun({"case_id": value.get("id"), "agent_run": {**run, **_read_usage(value), **failed}})


class HistoryFormat:
    """The history of a LangGraph thread: snapshots, the newest first, whose values have messages."""

    name = "LangGraph state history"

    def recognises(self, value: object) -> bool:
        """Returns whether the value is a snapshot, or a list of snapshots."""
        first = value[0] if isinstance(value, list) and value else value
        return isinstance(first, dict) and _find_key(first.get("values")) is not None

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields the run of the newest snapshot; raises as ``run_from_messages`` does."""
        given: object = value
        snapshot = as_object(given[0] if isinstance(given, list) else given)
        values = as_object(snapshot["values"])
        waiting = [f"the thread has not ended: next is {snapshot['next']}"] if snapshot.get("next") else []
        for run in ConversationFormat().read(values):
            yield RecordedRun(run.case, (*run.warnings, *waiting))


class TauBenchFormat:
    """A result: ``task_id``, ``trial``, ``reward`` and ``traj``."""

    name = "tau-bench result"

    def recognises(self, value: object) -> bool:
        """Returns whether the value is a result."""
        return isinstance(value, dict) and {"task_id", "reward", "traj"} <= value.keys()

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields the run; raises as ``run_from_messages`` does."""
        run = run_from_messages(as_list(value["traj"]), failed=lambda answer: answer.startswith("Error"))
        name = f"task {value['task_id']}, trial {value.get('trial', 0)}"
        yield RecordedRun({"case_id": name, "agent_run": run})


def _find_key(value: object) -> str | None:
    if not isinstance(value, Mapping):
        return None
    return next((key for key in _KEYS if are_messages(value.get(key))), None)


def _read_usage(value: JsonObject) -> JsonObject:
    total = as_object(value.get("usage")).get("total_tokens")
    return {"total_tokens": total} if isinstance(total, int) else {}
