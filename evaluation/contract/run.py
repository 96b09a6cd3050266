"""The input models of a recorded run, and the run that a state of the orchestrator makes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, Self, TypeAlias, cast

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.config import JsonDict
from typing_extensions import TypedDict

from evaluation.checks.check_model import NOT_RUN_WORDS, NotRun
from evaluation.errors import ContractError
from evaluation.importers.imported_message import dump_messages
from evaluation.validation import InputModel, describe_errors, wrap_name
from evaluation.values import Count, JsonObject, Quantity, is_deep

CallOutcome = Literal["acted", "refused", "unknown", "stated", "reused", "denied"]
"""What a call of an acting tool did: ``stated`` is a person's word that it acted, ``reused`` the answer of an
earlier equal call, and ``denied`` a person's no."""
ActionKind = Literal["tool", "action", "handoff", "reasoning"]


class ToolCall(InputModel):
    """One observed action: a tool call by default, or a hand-off, a step of work, or reasoning."""

    name: str
    args: dict[str, object] | str | None = None
    """An object, or the JSON text that a model API recorded."""
    result: object = None
    """The answer of the tool."""
    error: bool | str | None = None
    """True, or the text of the error, if the call failed."""
    not_run: NotRun | None = None
    """Why the tool did not run, so that the call failed: a person denied it, a rule forbids it, or the same
    call may have had its effect before."""
    outcome: CallOutcome | None = None
    """What a call of an acting tool did. Default: what its answer says."""
    agent: str | None = None
    """The agent that acted."""
    target: str | None = None
    """The agent that a hand-off goes to."""
    kind: ActionKind = "tool"
    latency_ms: Quantity | None = None
    id: str | None = None
    message: Count | None = None
    """The number of the message that made the call; calls of one message are parallel."""


NamedCall: TypeAlias = Annotated[ToolCall, BeforeValidator(wrap_name, json_schema_input_type=str | ToolCall)]
"""A tool call, for which its name alone may be given."""


class Measured(InputModel):
    """The measured quantities of a run; absent means not measured, never 0."""

    latency_ms: Quantity | None = None
    call_latencies_ms: list[Quantity] | None = None
    """One value for each model call, in order."""
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    total_tokens: Count | None = None
    cost_usd: Quantity | None = None
    model_calls: Count | None = None
    retries: Count | None = None
    resources: dict[str, Quantity] | None = None
    """Custom quantities by name, with the unit in the name."""
    estimated: list[str] | None = None
    """The names of the quantities that are estimated, not measured."""
    model: str | None = None


