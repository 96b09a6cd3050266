"""The state of a run: plain JSON values only, so that any store can hold it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal, NotRequired, TypedDict

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

RunStatus = Literal["planning", "executing", "success", "failed"]
RecordStatus = Literal["pending_validation", "validated", "failed", "needs_review"]
FailureKind = Literal[
    "plan_invalid",
    "planner_error",
    "executor_error",
    "compressor_error",
    "monitor_error",
    "attempts_exhausted",
    "needs_review",
    "budget_exceeded",
    "timeout",
    "cancelled",
]


class Usage(TypedDict):
    """What was spent, as LangChain's callbacks reported it.

    Tokens are None, and ``token_source`` is "missing", where a model call reported none: a sum
    without it would be too small. ``cost_usd`` is None without a price for every model called.
    """

    model_calls: int
    failed_model_calls: int
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    token_source: Literal["measured", "missing"]
    cost_usd: float | None
    latency_ms: float


class ToolCallRecord(TypedDict):
    """One tool call that was carried out, in the order of their starts."""

    name: str
    args: Json
    result: str | None
    error: str | None
    latency_ms: float | None


class VerdictRecord(TypedDict):
    """The monitor's word on an execution."""

    success: bool
    feedback: str


class StepRecord(TypedDict):
    """One execution of one step; settled by the monitor."""

    step_index: int
    step: str
    attempt: int
    result: str
    status: RecordStatus
    verdict: VerdictRecord | None
    report: dict[str, Json] | None
    tool_calls: list[ToolCallRecord]
    usage: Usage
    judge_usage: Usage | None
    started_at: str
    error: str | None


class Failure(TypedDict):
    """Why a run ended as failed.

    ``message`` is one sentence; ``error_type`` the class of the exception behind it, if any.
    """

    kind: FailureKind
    message: str
    step_index: int | None
    error_type: str | None


def settle_records(current: Sequence[StepRecord], new: Sequence[StepRecord]) -> list[StepRecord]:
    """Reducer of ``results``: append a new execution, or settle the one of the same step and attempt."""
    settled = list(current)
    for record in new:
        at = _position(settled, record)
        if at is None:
            settled.append(record)
        else:
            settled[at] = record
    return settled


def _position(records: Sequence[StepRecord], wanted: StepRecord) -> int | None:
    for at in range(len(records) - 1, -1, -1):
        record = records[at]
        if record["step_index"] == wanted["step_index"] and record["attempt"] == wanted["attempt"]:
            return at
        if record["step_index"] < wanted["step_index"]:
            return None
    return None


class OrchestratorState(TypedDict):
    """What every node receives and ``run`` returns.

    ``attempts`` counts the failed executions of the current step; ``current_step_index`` moves on
    when a step is validated, and equals ``len(plan)`` after success.
    """

    task: str
    plan: list[str]
    current_step_index: int
    context: str
    results: Annotated[list[StepRecord], settle_records]
    attempts: int
    max_retries: int
    status: RunStatus
    failure: Failure | None
    usage: Usage


class RunInput(TypedDict):
    """What a run begins with."""

    task: str
    status: NotRequired[RunStatus]


class StateUpdate(TypedDict, total=False):
    """What a node returns: the fields that it changes."""

    task: str
    plan: list[str]
    current_step_index: int
    context: str
    results: list[StepRecord]
    attempts: int
    max_retries: int
    status: RunStatus
    failure: Failure | None
    usage: Usage


NO_USAGE: Final = Usage(
    model_calls=0,
    failed_model_calls=0,
    input_tokens=None,
    output_tokens=None,
    total_tokens=None,
    token_source="missing",  # noqa: S106 - tokens of text
    cost_usd=None,
    latency_ms=0.0,
)


def blank_state(task: str, max_retries: int) -> OrchestratorState:
    """The state before anything is done."""
    return OrchestratorState(
        task=task,
        plan=[],
        current_step_index=0,
        context="",
        results=[],
        attempts=0,
        max_retries=max_retries,
        status="planning",
        failure=None,
        usage=NO_USAGE,
    )


def last_refusal(state: OrchestratorState) -> StepRecord | None:
    """The latest execution of the current step, if it was refused."""
    if not state["attempts"] or not state["results"]:
        return None
    return state["results"][-1]


def with_result(context: str, step_index: int, step: str, result: str) -> str:
    """The context after a step was validated."""
    entry = f"Step {step_index + 1}: {step}\nResult: {result}"
    return f"{context}\n\n{entry}" if context else entry
