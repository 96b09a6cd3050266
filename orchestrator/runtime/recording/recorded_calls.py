"""Model and tool calls in the form that a store holds, and the output of a tool as a record holds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NotRequired
from uuid import UUID

from langchain_core.messages.ai import UsageMetadata
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from agents.calls.tool_answers import read_answer
from agents.calls.tool_gate import TOOL_ANSWER, TOOL_GATE, TOOL_ORIGIN
from orchestrator.runtime.recording.model_usage import ModelCall, ReplyEnd
from orchestrator.state.plain_values import format_text, plain_text
from orchestrator.state.records import Json, ToolCallRecord

_RECORD: Final = TypeAdapter(ToolCallRecord)


class RecordedModelCall(TypedDict):
    """A model call that has ended; ``tokens`` has the counts that the model reported, if it did.

    ``end`` has the last words of its reply; records of earlier versions lack it.
    """

    model: str
    tokens: UsageMetadata | None
    failed: bool
    end: NotRequired[str]
    cut_off: NotRequired[str]


class RecordedCalls(TypedDict):
    """The calls of one request, in the order of their starts."""

    models: list[RecordedModelCall]
    tools: list[ToolCallRecord]


def export_call(call: ModelCall) -> RecordedModelCall:
    """Returns the stored form of a model call."""
    exported = RecordedModelCall(model=call.model, tokens=call.tokens, failed=call.failed, end=call.end.text)
    return exported if call.end.cut_off is None else {**exported, "cut_off": call.end.cut_off}


def restore_call(call: RecordedModelCall) -> ModelCall:
    """Returns a model call from its stored form."""
    return ModelCall(
        call["model"],
        is_running=False,
        tokens=call["tokens"],
        failed=call["failed"],
        end=ReplyEnd(call.get("end", ""), call.get("cut_off")),
    )


_started: Final[ContextVar[list[UUID] | None]] = ContextVar("orchestrator_started_calls", default=None)


@contextmanager
def collect_starts() -> Iterator[list[UUID]]:
    """Collects the ids of the model and tool calls that start in the block, also in its tasks and threads."""
    ids: list[UUID] = []
    token = _started.set(ids)
    try:
        yield ids
    finally:
        _started.reset(token)


def note_start(run_id: UUID) -> None:
    """Adds a call to the enclosing ``collect_starts``, if there is one."""
    if (ids := _started.get()) is not None:
        ids.append(run_id)


def build_tool_record(
    name: str, args: Json, metadata: Mapping[str, object], tool_call_id: str | None
) -> ToolCallRecord:
    """Builds the record of a call that starts, with the decision of the gate and a person's answer.

    Args:
        name: Name of the tool.
        args: Arguments as JSON.
        metadata: Metadata of the call.
        tool_call_id: Id of the call. Calls that a tool makes inherit the metadata, but not the id.
    """
    record = ToolCallRecord(name=name, args=args, result=None, error=None, latency_ms=None)
    answered = metadata.get(TOOL_ANSWER)
    has_own = (
        isinstance(answered, Mapping) and tool_call_id is not None and answered.get("id") == tool_call_id
    )
    noted = {
        "gate": metadata.get(TOOL_GATE),
        "made_in": metadata.get(TOOL_ORIGIN),
        "answer": answered.get("answer") if has_own and isinstance(answered, Mapping) else None,
    }
    try:
        return _RECORD.validate_python({**record, **{name: value for name, value in noted.items() if value}})
    except ValidationError:  # the metadata of a tool can hold anything
        return record


def read_tool_output(output: object) -> tuple[str | None, str | None]:
    """Reads the result and the error of a tool's output; one of them is None."""
    answer = read_answer(output)
    if answer is None:
        return format_text(output), None
    text = plain_text(answer.text)
    return (None, text) if answer.status == "error" else (text, None)
