"""Describes executions: their verdicts, the last decision, the final one of each step, and tool calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final, cast

from evaluation.sensitive.quoting import shorten
from orchestrator.cli.view.text import one_line
from orchestrator.state.current_step import read_basis_reason
from orchestrator.state.graph_state import FailureKind, OrchestratorState
from orchestrator.state.records import GateDecision, Json, RecordStatus, StepRecord, ToolCallRecord
from orchestrator.state.supervision_records import AnswerWord, HumanAnswer, SupervisorVerdict

VERDICTS: Final[Mapping[RecordStatus, tuple[str, str]]] = {
    "validated": ("accepted", "green"),
    "failed": ("refused", "yellow"),
    "needs_review": ("not judged", "yellow"),
    "pending_validation": ("pending", "dim"),
    "warning": ("kept with a warning", "yellow"),
}
"""The words and the style for the status of an execution."""
FAILURES: Final[Mapping[FailureKind, str]] = {
    "plan_invalid": "there is no usable plan",
    "planner_error": "error of the planner",
    "executor_error": "error of the executor",
    "compressor_error": "error of the compressor",
    "monitor_error": "error of the monitor",
    "supervisor_error": "error of the supervisor",
    "supervision_invalid": "the supervision is not set up correctly",
    "contract_error": "error of a contract",
    "evaluation_error": "error of the evaluation",
    "attempts_exhausted": "no attempts left",
    "needs_review": "a person has to judge it",
    "halted": "stopped by the supervisor",
    "denied": "denied",
    "budget_exceeded": "the budget is used up",
    "timeout": "out of time",
    "recursion_limit": "too many steps of the graph",
    "cancelled": "cancelled",
    "unverified": "it rests on less than required",
}
"""The words for the kind of a failure."""
_ACTIONS: Final[Mapping[AnswerWord, str]] = {
    "approve": "approved",
    "correct": "corrected",
    "deny": "denied",
    "halt": "halted",
}
GATE_WORDS: Final[Mapping[GateDecision, str]] = {
    "forbidden": "forbidden",
    "denied": "denied",
    "reused": "reused",
    "unknown": "not made again, its outcome is unknown",
    "stated": "not run, its result is stated",
}
"""The words for why a tool did not run."""
_NOTES: Final = ("gate", "made_in", "answer", "effect")
_SHOWN: Final = 100
"""Most characters of the arguments on a line, of an argument in JSON, and of an error."""


def final_records(records: Iterable[StepRecord]) -> list[StepRecord]:
    """Return one execution per step: the accepted one, otherwise the last one."""
    final: dict[int, StepRecord] = {}
    for record in records:
        earlier = final.get(record["step_index"])
        if earlier is None or earlier["status"] not in ("validated", "warning"):
            final[record["step_index"]] = record
    return list(final.values())


def describe_success(state: OrchestratorState) -> str:
    """Return the basis of a success in words; empty for a failure, and for runs of older versions."""
    return one_line(read_basis_reason(state)) if state["status"] == "success" else ""


def last_word(record: StepRecord) -> str:
    """Return the last decision on an execution: of a person, supervisor or monitor; else its error."""
    supervision, verdict = record["supervision"], record["verdict"]
    if supervision is not None and supervision["answer"] is not None:
        return _format_answer(supervision["answer"])
    if supervision is not None and supervision["verdict"] is not None:
        return _format_supervision(supervision["verdict"])
    return record["error"] or "" if verdict is None else verdict["feedback"]


def _format_answer(answer: HumanAnswer) -> str:
    action = _ACTIONS[answer["answer"]]
    return _add_reason(f"{action} by {answer['answered_by']}", answer["text"])


def _format_supervision(verdict: SupervisorVerdict) -> str:
    match verdict["verdict"]:
        case "continue":
            return _add_reason("the supervisor accepts it", verdict["reason"])
        case "reorient":
            return _add_reason("the supervisor corrects it", verdict["correction"])
        case "halt":
            return _add_reason("the supervisor stops the run", verdict["reason"])
        case "ask_human":
            return _add_reason("the supervisor asks", verdict["question"])


def _add_reason(decision: str, reason: str) -> str:
    return f"{decision}: {reason}" if reason.strip() else decision


def format_tool_call(call: ToolCallRecord) -> str:
    """Format a call on one line: its name, its arguments, a person's answer, and its error if it failed."""
    args = "" if call["args"] is None else f" {one_line(_to_text(call['args']), _SHOWN)}"
    return f"{one_line(call['name'], _SHOWN)}{args}{_format_end(call)}"


def _format_end(call: ToolCallRecord) -> str:
    words = f" {one_line(_format_call_answer(call['answer']), _SHOWN)}" if "answer" in call else ""
    if "gate" in call:
        return words or f" {GATE_WORDS[call['gate']]}{_format_origin(call)}"
    if call["error"] is not None:
        return f"{words} failed: {one_line(call['error'], _SHOWN)}"
    return f"{words} did not end" if call["result"] is None else words


def name_failure(call: ToolCallRecord) -> str:
    """Name the end of a call without a result: "failed", or why its tool did not run."""
    return GATE_WORDS[call["gate"]] if "gate" in call else "failed"


def _format_call_answer(answer: HumanAnswer) -> str:
    if answer["answer"] == "correct":
        return _add_reason(f"not run, its result is from {answer['answered_by']}", answer["text"])
    return _format_answer(answer)


def _format_origin(call: ToolCallRecord) -> str:
    if "made_in" not in call:
        return ""
    return f" from step {call['made_in']['step_index'] + 1}, attempt {call['made_in']['attempt']}"


def tool_call_to_plain(call: ToolCallRecord) -> dict[str, Json]:
    """Convert a call to plain values without its result; long arguments and errors are shortened."""
    args, error = call["args"], call["error"]
    return {
        "name": call["name"],
        "args": {name: _cut(value) for name, value in args.items()} if isinstance(args, dict) else _cut(args),
        "error": None if error is None else shorten(error, _SHOWN),
        **{name: cast("Json", note) for name in _NOTES if (note := call.get(name)) is not None},
    }


def _cut(value: Json) -> Json:
    text = _to_text(value)
    return value if len(text) <= _SHOWN else shorten(value if isinstance(value, str) else text, _SHOWN)


def _to_text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
