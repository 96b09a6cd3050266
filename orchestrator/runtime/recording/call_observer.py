"""Emits an event for each piece of text and each tool call of an agent, while the agent works."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph.types import StreamWriter

from orchestrator.runtime.events import StreamingAgent, TextStreamed, ToolEnded, ToolStarted
from orchestrator.state.plain_values import plain_text
from orchestrator.state.records import ToolCallRecord


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
