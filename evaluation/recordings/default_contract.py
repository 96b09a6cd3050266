"""The contract of a recorded run without a contract: what can be checked of any run."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from agents.parsing.outcomes import read_outcome, states_error
from agents.parsing.tool_names import guess_kind
from evaluation.values import JsonObject, as_list, as_object

_MOST_CHARACTERS: Final = 200


def build_default_contract(run: JsonObject) -> dict[str, object]:
    """Builds the fields of a contract for any run with calls of tools.

    The output may state only facts that stand in the task or in results, and claim no action of a tool whose
    calls all failed, by an error or by their answers; each such tool is a warning by itself. Credentials,
    cut replies, calls without an answer and repeated calls are found under any contract.

    Args:
        run: The fields of an ``agent_run``.

    Returns:
        ``checks``, or nothing if no call of the run has a result or an error.
    """
    calls = [call for call in map(as_object, as_list(run.get("tool_calls"))) if _is_name(call.get("name"))]
    done = [call for call in calls if call.get("result") is not None or call.get("error")]
    if not done:
        return {}
    names = [*dict.fromkeys(call["name"] for call in done)]
    acting = as_list(run.get("acting_tools"))
    answered = {call["name"] for call in done if not _has_failed(call, acting)}
    failed = [name for name in names if name not in answered]
    unmet = [{"check": "tool_calls", "tool": name, "min": 1, "severity": "warning"} for name in failed]
    return {"checks": [{"check": "sourced_facts", "tools": names}, *unmet]}


def _has_failed(call: JsonObject, acting: Collection[object]) -> bool:
    name, result = str(call["name"]), call.get("result")
    if call.get("error") or call.get("outcome") in {"refused", "denied"} or states_error(result):
        return True
    is_acting = name in acting or guess_kind(name) == "acting"
    return is_acting and read_outcome(name, result) == "refused"


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= _MOST_CHARACTERS
