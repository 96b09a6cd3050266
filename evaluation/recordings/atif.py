"""Trajectories in ATIF, the Agent Trajectory Interchange Format, versions 1.0 to 1.8."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from evaluation.errors import ContractError
from evaluation.recordings.recorded_run import RecordedRun, list_ignored
from evaluation.values import JsonObject, as_list, as_object

_VERSION: Final = re.compile(r"ATIF-v1\.([0-8])")
_ROLES: Final = {"user": "user", "system": "system", "agent": "assistant"}
_READ: Final = frozenset(
    {
        "schema_version",
        "session_id",
        "trajectory_id",
        "agent",
        "steps",
        "final_metrics",
        "subagent_trajectories",
    }
)
_READ_OF_STEPS: Final = frozenset(
    {"step_id", "timestamp", "source", "message", "tool_calls", "observation", "model_name", "metrics"}
    | {"reasoning_content", "llm_call_count", "reasoning_effort", "is_copied_context"}
)


class AtifFormat:
    """A trajectory: steps of the user and the agent, with calls and observations."""

    name = "ATIF trajectory"

    def recognises(self, value: object) -> bool:
        """Returns whether the value names an ATIF version."""
        version = value.get("schema_version") if isinstance(value, dict) else None
        return isinstance(version, str) and version.startswith("ATIF-")

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields the run, and the runs of its subagents.

        Raises:
            ContractError: The version is unknown, or a step has no known source.
        """
        if _VERSION.fullmatch(str(value["schema_version"])) is None:
            raise ContractError(f"{value['schema_version']} is not known; give ATIF-v1.0 to ATIF-v1.8")
        yield _read_trajectory(value)
        for child in as_list(value.get("subagent_trajectories")):
            yield _read_trajectory(as_object(child))


def _read_trajectory(value: JsonObject) -> RecordedRun:
    # Steps that were copied from an earlier trajectory are no work of this one.
    steps = [as_object(step) for step in as_list(value.get("steps"))]
    own = [step for step in steps if step.get("is_copied_context") is not True]
    run: dict[str, Any] = {
        "input": next((_read_text(step["message"]) for step in steps if step.get("source") == "user"), ""),
        "messages": [_read_message(step) for step in steps],
        "tool_calls": [call for step in own for call in _read_calls(step)],
        **_read_totals(value, own),
    }
    last = own[-1] if own else {}
    if last.get("source") == "agent" and not last.get("tool_calls"):
        run["final_output"] = _read_text(last.get("message"))
    ignored = [list_ignored(step, _READ_OF_STEPS, f"step {step.get('step_id')}") for step in own]
    warnings = (*list_ignored(value, _READ, "the trajectory"), *(text for texts in ignored for text in texts))
    name = value.get("trajectory_id") or value.get("session_id")
    return RecordedRun({**({"case_id": name} if name else {}), "agent_run": run}, warnings)


def _read_message(step: JsonObject) -> JsonObject:
    source = step.get("source")
    if source not in _ROLES:
        raise ContractError(
            f"step {step.get('step_id')} has the source {source!r}; give user, system or agent"
        )
    return {"role": _ROLES[str(source)], "content": _read_text(step.get("message"))}


def _read_calls(step: JsonObject) -> Iterator[JsonObject]:
    results = [as_object(each) for each in as_list(as_object(step.get("observation")).get("results"))]
    answers = {result.get("source_call_id"): result.get("content") for result in results}
    for call in map(as_object, as_list(step.get("tool_calls"))):
        named = {"name": call.get("function_name"), "args": call.get("arguments") or {}}
        answer = answers.get(call.get("tool_call_id"))
        yield named if answer is None else {**named, "result": _read_text(answer)}


def _read_text(content: object) -> str:
    parts = [as_object(part).get("text") for part in as_list(content)]
    return content if isinstance(content, str) else "\n".join(part for part in parts if isinstance(part, str))


def _read_totals(value: JsonObject, steps: Sequence[JsonObject]) -> JsonObject:
    final = as_object(value.get("final_metrics"))
    read, written = final.get("total_prompt_tokens"), final.get("total_completion_tokens")
    totals: dict[str, Any] = {}
    if isinstance(read, int) and isinstance(written, int):
        totals["total_tokens"] = read + written
    if isinstance(cost := final.get("total_cost_usd"), int | float):
        totals["cost_usd"] = cost
    times = [time for step in steps if isinstance(time := step.get("timestamp"), str)]
    if len(times) > 1:
        first, last = (datetime.fromisoformat(each) for each in (times[0], times[-1]))
        totals["latency_ms"] = 1000 * (last - first).total_seconds()
    model = as_object(value.get("agent")).get("model_name")
    return {**totals, **({"model": model} if isinstance(model, str) else {})}
