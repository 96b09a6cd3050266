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
    merged = list(current)
    for record in new:
        position = _find_position(merged, record)
        if position > 0 and _sort_key(merged[position - 1]) == _sort_key(record):
            merged[position - 1] = record
        else:
            merged.insert(position, record)
    return merged


def _sort_key(record: StepRecord) -> tuple[int, int]:
    return record["step_index"], record["attempt"]


def _find_position(records: Sequence[StepRecord], record: StepRecord) -> int:
    """Returns the position after the last record that is not later."""
    position = len(records)
    # From the end: nearly every record belongs there.
    while position and _sort_key(records[position - 1]) > _sort_key(record):
        position -= 1
    return position


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
