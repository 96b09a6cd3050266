"""Trajectories in ATIF, the Agent Trajectory Interchange Format, versions 1.0 to 1.8.

Source: https://github.com/harbor-framework/harbor/blob/main/rfcs/0001-trajectory-format.md
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from evaluation.errors import ContractError
from evaluation.importers.imported_message import (
    UnknownFormatError,
    is_marked_error,
    read_object,
    read_objects,
    read_result,
    read_run_error,
)
from evaluation.recordings.recorded_run import RecordedRun, RunFormat, read_message_run, read_tokens
from evaluation.values import JsonObject, as_list, as_object

_VERSION: Final = re.compile(r"ATIF-v1\.([0-8])")
_ROLES: Final = {"user": "user", "system": "system", "agent": "assistant"}


def _read_trajectory(value: JsonObject) -> Iterator[RecordedRun]:
    """Yields the run, and the runs of its subagents.

    Raises:
        ContractError: The version is unknown, or a step has no known source.
    """
    if _VERSION.fullmatch(str(value.get("schema_version"))) is None:
        raise ContractError(f"{value.get('schema_version')} is not known; give ATIF-v1.0 to ATIF-v1.8")
    children = read_objects(value, "subagent_trajectories", "the trajectory")
    ends = {str(child.get("trajectory_id")): _read_end(child) for child in children}
    steps = read_objects(value, "steps", "the trajectory")
    for agent in dict.fromkeys(map(_name_subagent, steps)):
        own = [step for step in steps if _name_subagent(step) == agent]
        named = {"session_id": f"{value.get('session_id')}/{agent}", "agent": value.get("agent")}
        yield _read_steps(value if agent is None else named, own, ends)
    for child in children:
        yield from _read_trajectory(child)


def _name_subagent(step: JsonObject) -> str | None:
    """Returns the subagent that Claude Code marks a step of; None for the agent itself."""
    extra = read_object(step, "extra", _name_step(step))
    return str(extra.get("agent_id")) if extra.get("is_sidechain") is True else None


def _read_end(child: JsonObject) -> str:
    last = as_object(next(reversed(as_list(child.get("steps"))), None))
    return str(read_result(last.get("message")))


def _read_steps(value: JsonObject, steps: Sequence[JsonObject], ends: Mapping[str, str]) -> RecordedRun:
    # Steps that were copied from an earlier trajectory are no work of this one.
    copied = [step for step in steps if step.get("is_copied_context") is True]
    own = [step for step in steps if step not in copied]
    messages = [message for step in steps for message in _list_messages(step, ends)]
    return read_message_run(
        messages,
        value.get("trajectory_id") or value.get("session_id"),
        {**_read_totals(value, own), **_list_sources(copied), **read_run_error(value)},
    )


def _list_messages(step: JsonObject, ends: Mapping[str, str]) -> Iterator[JsonObject]:
    source = step.get("source")
    if str(source) not in _ROLES:
        raise ContractError(
            f"step {step.get('step_id')} has the source {source!r}; give user, system or agent"
        )
    message = {"role": _ROLES[str(source)], "content": step.get("message")}
    if step.get("is_copied_context") is True:
        yield message
        return
    calls = [_open_call(call) for call in read_objects(step, "tool_calls", _name_step(step))]
    yield {**message, "tool_calls": calls}
    for result in _list_results(step):
        yield _open_result(result, ends, is_answer=bool(calls))


def _list_results(step: JsonObject) -> list[dict[str, object]]:
    where = _name_step(step)
    return read_objects(read_object(step, "observation", where), "results", where)


def _name_step(step: JsonObject) -> str:
    return f"step {step.get('step_id')}"


def _open_call(call: JsonObject) -> JsonObject:
    if not isinstance(call.get("function_name"), str):
        raise UnknownFormatError(f"the call {call.get('tool_call_id')} has a function_name that is no text")
    return {"id": call.get("tool_call_id"), "name": call["function_name"], "args": call.get("arguments")}


def _open_result(result: JsonObject, ends: Mapping[str, str], *, is_answer: bool) -> JsonObject:
    extra, content = read_object(result, "extra", "a result"), result.get("content")
    if content is None:
        references = read_objects(result, "subagent_trajectory_ref", "a result")
        content = next((ends.get(str(each.get("trajectory_id"))) for each in references), None)
    if not is_answer:
        return {"role": "system", "content": content}
    marks = {**extra, "is_error": extra.get("is_error") or extra.get("tool_result_is_error")}
    status = "error" if is_marked_error(marks) else "success"
    return {
        "role": "tool",
        "tool_call_id": result.get("source_call_id"),
        "content": content,
        "status": status,
    }


def _list_sources(copied: Iterable[JsonObject]) -> JsonObject:
    texts = [str(read_result(result.get("content"))) for step in copied for result in _list_results(step)]
    return {"sources": texts} if texts else {}


def _read_totals(value: JsonObject, steps: Sequence[JsonObject]) -> JsonObject:
    final = read_object(value, "final_metrics", "the trajectory")
    names = {"prompt_tokens": "total_prompt_tokens", "completion_tokens": "total_completion_tokens"}
    totals: dict[str, Any] = read_tokens({name: final.get(field) for name, field in names.items()})
    if isinstance(cost := final.get("total_cost_usd"), int | float):
        totals["cost_usd"] = cost
    times = [_read_time(step) for step in steps if step.get("timestamp") is not None]
    if len(times) > 1:
        totals["latency_ms"] = 1000 * max(0.0, (times[-1] - times[0]).total_seconds())
    model = as_object(value.get("agent")).get("model_name")
    return {**totals, **({"model": model} if isinstance(model, str) else {})}


def _read_time(step: JsonObject) -> datetime:
    try:
        time = datetime.fromisoformat(str(step["timestamp"]))
    except ValueError:
        raise UnknownFormatError(f"{_name_step(step)} has a timestamp that is no ISO 8601 date") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


ATIF: Final = RunFormat("ATIF trajectory", _read_trajectory, (frozenset({"schema_version", "steps"}),))
