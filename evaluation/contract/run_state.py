"""Makes a run of the state that the orchestrator returns, stores and prints."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NotRequired

from pydantic import BaseModel, Field, ValidationError
from typing_extensions import TypedDict

from evaluation.checks.check_model import NOT_RUN_WORDS
from evaluation.errors import ContractError
from evaluation.validation import describe_errors
from evaluation.values import JsonObject, as_object, is_deep

_ACCEPTED: Final = "give the state of a run, or the output of `orchestrator show THREAD --json`"
_NO_TEXT: Final = "an error without a text"
_NOT_ENDED: Final = "the call had not ended when the step returned"
_MAX_QUANTITY: Final = 2**63
_MAX_DEPTH: Final = 64
"""Most levels of nesting of arguments as an object; the evaluation accepts 100 for a whole case."""
_ACCEPTED_STATUSES: Final = ("validated", "warning")
_TOKENS: Final = ("input_tokens", "output_tokens", "total_tokens")
_QUANTITIES: Final = (*_TOKENS, "latency_ms", "model_calls", "cost_usd")
_PROBLEMS: Final = 3
"""Most problems that an error names."""


class _ToolCall(TypedDict):
    name: str
    args: object
    result: str | None
    error: str | None
    latency_ms: float | None
    gate: NotRequired[str | None]
    outcome: NotRequired[str | None]
    received: NotRequired[dict[str, object] | None]
    writes: NotRequired[bool]


class _Record(BaseModel):
    tool_calls: list[_ToolCall]
    usage: dict[str, object]
    model: str | None
    started_at: str
    status: str = ""
    result: str = ""
    cut_off: str | None = None
    probes: list[dict[str, object]] = Field(default_factory=list)


class _State(BaseModel):
    """The fields of a state that are read."""

    task: str
    status: Literal["planning", "executing", "success", "failed"]
    output: str | None
    basis: str | None = None
    failure: dict[str, object] | None
    results: list[_Record]
    synthesis: list[_Record] = Field(default_factory=list)
    retries: dict[str, int]
    usage: dict[str, object]


def run_from_state(state: Mapping[str, object]) -> JsonObject:
    """Convert a run of the orchestrator to an ``agent_run``.

    Args:
        state: What ``run``, ``resume`` or ``fork`` returned, the state of a stored run, the values of the
            graph, or the JSON object that ``orchestrator show THREAD --json`` prints.

    Returns:
        An ``agent_run`` with the task as input, the output of the run, the tool calls of all executions, also
        of the refused ones, in the order of their starts, without those that were answered from an earlier
        call (``"gate": "reused"``), the called tools that write by their annotations, and the tokens, cost in
        US dollars and milliseconds of the run. ``retries`` counts repeated calls of a server and repeated
        executions. A failed run has the message of its failure as ``error``, and no output. If the output was
        cut off, ``messages`` say so. ``sources`` has the results of the accepted steps before the output.

    Raises:
        ContractError: It is no state, a part of it is missing, or the run has not ended.
    """
    document = as_object(state)
    run = _read_state(document.get("state", state))
    if run.status in ("planning", "executing"):
        raise ContractError(
            f"the run has not ended (its status is {run.status!r}); resume it to its end, or cancel it, first"
        )
    records = sorted(run.results, key=lambda record: record.started_at) + run.synthesis
    return {
        "input": run.task,
        # A reused call had no effect: the call that it is answered from is in the run, too.
        **convert_calls(
            [call for record in records for call in record.tool_calls if call.get("gate") != "reused"]
        ),
        "retries": sum(run.retries.values()),
        "metadata": _label_run(run, records, document.get("thread_id")),
        **_list_probes(run),
        **_list_sources(run),
        **_read_end(run),
        **_tell_cut_off(run),
        **_name_model(records),
        **convert_usage(run.usage),
    }


def _read_state(value: object) -> _State:
    try:
        return _State.model_validate(value, strict=True)
    except ValidationError as error:
        problems = describe_errors(error, value, [*_State.model_fields], root="the state")
        raise ContractError(f"{'; '.join(problems[:_PROBLEMS])}; {_ACCEPTED}") from None


def _read_end(run: _State) -> JsonObject:
    output: JsonObject = {} if run.output is None else {"final_output": run.output}
    if run.status == "success":
        return output
    return {**output, "error": str((run.failure or {}).get("message") or _NO_TEXT)}


def _tell_cut_off(run: _State) -> JsonObject:
    """Return the messages that say that the output was cut off, if it was: it fails as it did in the run."""
    accepted = _list_accepted(run)
    reason = accepted[-1].cut_off if accepted and run.output is not None else None
    if reason is None:
        return {}
    end = {"role": "assistant", "content": run.output, "finish_reason": reason}
    return {"messages": [{"role": "user", "content": run.task}, end]}


def _list_accepted(run: _State) -> list[_Record]:
    return [each for each in (*run.results, *run.synthesis) if each.status in _ACCEPTED_STATUSES]


def _list_sources(run: _State) -> JsonObject:
    texts = [each.result for each in _list_accepted(run)[:-1] if each.result]
    return {"sources": texts} if texts else {}


def _list_probes(run: _State) -> JsonObject:
    """Return the answers of the tools that were asked after the last execution, if any was."""
    last = [*run.results, *run.synthesis][-1:]
    return {"probes": probes} if last and (probes := last[0].probes) else {}


def _name_model(records: Sequence[_Record]) -> JsonObject:
    """Return the model, by whose name prices are found, if the executor had only one."""
    names = {record.model for record in records}
    name = names.pop() if len(names) == 1 else None
    return {} if name is None else {"model": name}


def _label_run(run: _State, records: Sequence[_Record], thread_id: object) -> dict[str, object]:
    labels = {
        "timestamp": records[0].started_at if records else None,
        "status": run.status,
        "basis": run.basis,
        "thread_id": thread_id if isinstance(thread_id, str) else None,
    }
    return {name: label for name, label in labels.items() if label is not None}


def convert_calls(calls: Sequence[Mapping[str, object]]) -> JsonObject:
    """Convert recorded tool calls to ``tool_calls`` and, if there are any, ``acting_tools`` of a run."""
    writing = [*dict.fromkeys(str(call["name"]) for call in calls if call.get("writes"))]
    converted: JsonObject = {"tool_calls": [_convert_call(call) for call in calls]}
    return {**converted, "acting_tools": writing} if writing else converted


def _convert_call(call: Mapping[str, object]) -> JsonObject:
    """Convert a recorded tool call of the orchestrator to one of an ``agent_run``.

    Its arguments are those that the tool received, which may differ from those that the model wrote.
    """
    args = call.get("received") or call["args"]
    error = call["error"]
    outcome = call.get("outcome")
    if error is None and call["result"] is None:
        error, outcome = _NOT_ENDED, outcome or "unknown"
    is_readable = args is None or (isinstance(args, dict) and not is_deep(args, _MAX_DEPTH))
    gate, latency_ms = call.get("gate"), call["latency_ms"]
    return {
        "name": str(call["name"]),
        "args": args if is_readable else json.dumps(args, ensure_ascii=False),
        "result": call["result"],
        # An empty text would count as no error.
        "error": None if error is None else str(error) or _NO_TEXT,
        **({"not_run": gate} if gate in NOT_RUN_WORDS else {}),
        **({"outcome": outcome} if outcome else {}),
        **({"latency_ms": latency_ms} if _is_quantity(latency_ms) else {}),
    }


def convert_usage(usage: Mapping[str, object]) -> JsonObject:
    """Convert the usage of a run or of an execution; an unmeasured or impossible value is absent."""
    values = {name: value for name in _QUANTITIES if _is_quantity(value := usage.get(name))}
    return {name: value for name, value in values.items() if value or name != "model_calls"}


def _is_quantity(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MAX_QUANTITY
