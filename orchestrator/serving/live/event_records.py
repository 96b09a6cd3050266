"""Events as JSON: of a live run, and rebuilt from a stored one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, cast

from evaluation.values import as_object
from orchestrator.runtime.events import Event
from orchestrator.state.evaluation_report import checks_of
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import StepRecord

_OF_STATE: Final = ("status", "output", "basis", "evidence", "failure", "question", "usage", "warnings")
"""The fields of a state that an event has; ``GET /api/runs/{thread_id}`` has them all."""
_PLACE: Final = ("step_index", "attempt")


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An event as clients get it.

    Attributes:
        name: Name of its class, such as "StepJudged".
        key: What it is about; a rebuilt event has the same key as the live one.
        text: Its fields as JSON on one line.
    """

    name: str
    key: str
    text: str


def record_event(event: Event) -> EventRecord:
    """Returns a live event as JSON."""
    values = {field.name: getattr(event, field.name) for field in fields(event)}
    return _build(type(event).__name__, values)


def rebuild_events(thread_id: str, state: OrchestratorState, *, is_stored: bool = True) -> list[EventRecord]:
    """Returns the events of a run as far as its state tells: without the calls of tools and the retries.

    Args:
        thread_id: The run.
        state: Its state.
        is_stored: Whether the state is the last one known; if not, the events after it will follow.
    """
    named: list[tuple[str, Mapping[str, object]]] = [("RunStarted", {"task": state["task"]})]
    named += _list_of_steps(state)
    if is_stored and state["question"] is not None and state["status"] == "executing":
        named.append(("RunPaused", {"question": state["question"], "state": state}))
    elif is_stored and state["status"] in ("success", "failed"):
        named.append(("RunFinished", {"status": state["status"], "state": state}))
    return [_build(name, {"thread_id": thread_id, **values}) for name, values in named]


def _list_of_steps(state: OrchestratorState) -> Iterator[tuple[str, dict[str, object]]]:
    if state["plan"]:
        yield "Planned", {"plan": state["plan"]}
    for record in (*state["results"], *state["synthesis"]):
        yield "StepStarted", {name: record[name] for name in ("step_index", "step", "attempt")}
        yield "StepExecuted", {"record": record}
        if record["verdict"] is not None and record["status"] != "pending_validation":
            yield "StepJudged", {"record": record, "verdict": record["verdict"]}


def _build(name: str, values: Mapping[str, object]) -> EventRecord:
    plain = {key: _shorten(key, value) for key, value in values.items()}
    # A store holds only finite numbers, but the usage of a live call may have any.
    text = json.dumps(plain, ensure_ascii=True, default=str)
    return EventRecord(name, _find_key(name, plain), text)


def _shorten(key: str, value: object) -> object:
    if key == "state":
        state = cast("Mapping[str, object]", value)
        return {name: state.get(name) for name in _OF_STATE}
    if key == "record":
        record = cast("StepRecord", value)
        checks = checks_of(record["report"] or {})
        kept: dict[str, object] = {name: each for name, each in record.items() if name != "report"}
        return {**kept, "checks": checks}
    return value


def _find_key(name: str, plain: Mapping[str, object]) -> str:
    """Tells an event from the others of its run; the calls of tools and repeated ends need not be told."""
    source = as_object(plain.get("record")) or as_object(plain.get("question")) or plain
    place = [str(source.get(part, "")) for part in (*_PLACE, "id")]
    plan = plain.get("plan")
    size = len(plan) if isinstance(plan, Sequence) else ""
    return f"{name}:{'.'.join(place)}:{size}"
