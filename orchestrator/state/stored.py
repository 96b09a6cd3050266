"""What is stored with every checkpoint beside its state: in which form that is, and when the run began."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

SCHEMA_VERSION: Final = 1
"""The form of a stored state. A change that this program could not read goes up by one."""

SCHEMA: Final = "orchestrator_schema"
STARTED: Final = "orchestrator_started"


def schema_problem(thread_id: str, metadata: Mapping[str, object]) -> str | None:
    """Why a stored run cannot be read; None where it can."""
    found = metadata.get(SCHEMA)
    if found == SCHEMA_VERSION and not isinstance(found, bool):
        return None
    if isinstance(found, int) and found > SCHEMA_VERSION:
        return (
            f"thread {thread_id!r:.80} was stored by a newer version of this program "
            f"(form {found}, this one reads {SCHEMA_VERSION}); update it"
        )
    return (
        f"thread {thread_id!r:.80} was stored in a form that this version does not read "
        f"({found!r:.40}, it reads {SCHEMA_VERSION}); use the version that began the run"
    )


def started_in(metadata: Mapping[str, object]) -> str | None:
    """When the run began, in UTC; None where that was not noted."""
    started = metadata.get(STARTED)
    return started if isinstance(started, str) and moment(started) else None


def moment(written: str) -> datetime | None:
    """The time that was written down, in UTC; None where it is none, or has no zone."""
    try:
        found = datetime.fromisoformat(written)
        return None if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
