"""Reducers: how updates of nodes change the fields of the state. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from orchestrator.state.records import StepRecord

T = TypeVar("T")


def merge_records(current: Sequence[StepRecord], new: Sequence[StepRecord]) -> list[StepRecord]:
    """Reducer of ``results``: inserts records, and replaces records of the same step and attempt.

    The records are in the order of the plan; the records of a step are in the order of its executions.
    """
    records = {(record["step_index"], record["attempt"]): record for record in (*current, *new)}
    return [records[key] for key in sorted(records)]


def merge_record_lists(
    current: Sequence[StepRecord], writes: Sequence[Sequence[StepRecord]]
) -> list[StepRecord]:
    """``merge_records`` for several updates in their order."""
    return merge_records(current, [record for write in writes for record in write])


def append_entries(context: str, entries: Sequence[str]) -> str:
    """Reducer of ``context``: adds the entries at the end."""
    return "\n\n".join(part for part in (context, *entries) if part)


def append_items(items: Sequence[str], writes: Sequence[Sequence[str]]) -> list[str]:
    """Reducer of ``warnings``: adds the items at the end."""
    return [*items, *(item for write in writes for item in write)]


def replace_value(_: T, writes: Sequence[T]) -> T:
    """Reducer of fields that are replaced: the latest value."""
    return writes[-1]
