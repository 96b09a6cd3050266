"""What a program that started or answered a run gets: its result, and its progress in our own words."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from orchestrator.runs.run_selection import ENDED
from orchestrator.runtime.events import Event
from orchestrator.state.current_step import read_basis_reason
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.plain_values import plain_json
from orchestrator.state.records import Basis


class ClientResult(BaseModel):
    """How a run ended, or what it waits for."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    thread_id: str
    """Name of the run, for `answer` and for its resource."""
    status: Literal["success", "failed", "waiting", "interrupted"]
    """"waiting" if the run waits for an answer."""
    output: str | None
    """The answer to the task, a text of a model."""
    basis: Basis | None
    """What the success rests on; None without a success."""
    basis_reason: str
    """The basis in words."""
    evidence: JsonValue
    """How the form, the content and the actions of the output are known."""
    failure: JsonValue
    """Why the run failed."""
    question: JsonValue
    """The open question, with the answers that it accepts."""
    note: str
    """What else the caller has to know; empty if nothing."""


def describe_result(thread_id: str, state: OrchestratorState, note: str = "") -> dict[str, JsonValue]:
    """Returns the fields of ``ClientResult`` as plain JSON."""
    fields: dict[str, object] = {
        "thread_id": thread_id,
        "status": _find_status(state),
        "basis_reason": read_basis_reason(state),
        "evidence": state.get("evidence"),
        "note": note,
        "output": state["output"],
        "basis": state["basis"],
        "failure": state["failure"],
        "question": state["question"],
    }
    return {name: plain_json(fields[name]) for name in ClientResult.model_fields}


def _find_status(state: OrchestratorState) -> str:
    if state["status"] in ENDED:
        return state["status"]
    return "interrupted" if state["question"] is None else "waiting"


def describe_event(event: Event) -> str:
    """Describes an event in a few words, without any text of a user, a model or a tool."""
    record = getattr(event, "record", None) or {}
    index, attempt, status = (
        record.get(name, getattr(event, name, None)) for name in ("step_index", "attempt", "status")
    )
    name = re.sub(r"(?<!^)(?=[A-Z])", " ", type(event).__name__).capitalize()
    place = "" if index is None else f"step {index + 1}"
    attempts = "" if attempt is None else f"attempt {attempt}"
    details = ", ".join(each for each in (place, attempts, status) if each)
    return f"{name}: {details}" if details else name
