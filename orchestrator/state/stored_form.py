"""Validates a state that was read from a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Final, cast

from pydantic import AfterValidator, TypeAdapter, ValidationError

from evaluation.sensitive.scanner import shorten
from orchestrator.errors import BrokenRunError, OrchestratorError
from orchestrator.state.graph_state import OrchestratorState
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


def validate_state(thread_id: str, values: Mapping[str, object]) -> OrchestratorState:
    """Checks that stored values are the state of a run.

    Args:
        thread_id: The thread, for the error message.
        values: All fields of the state.

    Raises:
        BrokenRunError: A field is missing or has another type, or two fields contradict each other.
    """
    try:
        _state_adapter().validate_python(values, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise broken_run(thread_id, f"{place}: {first['msg']}" if place else first["msg"]) from None
    # The values and not pydantic's copy: a copy of a long run takes as long as reading it.
    return cast("OrchestratorState", values)


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


def _check_step_index(state: OrchestratorState) -> OrchestratorState:
    """Checks the one number that decides which step is executed next."""
    index, steps = state["current_step_index"], len(state["plan"])
    # Between the last of several steps and the final answer, a run has no current step.
    last = steps - (state["status"] == "executing" and steps <= 1)
    # The plan of a parallel branch holds its own step alone, and the index counts in the whole plan.
    if state["underway"]["branch"] is None and not 0 <= index <= last:
        raise ValueError(f"current_step_index: {index} in a plan of {steps}")
    return state


@cache
def _state_adapter() -> TypeAdapter[OrchestratorState]:
    return TypeAdapter(Annotated[OrchestratorState, AfterValidator(_check_step_index)])
