"""Describes what records hold, in lines: derived checks, executions with their verdicts, and tool calls."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from rich.text import Text

from agents.reply_types import HumanAnswer
from evaluation import ContractError
from evaluation.checks import BaseCheck, CheckContext, read_checks
from orchestrator.cli.view.consoles import clean, format_usage, one_line
from orchestrator.state.evaluation_report import checks_of, mapping
from orchestrator.state.graph_state import DerivedContracts
from orchestrator.state.records import DerivedContract, Json, RecordStatus, StepRecord, ToolCallRecord
from orchestrator.state.usage import Usage

VERDICTS: Final[Mapping[RecordStatus, tuple[str, str]]] = {
    "validated": ("accepted", "green"),
    "failed": ("refused", "yellow"),
    "needs_review": ("not judged", "yellow"),
    "pending_validation": ("pending", "dim"),
    "warning": ("kept with a warning", "yellow"),
}
"""The words and the style for the status of an execution."""
_SHOWN: Final = 100
"""Most characters of a check, and of the arguments, the answer and the error of a call."""


def name_attempt(step_index: int, attempt: int, steps: int) -> str:
    """Names an execution of a step of ``steps``; the index after the last is the final answer."""
    step = f"step {step_index + 1} of {steps}" if step_index < steps else "final answer"
    return f"{step}, attempt {attempt}"


def describe_verdict(record: StepRecord, steps: int, usage: Usage) -> Text:
    """Describes how an execution was judged, in one line: the verdict, this usage, the reason, warnings."""
    verdict, style = VERDICTS[record["status"]]
    name = name_attempt(record["step_index"], record["attempt"], steps)
    reasons = "; ".join(filter(None, map(one_line, [last_word(record), *record["warnings"]])))
    return Text.assemble(
        f"{name} ", (verdict, style), f" ({format_usage(usage)})", f": {reasons}" if reasons else ""
    )


def list_details(record: StepRecord) -> Iterator[str]:
    """Yields the output of an execution line by line, and the checks of its verdict."""
    yield from (f"  | {line}" for line in clean(record["result"]).splitlines())
    for check in checks_of(record["report"] or {}):
        word = {None: "not decided", True: "passed", False: "failed"}[check["passed"]]
        yield f"  check {word}: {one_line(check['wanted'])} ({one_line(check['seen'])})"


def last_word(record: StepRecord) -> str:
    """Returns the last decision on an execution: of a person, supervisor or monitor; else its error."""
    supervision, verdict = record["supervision"], record["verdict"]
    if supervision is not None and supervision["answer"] is not None:
        return _format_answer(supervision["answer"])
    if supervision is not None and (said := supervision["verdict"]) is not None:
        reason = said["reason"] or said["correction"] or said["question"]
        return f"the supervisor says {said['verdict']}: {reason}".rstrip(": ")
    return record["error"] or "" if verdict is None else verdict["feedback"]


def _format_answer(answer: HumanAnswer) -> str:
    return f"{answer['answered_by']} says {answer['answer']}: {answer['text']}".rstrip(": ")


def format_tool_call(call: ToolCallRecord) -> str:
    """Formats a call on one line: its name, its arguments, a person's answer, and its error if it failed."""
    args = "" if call["args"] is None else json.dumps(call["args"], ensure_ascii=False)
    words = (one_line(part, _SHOWN) for part in (call["name"], args))
    return f"{' '.join(filter(None, words))}{format_call_end(call)}"


def format_call_end(call: ToolCallRecord) -> str:
    """Formats what is known of a call: its gate or its effect, a person's answer, its error."""
    word = call.get("gate") or call.get("outcome")
    parts: list[str] = [] if word is None else [word]
    if "answer" in call:
        parts.append(_format_answer(call["answer"]))
    if call["error"] is not None:
        parts.append(f"failed: {call['error']}")
    return "".join(f", {one_line(part, _SHOWN)}" for part in parts)


def describe_check(check: BaseCheck) -> str:
    """Returns the requirement of a check as an instruction: "use at most 2 words"."""
    return check.evaluate(CheckContext("")).wanted


def list_requirements(derived: DerivedContracts | None) -> Iterator[str]:
    """Yields one line for each derived check and each unchecked phrase."""
    if derived is None:
        return
    contracts = [
        ("the output", derived["output"]),
        *((f"step {n}", each) for n, each in enumerate(derived["steps"], 1)),
    ]
    for place, contract in contracts:
        if contract is not None and (wanted := _list_wanted(contract)):
            yield f"checks of {place}: {'; '.join(one_line(text, _SHOWN) for text in wanted)}"
        if contract is not None and contract["unchecked"]:
            phrases = ", ".join(f"“{one_line(text, _SHOWN)}”" for text in contract["unchecked"])
            yield f"not checked in {place}: {phrases}"


def _list_wanted(contract: DerivedContract) -> list[str]:
    checks = contract["contract"].get("checks")
    others = [name for name in contract["contract"] if name != "checks"]
    return [*map(_describe_item, checks if isinstance(checks, list) else ()), *others]


def _describe_item(item: Json) -> str:
    try:
        (check,) = read_checks([item])
    except ContractError:  # a check of the user's code, which a contract only names
        return str(mapping(item).get("name", "a check of your own"))
    return describe_check(check)
