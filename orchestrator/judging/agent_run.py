"""What a step did, as the evaluation takes it: the fields of an ``evaluation.AgentRun``, as plain JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Final

from orchestrator.state.graph_state import Json, StepRecord, ToolCallRecord, Usage
from orchestrator.state.plain_values import is_deep

MAX_CONTEXT: Final = 4000
"""Characters of the context that a record shows: its last ones, which are the newest results."""
_NO_TEXT: Final = "an error without a text"
_MAX_COUNT: Final = 2**63 - 1
_MAX_DEPTH: Final = 64
"""Levels of nesting that arguments may have as an object; the evaluation takes 100 for all of a case."""


def agent_run(
    record: StepRecord, context: str, *, model: str | None = None, transport_retries: int | None = None
) -> dict[str, object]:
    """Describe one execution of a step.

    Args:
        record: The execution.
        context: What the executor was given beside the step; its last ``MAX_CONTEXT`` characters are kept.
        model: The name of the model; by default what the record says, if it does.
        transport_retries: How often a call was repeated after a passing fault; by default as recorded.

    Returns:
        The fields of an ``AgentRun``. What was not measured is absent: tokens and cost that are not known,
        and model calls where none was seen, as with an agent that calls its model by other means. An
        execution that ended in an error has no ``final_output``.
    """
    output = record["result"] if record["error"] is None else None
    known = {"final_output": output, "model": record["model"] if model is None else model}
    retries = record["transport_retries"] if transport_retries is None else transport_retries
    return {
        "input": record["step"],
        "tool_calls": [_tool_call(call) for call in record["tool_calls"]],
        "messages": _messages(context, record["step"], output),
        **{name: value for name, value in known.items() if value is not None},
        **_measured(record["usage"]),
        "retries": retries,
        "metadata": {
            "step_index": record["step_index"],
            "attempt": record["attempt"],
            "timestamp": record["started_at"],
        },
    }


def _tool_call(call: ToolCallRecord) -> dict[str, object]:
    latency_ms = _quantity(call["latency_ms"])
    return {
        "name": call["name"],
        "args": _arguments(call["args"]),
        "result": call["result"],
        "error": _NO_TEXT if call["error"] == "" else call["error"],
        **({} if latency_ms is None else {"latency_ms": latency_ms}),
    }


def _arguments(args: Json) -> object:
    """Arguments as an object; what is none, or is nested too deep for the evaluation, as its JSON text."""
    if args is None or (isinstance(args, dict) and not is_deep(args, _MAX_DEPTH)):
        return args
    try:
        return json.dumps(args, ensure_ascii=False)
    except RecursionError:
        return "<arguments that are nested too deep to be written>"


def _messages(context: str, step: str, output: str | None) -> list[dict[str, str]]:
    asked = [_newest(context), step] if context else [step]
    messages = [{"role": "user", "content": text} for text in asked]
    return messages if output is None else [*messages, {"role": "assistant", "content": output}]


def _newest(context: str) -> str:
    left_out = len(context) - MAX_CONTEXT
    if left_out <= 0:
        return context
    return f"[the first {left_out} characters of the context are left out]\n{context[left_out:]}"


def _measured(usage: Usage) -> dict[str, object]:
    found: Mapping[str, float | None] = {
        "latency_ms": _quantity(usage["latency_ms"]),
        "input_tokens": _count(usage["input_tokens"]),
        "output_tokens": _count(usage["output_tokens"]),
        "total_tokens": _count(usage["total_tokens"]),
        "model_calls": _count(usage["model_calls"]) or None,
        "cost_usd": _quantity(usage["cost_usd"]),
    }
    return {name: value for name, value in found.items() if value is not None}


def _count(value: int | None) -> int | None:
    """A count as a provider may report it; one that cannot be true was not measured."""
    return value if value is not None and 0 <= value <= _MAX_COUNT else None


def _quantity(value: float | None) -> float | None:
    return value if value is not None and 0 <= value <= sys.float_info.max else None
