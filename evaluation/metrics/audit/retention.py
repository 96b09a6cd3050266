"""How long the raw text of a run may be kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

from evaluation.values import JsonObject

Answer = tuple[Literal["kept", "missing_data"], str]


def retention_problem(metadata: JsonObject, days: float, now: datetime) -> Answer | None:
    """Compare the age of a run with the days that its text may be kept; None where it may.

    The end of the time allowed is ``timestamp`` plus ``days``. It is exceeded if ``now`` is later, or if
    ``retain_until``, a free label in which a recorder says how long the text will be kept, is later. Both are
    ISO 8601; without an offset, UTC.

    Returns:
        What is wrong (kept too long, or not known), and a sentence that says it.
    """
    made, until = moment_of(metadata.get("timestamp")), metadata.get("retain_until")
    if made is None:
        return (
            "missing_data",
            "metadata.timestamp is no ISO 8601 time, so that the age of the run is not known",
        )
    if until is not None and moment_of(until) is None:
        return "missing_data", "metadata.retain_until is no ISO 8601 time"
    end = _after(made, days)
    if end < (moment_of(until) or made):
        return "kept", f"the text is to be kept until {_day(until)}; {days:g} days end on {_day(end)}"
    if end < now:
        return (
            "kept",
            f"the text of {_day(made)} is still there; {days:g} days ended on {_day(end)}",
        )
    return None


def moment_of(value: object) -> datetime | None:
    """Read a time; None for what is no ISO 8601."""
    if not isinstance(value, str):
        return None
    try:
        read = datetime.fromisoformat(value)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _after(made: datetime, days: float) -> datetime:
    try:
        return made + timedelta(days=days)
    except OverflowError:  # beyond the year 9999
        return datetime.max.replace(tzinfo=UTC)


def _day(moment: object) -> str:
    read = moment if isinstance(moment, datetime) else moment_of(moment)
    return read.date().isoformat() if read else ""
