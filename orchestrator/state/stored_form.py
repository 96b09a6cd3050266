"""Whether what a thread holds has the form of a run's state: whoever stored it may have stored anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from json import JSONDecodeError
from typing import Final, NotRequired, cast

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from evaluation.results.alerts import Alert
from evaluation.results.findings import MetricOutcome
from orchestrator.errors import BrokenRunError
from orchestrator.state.graph_state import OrchestratorState

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


class _Group(TypedDict):
    checks: NotRequired[list[MetricOutcome]]


class _Report(TypedDict):
    """What is read of a report without looking whether it is there."""

    status: str
    alerts: NotRequired[list[Alert]]
    metrics: NotRequired[dict[str, _Group]]


def checked_state(thread_id: str, values: Mapping[str, object]) -> OrchestratorState:
    """The state of a run.

    Args:
        thread_id: Names it in the error.
        values: All of its fields.

    Raises:
        BrokenRunError: A field has another form, or does not agree with the others.
    """
    with _form_of(thread_id):
        _state_form().validate_python(values, strict=True)
        state = cast("OrchestratorState", values)
        _report_form().validate_python([record["report"] for record in state["results"]], strict=True)
    if problem := _problem(state):
        raise _broken(thread_id, problem)
    return state


@contextmanager
def reading(thread_id: str) -> Iterator[None]:
    """Take values that cannot be put together as broken: LangGraph and our reducers rely on their form.

    Raises:
        BrokenRunError: In place of what they raise.
    """
    try:
        yield
    except (AttributeError, LookupError, TypeError, JSONDecodeError, UnicodeDecodeError) as error:
        raise _broken(thread_id, f"{type(error).__name__}: {error}") from error


@contextmanager
def _form_of(thread_id: str) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise _broken(thread_id, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _problem(state: OrchestratorState) -> str | None:
    """What does not agree with the rest."""
    return next((problem for check in (_places, _declared, _times) for problem in check(state)), None)


def _places(state: OrchestratorState) -> Iterator[str]:
    """A step that runs beside others has a plan of its own, and its place in the whole one."""
    index, steps = state["current_step_index"], len(state["plan"])
    last = steps - (state["status"] == "executing")
    if state["underway"]["branch"] is None and not 0 <= index <= last:
        yield f"current_step_index: {index} in a plan of {steps}"


def _declared(state: OrchestratorState) -> Iterator[str]:
    declared, steps = state["declared"], len(state["plan"])
    by_step = {"needs": declared["needs"], "contracts": declared["contracts"], "modes": declared["modes"]}
    for name, values in by_step.items():
        if values is not None and len(values) != steps:
            yield f"declared.{name}: {len(values)} for a plan of {steps}"
    if any(not 0 <= one < steps for needed in declared["needs"] or () for one in needed):
        yield f"declared.needs: a step that is not in a plan of {steps}"


def _times(state: OrchestratorState) -> Iterator[str]:
    for at, record in enumerate(state["results"]):
        if moment(record["started_at"]) is None:
            yield f"results.{at}.started_at: no time"
    question = state["question"]
    if question is not None and question["deadline"] is not None and moment(question["deadline"]) is None:
        yield "question.deadline: no time"


def _broken(thread_id: str, problem: str) -> BrokenRunError:
    return BrokenRunError(
        f"thread {thread_id!r:.80} holds a state that is broken ({problem:.200}); "
        "restore it, or delete the run"
    )


@cache
def _state_form() -> TypeAdapter[OrchestratorState]:
    return TypeAdapter(OrchestratorState)


@cache
def _report_form() -> TypeAdapter[list[_Report | None]]:
    return TypeAdapter(list[_Report | None])
