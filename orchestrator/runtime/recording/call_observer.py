"""Builds the records of tool calls, and emits an event for each and for each piece of text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from langgraph.types import StreamWriter
from pydantic import TypeAdapter, ValidationError

from agents.calls.tool_gate import TOOL_ANSWER, TOOL_GATE, TOOL_ORIGIN, read_answer
from orchestrator.runtime.events import StreamingAgent, TextStreamed, ToolEnded, ToolStarted
from orchestrator.state.plain_values import format_text, plain_text
from orchestrator.state.records import Json, ToolCallRecord

_RECORD: Final = TypeAdapter(ToolCallRecord)


@dataclass(frozen=True, slots=True)
class CallObserver:
    """Emits the events of one call of an agent.

    Attributes:
        write: Takes the events.
        thread_id: Thread of the run.
        agent: The agent.
        step_index: Index of the step; None for the planner.
    """

    write: StreamWriter
    thread_id: str
    agent: StreamingAgent
    step_index: int | None = None

    def emit_text(self, text: str) -> None:
        """Emits a piece of text, unless it is empty."""
        if text:
            piece = TextStreamed(
                thread_id=self.thread_id,
                agent=self.agent,
                step_index=self.step_index,
                text=plain_text(text),
            )
            self.write(piece)

    def emit_tool(self, kind: type[ToolStarted | ToolEnded], call: ToolCallRecord) -> None:
        """Emits the start or the end of a tool call."""
        self.write(kind(thread_id=self.thread_id, step_index=self.step_index, call=call))


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
    is_own = isinstance(answered, Mapping) and tool_call_id is not None and answered.get("id") == tool_call_id
    noted = {
        "gate": metadata.get(TOOL_GATE),
        "made_in": metadata.get(TOOL_ORIGIN),
        "answer": answered.get("answer") if is_own and isinstance(answered, Mapping) else None,
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