class RunMetadata(Measured):
    """Measured quantities, and free labels such as prompt_version, environment or timestamp."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, object]


def _add_user_input(schema: JsonDict) -> None:
    """Say in JSON Schema that the input has two names."""
    fields = cast("JsonDict", schema["properties"])
    schema["properties"] = {**fields, "user_input": fields["input"]}


class AgentRun(Measured):
    """A recorded run: input, output, and the actions in between.

    It needs an output, an action, a message or an error: without any of them, there is nothing to evaluate.
    """

    model_config = ConfigDict(json_schema_extra=_add_user_input)

    input: Annotated[str, Field(validation_alias=AliasChoices("input", "user_input"))] = ""
    """The request of the user; ``user_input`` is another name of it."""
    final_output: str | None = None
    """The last answer; if absent, the text of the last message of the assistant, if the run has finished."""
    tool_calls: list[NamedCall] = Field(default_factory=list)
    """Names or objects, in the order of the calls; if absent, the calls that ``messages`` hold."""
    messages: Annotated[list[dict[str, object]], BeforeValidator(dump_messages)] = Field(default_factory=list)
    """The conversation, in any format that ``run_from_messages`` reads."""
    earlier_calls: list[ToolCall] = Field(default_factory=list)
    """Calls of earlier steps and attempts, which only the search for defects reads."""
    sources: list[str] = Field(default_factory=list)
    """Further texts that the output may take facts from, such as documents that the run was given."""
    error: str | None = None
    """The error that ended the run; such a run fails, whatever else was measured."""
    plan: list[str] | None = None
    """The names of the actions that the agent announced, in order."""
    acting_tools: list[str] = Field(default_factory=list)
    """The tools that change something, as the run itself says. It can only make the evaluation stricter: what
    only reads, the contract alone decides."""
    timestamps: dict[str, str | float] | list[str | float] | None = None
    """The times of the run and of its parts, as labels: no metric is computed from them."""
    metadata: RunMetadata | None = None

    @model_validator(mode="after")
    def _require_content(self) -> Self:
        # Whether a field is set counts: an empty list of calls says that the agent called no tool.
        if not self.model_fields_set & {"final_output", "tool_calls", "messages", "error"}:
            raise ValueError(
                "a run needs 'final_output', 'tool_calls', 'messages' or 'error'; add one of them"
            )
        return self


MEASURES: Final = frozenset(Measured.model_fields)


_ACCEPTED: Final = "give the state of a run, or the output of `orchestrator show THREAD --json`"
_NO_TEXT: Final = "an error without a text"
_MAX_QUANTITY: Final = 2**63
_MAX_DEPTH: Final = 64
"""Most levels of nesting of arguments as an object; the evaluation accepts 100 for a whole case."""
_TOKENS: Final = ("input_tokens", "output_tokens", "total_tokens")
_QUANTITIES: Final = (*_TOKENS, "latency_ms", "model_calls", "cost_usd")
_PROBLEMS: Final = 3
"""Most problems that an error names."""


class _ToolCall(TypedDict):
    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc] # as pydantic documents it

    name: str
    args: object


class _Record(BaseModel):
    tool_calls: list[_ToolCall]
    usage: dict[str, object]
    model: str | None
    started_at: str
    status: str = ""
    result: str = ""
    cut_off: str | None = None


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
    document = state if isinstance(state, dict) else {}
    run = _read_state(document.get("state", state))
    if run.status in ("planning", "executing"):
        raise ContractError(
            f"the run has not ended (its status is {run.status!r}); resume it to its end, or cancel it, first"
        )
    executed = [*run.results, *run.synthesis]
    records = sorted(run.results, key=lambda record: record.started_at) + run.synthesis
    accepted = [record for record in executed if record.status == "validated"]
    # A reused call had no effect: the call that it is answered from is in the run, too.
    made = [call for record in records for call in record.tool_calls if call.get("gate") != "reused"]
    stated = {
        "sources": [record.result for record in accepted[:-1] if record.result],
        "messages": _tell_cut_off(run, accepted),
        "model": _name_model(records),
    }
    return {
        "input": run.task,
        **convert_calls(made),
        "retries": sum(run.retries.values()),
        "metadata": _label_run(run, records, document.get("thread_id")),
        **{name: value for name, value in stated.items() if value},
        **_read_end(run),
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


def _tell_cut_off(run: _State, accepted: Sequence[_Record]) -> list[JsonObject]:
    """Return the messages that say that the output was cut off, if it was: it fails as it did in the run."""
    reason = accepted[-1].cut_off if accepted and run.output is not None else None
    end = {"role": "assistant", "content": run.output, "finish_reason": reason}
    return [] if reason is None else [{"role": "user", "content": run.task}, end]


def _name_model(records: Sequence[_Record]) -> str | None:
    """Return the model, by whose name prices are found, if the executor had only one."""
    names = {record.model for record in records}
    return names.pop() if len(names) == 1 else None


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
    args, error, outcome = call.get("received") or call.get("args"), call.get("error"), call.get("outcome")
    if error is None and call.get("result") is None:
        error, outcome = "the call had not ended when the step returned", outcome or "unknown"
    is_readable = args is None or (isinstance(args, dict) and not is_deep(args, _MAX_DEPTH))
    gate, latency_ms = call.get("gate"), call.get("latency_ms")
    return {
        "name": str(call["name"]),
        "args": args if is_readable else json.dumps(args, ensure_ascii=False),
        "result": call.get("result"),
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
