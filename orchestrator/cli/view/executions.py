"""Describes executions: their verdicts, the last decision, the final one of each step, and tool calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from agents.contracts import HumanAnswer
from orchestrator.cli.view.terminal_text import one_line
from orchestrator.state.current_step import ACCEPTED
from orchestrator.state.records import RecordStatus, StepRecord, ToolCallRecord
from orchestrator.state.supervision_records import SupervisorVerdict

VERDICTS: Final[Mapping[RecordStatus, tuple[str, str]]] = {
    "validated": ("accepted", "green"),
    "failed": ("refused", "yellow"),
    "needs_review": ("not judged", "yellow"),
    "pending_validation": ("pending", "dim"),
    "warning": ("kept with a warning", "yellow"),
}
"""The words and the style for the status of an execution."""
_SHOWN: Final = 100
"""Most characters of the arguments, the answer and the error of a call on a line."""


def final_records(records: Iterable[StepRecord]) -> list[StepRecord]:
    """Returns one execution per step: the accepted one, otherwise the last one."""
    final: dict[int, StepRecord] = {}
    for record in records:
        earlier = final.get(record["step_index"])
        if earlier is None or earlier["status"] not in ACCEPTED:
            final[record["step_index"]] = record
    return list(final.values())


def last_word(record: StepRecord) -> str:
    """Returns the last decision on an execution: of a person, supervisor or monitor; else its error."""
    supervision, verdict = record["supervision"], record["verdict"]
    if supervision is not None and supervision["answer"] is not None:
        return _format_answer(supervision["answer"])
    if supervision is not None and supervision["verdict"] is not None:
        return _format_supervision(supervision["verdict"])
    return record["error"] or "" if verdict is None else verdict["feedback"]


def _format_answer(answer: HumanAnswer) -> str:
    return f"{answer['answered_by']} says {answer['answer']}: {answer['text']}".rstrip(": ")


def _format_supervision(verdict: SupervisorVerdict) -> str:
    reason = verdict["reason"] or verdict["correction"] or verdict["question"]
    return f"the supervisor says {verdict['verdict']}: {reason}".rstrip(": ")


def format_tool_call(call: ToolCallRecord) -> str:
    """Formats a call on one line: its name, its arguments, a person's answer, and its error if it failed."""
    args = "" if call["args"] is None else json.dumps(call["args"], ensure_ascii=False)
    words = (one_line(part, _SHOWN) for part in (call["name"], args))
    return f"{' '.join(filter(None, words))}{format_call_end(call)}"


def format_call_end(call: ToolCallRecord) -> str:
    """Formats what became of a call: its gate, a person's answer, its error; empty for an open one."""
    parts: list[str] = [call["gate"]] if "gate" in call else []
    if "answer" in call:
        parts.append(_format_answer(call["answer"]))
    if call["error"] is not None:
        parts.append(f"failed: {call['error']}")
    return "".join(f", {one_line(part, _SHOWN)}" for part in parts)
