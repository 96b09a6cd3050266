"""The version of a stored run, and the errors of one that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final, cast

from evaluation.sensitive.scanner import shorten
from orchestrator.errors import BrokenRunError, OrchestratorError
from orchestrator.state.plain_values import format_one_line, format_repr

SCHEMA_VERSION: Final = 2
"""The version of the stored form. Raise it with a change that this program could not read before."""

SCHEMA: Final = "orchestrator_schema"
STARTED: Final = "orchestrator_started"


def schema_problem(thread_id: str, metadata: object) -> str | None:
    """Returns why this version cannot read a stored run, or None if it can."""
    version = cast("Mapping[str, object]", metadata or {}).get(SCHEMA)
    if version == SCHEMA_VERSION:
        return None
    return (
        f"thread {format_repr(thread_id, 80)} was stored by another version of this program (form "
        f"{format_repr(version, 40)}, this one reads {SCHEMA_VERSION}); use the version that began the run"
    )


def parse_time(value: object) -> datetime | None:
    """Parses an ISO 8601 time to UTC. Returns None if it is not a time, or has no time zone."""
    try:
        time = datetime.fromisoformat(str(value))
        return None if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@contextmanager
def convert_read_errors(thread_id: str) -> Iterator[None]:
    """Reports a thread as broken if code in the block fails on stored values.

    LangGraph and the reducers rely on the form of what they read, and a store can hold anything.

    Raises:
        BrokenRunError: In place of the errors that malformed values cause.
    """
    try:
        yield
    except OrchestratorError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise broken_run(thread_id, f"{type(error).__name__}: {format_one_line(error)}") from error


def broken_run(thread_id: str, problem: str) -> BrokenRunError:
    """Builds the error of a run that cannot be read."""
    return BrokenRunError(
        f"thread {format_repr(thread_id, 80)} holds a state that is broken ({shorten(problem, 200)}); "
        "restore it, or delete the run"
    )
