"""Writes runs as trajectories in ATIF 1.7, which readers of 1.8 accept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from pydantic import ValidationError

from evaluation.errors import ContractError
from evaluation.importers.imported_conversation import read_conversation
from evaluation.importers.imported_message import parse_arguments
from evaluation.inputs.messages import convert_calls
from evaluation.inputs.run import AgentRun
from evaluation.recordings.formats.atif import OWN
from evaluation.validation.problems import describe_errors
from evaluation.values import JsonObject, as_object

_HELD: Final = frozenset({
    "input", "final_output", "tool_calls", "messages", "input_tokens", "output_tokens", "cost_usd", "model"
})  # fmt: skip
_HELD_OF_CALLS: Final = frozenset({"name", "args", "result", "id", "message"})
_SOURCES: Final = {"user": "user", "system": "system", "assistant": "agent"}


@dataclass(frozen=True, slots=True)
class _Turn:
    source: str
    text: str
    calls: Sequence[JsonObject] = ()


def run_to_atif(
    run: Mapping[str, object], *, name: str, agent: str = "plan-execute-monitor"
) -> dict[str, Any]:
    """Converts an ``agent_run`` to a trajectory in ATIF 1.7.

    Args:
        run: The fields of an ``AgentRun``; ``run_from_state`` makes them of a stored run.
        name: The ``session_id``.
        agent: The name of the agent.

    Returns:
        The trajectory as plain JSON. What ATIF has no field for, such as the error of a run, is under
        ``extra.agent_run``, where ``orchestrator evaluate`` reads it again; ``notes`` names it.

    Raises:
        ContractError: It is no run; one sentence for each problem.
    """
    try:
        plain = AgentRun.model_validate(run).model_dump(mode="json", exclude_defaults=True)
    except ValidationError as error:
        problems = describe_errors(error, run, [*AgentRun.model_fields], root="the run")
        raise ContractError("; ".join(problems)) from None
    turns = _list_turns(plain)
    own = {field: value for field, value in plain.items() if field not in _HELD}
    notes = f"ATIF has no field for {', '.join(own)}; see extra.{OWN}." if own else None
    model = {"model_name": plain["model"]} if "model" in plain else {}
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": name,
        "agent": {"name": agent, "version": "unknown", **model},
        "steps": [_write_step(number, turn) for number, turn in enumerate(turns, 1)],
        "final_metrics": _write_totals(plain, turns),
        **({"notes": notes, "extra": {OWN: own}} if own else {}),
    }


def _list_turns(run: JsonObject) -> list[_Turn]:
    calls: Any = run.get("tool_calls", [])
    messages: Any = run.get("messages", [])
    if messages:
        turns = [*_read_turns(messages, calls)]
        # Messages may lack the calls, which came before the last of them.
        held = sum(len(turn.calls) for turn in turns)
        return [*turns[:-1], *_group_calls(calls), *turns[-1:]] if calls and not held else turns
    asked = _Turn("user", str(run.get("input", "")))
    end = [_Turn("agent", str(run["final_output"]))] if "final_output" in run else []
    return [asked, *_group_calls(calls), *end]


def _read_turns(messages: Iterable[object], calls: Sequence[JsonObject]) -> Iterator[_Turn]:
    conversation = read_conversation(messages)
    known = calls if len(calls) == len(conversation.calls) else convert_calls(conversation)
    places = [each.message for each in conversation.calls]
    for index, message in enumerate(conversation.messages):
        if message.role in _SOURCES:
            own = [call for call, place in zip(known, places, strict=True) if place == index]
            yield _Turn(_SOURCES[message.role], message.text, own)


def _group_calls(calls: Iterable[JsonObject]) -> list[_Turn]:
    """Puts the calls of one message, which are parallel, into one turn."""
    numbered = [(call.get("message", -1 - place), call) for place, call in enumerate(calls)]
    groups = groupby(numbered, key=lambda pair: pair[0])
    return [_Turn("agent", "", [call for _, call in group]) for _, group in groups]


def _write_step(number: int, turn: _Turn) -> JsonObject:
    calls = [(str(call.get("id") or f"call_{number}_{place}"), call) for place, call in enumerate(turn.calls)]
    results = [result for name, call in calls for result in _write_result(name, call)]
    return {
        "step_id": number,
        "source": turn.source,
        "message": turn.text,
        **({"tool_calls": [_write_call(name, call) for name, call in calls]} if calls else {}),
        **({"observation": {"results": results}} if results else {}),
    }


def _write_call(name: str, call: JsonObject) -> JsonObject:
    own = {field: value for field, value in call.items() if field not in _HELD_OF_CALLS}
    args: Any = call.get("args")
    arguments = as_object(parse_arguments(args))
    if isinstance(args, str):
        own["args"] = args
    if call.get("error") or not isinstance(call.get("result", ""), str):
        own["result"] = call.get("result")
    written = {"tool_call_id": name, "function_name": call["name"], "arguments": arguments}
    return {**written, **({"extra": {OWN: own}} if own else {})}


def _write_result(name: str, call: JsonObject) -> Iterator[JsonObject]:
    result, error = call.get("result"), call.get("error")
    if result is None and not error:
        return
    value = result if result is not None else "" if error is True else error
    content = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    yield {"source_call_id": name, "content": content, **({"extra": {"is_error": True}} if error else {})}


def _write_totals(run: JsonObject, turns: Sequence[_Turn]) -> JsonObject:
    names = {
        "total_prompt_tokens": "input_tokens",
        "total_completion_tokens": "output_tokens",
        "total_cost_usd": "cost_usd",
    }
    totals = {name: run[field] for name, field in names.items() if field in run}
    return {**totals, "total_steps": len(turns)}
