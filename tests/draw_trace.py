"""Writes the trace of `docs/how-to/trace-runs.md` from a run: `python -m tests.draw_trace`.

A callback handler records each call with its parent, as LangChain's tracers do, without a network. Calls that
LangGraph hides from traces are left out, and so are the parts of a call with structured output.
"""

import re
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator

PAGE: Final = Path(__file__).parents[1] / "docs" / "how-to" / "trace-runs.md"
_BLOCK: Final = re.compile(r"(?<=```\n)plan_execute_monitor\n.*?(?=```)", re.DOTALL)
_HIDDEN_TAG: Final = "langsmith:hidden"
_HIDDEN_NAME: Final = re.compile("Runnable|JsonOutput")
_PLACE: Final = ("step_index", "attempt")


class TraceRecorder(BaseCallbackHandler):
    """Records every call as a line below its parent, in the order in which the calls start."""

    run_inline = True

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depths: dict[UUID | None, int] = {None: 0}
        self._places: dict[UUID | None, str] = {None: ""}

    def on_chain_start(self, serialized: Any, inputs: Any, **call: Any) -> None:
        self._record(call["name"], **call)

    def on_chat_model_start(self, serialized: Any, messages: Any, **call: Any) -> None:
        self._record("model", **call)

    def on_tool_start(self, serialized: Any, text: Any, **call: Any) -> None:
        self._record(f"tool {serialized['name']}", **call)

    def _record(self, label: str, *, run_id: UUID, parent_run_id: UUID | None = None, **call: Any) -> None:
        depth, metadata = self._depths[parent_run_id], call.get("metadata") or {}
        place = " ".join(f"{key}={metadata[key]}" for key in _PLACE if key in metadata)
        is_hidden = _HIDDEN_TAG in (call.get("tags") or []) or _HIDDEN_NAME.match(label) is not None
        self._depths[run_id], self._places[run_id] = depth + (not is_hidden), place
        if not is_hidden:
            # What a call inherits is not repeated.
            shown = "" if place == self._places[parent_run_id] else place
            self.lines.append(f"{'  ' * depth + label:<36}{shown}".rstrip())


def draw_trace() -> str:
    """Returns the trace of a run of two steps, of which the second is refused once."""
    verdicts = iter(["true", "false", "true"])
    planner = ScriptedChatModel(lambda _: '{"plan": ["List colours", "Choose one"]}')
    writer = ScriptedChatModel(lambda _: "blue")
    judge = ScriptedChatModel(lambda _: f'{{"success": {next(verdicts)}, "feedback": "too long"}}')
    agents = PlanningAgent(planner), ExecutionAgent(writer), MonitoringAgent(judge)
    recorder = TraceRecorder()
    LangGraphOrchestrator(*agents, synthesis=False).run("Choose a colour", config={"callbacks": [recorder]})
    return "\n".join(recorder.lines) + "\n"


def read_trace() -> str:
    match = _BLOCK.search(PAGE.read_text(encoding="utf-8"))
    return match[0] if match else ""


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_BLOCK.sub(lambda _: draw_trace(), page), encoding="utf-8")
