"""The state of a run: plain JSON values only, so that any store can hold it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import TYPE_CHECKING, Annotated, Final, Literal, NotRequired, TypeVar

from langgraph.channels import DeltaChannel
from typing_extensions import TypedDict

from orchestrator.state.records import AnswerWord, Commitment, SupervisionMode, SupervisionRecord

T = TypeVar("T")
if TYPE_CHECKING:
    Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
else:
    # Pydantic validates every stored run against these types; reports are large, and it need not enter them.
    Json = object

BRANCH: Final = "branch_node"
RunStatus = Literal["planning", "executing", "success", "failed"]
RecordStatus = Literal["pending_validation", "validated", "failed", "needs_review", "warning"]
FailureKind = Literal[
    "plan_invalid",
    "planner_error",
    "executor_error",
    "compressor_error",
    "monitor_error",
    "supervisor_error",
    "supervision_invalid",
    "contract_error",
    "evaluation_error",
    "attempts_exhausted",
    "needs_review",
    "halted",
    "denied",
    "budget_exceeded",
    "timeout",
    "cancelled",
]


class Usage(TypedDict):
    """Model calls with their tokens, costs and time, as LangChain's callbacks reported them.

    If a model call reported no tokens, the tokens are None and ``token_source`` is "missing", because a sum
    would be too small. ``cost_usd`` is None unless there is a price for every model called.
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
    """One tool call of an execution. Calls are in the order of their starts."""

    name: str
    args: Json
    result: str | None
    error: str | None
    latency_ms: float | None


class VerdictRecord(TypedDict):
    """The verdict of the monitor on an execution."""

    success: bool
    feedback: str


class StepRecord(TypedDict):
    """One execution of one step. The monitor and the supervision complete it.

    ``status`` is "warning" for the best of several failed executions, if the policy accepts it.
    ``judge_usage`` is the usage of evaluation and supervision. ``replan`` counts the re-plans before it.
    """

    step_index: int
    step: str
    attempt: int
    result: str
    status: RecordStatus
    verdict: VerdictRecord | None
    report: dict[str, Json] | None
    warnings: list[str]
    supervision: SupervisionRecord | None
    tool_calls: list[ToolCallRecord]
    usage: Usage
    judge_usage: Usage | None
    model: str | None
    transport_retries: int
    replan: int
    started_at: str
    error: str | None


class Retries(TypedDict):
    """Numbers of retries: of calls to a server, of executions of a step, of plans."""

    transport: int
    semantic: int
    replans: int


class JudgeCalls(TypedDict):
    """Numbers of evaluations that called a judge, and that deterministic checks decided alone."""

    made: int
    saved: int


class Question(TypedDict):
    """A question for a person about an execution. ``asked_at`` and ``deadline`` are in UTC.

    ``accepts`` lists the accepted answers. ``on_deadline`` replaces any answer that comes after the
    deadline. ``problem`` says why the answer before was refused.
    """

    id: str
    kind: Literal["supervision", "review", "agent"]
    step_index: int
    step: str
    attempt: int
    text: str
    output: str
    findings: list[str]
    accepts: list[AnswerWord]
    asked_at: str
    deadline: str | None
    on_deadline: Literal["approve", "deny"]
    problem: str | None


class Failure(TypedDict):
    """Why a run ended as failed.

    ``message`` is one sentence; ``error_type`` the class of the exception behind it, if any.
    """

    kind: FailureKind
    message: str
    step_index: int | None
    error_type: str | None


class Declared(TypedDict):
    """The declarations that come with a plan. They are stored once for each plan.

    ``run_id`` distinguishes the runs on a thread. For each step: the steps it needs (None: the step before),
    the planner's contract, and the supervision mode if a function gives one.
    """

    run_id: str
    needs: list[list[int]] | None
    contracts: list[dict[str, Json] | None] | None
    modes: list[SupervisionMode] | None


class Underway(TypedDict):
    """Values that one node hands to a later one.

    ``commitment`` is for the next execution, and ``committing`` is its usage. ``answer`` is not applied yet.
    ``replan`` is the reason for a re-plan. ``branch`` is the index of the step in the state of a branch.
    """

    commitment: Commitment | None
    committing: Usage | None
    answer: Json
    replan: str | None
    branch: int | None


class BranchEnd(TypedDict):
    """The outcome of one parallel step."""

    step_index: int
    results: list[StepRecord]
    usage: Usage
    retries: Retries
    judge_calls: JudgeCalls
    warnings: list[str]
    status: RunStatus
    failure: Failure | None
    replan: str | None
    attempts: int


def merge_records(current: Sequence[StepRecord], new: Sequence[StepRecord]) -> list[StepRecord]:
    """Reducer of ``results``: inserts records, and replaces records of the same step and attempt.

    The records are in the order of the plan; the records of a step are in the order of its executions.
    """
    merged = list(current)
    for record in new:
        position = _find_position(merged, record)
        if position > 0 and _sort_key(merged[position - 1]) == _sort_key(record):
            merged[position - 1] = record
        else:
            merged.insert(position, record)
    return merged


def _sort_key(record: StepRecord) -> tuple[int, int]:
    return record["step_index"], record["attempt"]


def _find_position(records: Sequence[StepRecord], record: StepRecord) -> int:
    """Returns the position after the last record that is not later."""
    position = len(records)
    # From the end: nearly every record belongs there.
    while position and _sort_key(records[position - 1]) > _sort_key(record):
        position -= 1
    return position


def merge_record_lists(
    current: Sequence[StepRecord], writes: Sequence[Sequence[StepRecord]]
) -> list[StepRecord]:
    """``merge_records`` for several updates in their order."""
    return merge_records(current, [record for write in writes for record in write])


def append_entries(context: str, entries: Sequence[str]) -> str:
    """Reducer of ``context``: adds the entries at the end."""
    return "\n\n".join(part for part in (context, *entries) if part)


def append_items(items: Sequence[str], writes: Sequence[Sequence[str]]) -> list[str]:
    """Reducer of ``warnings``: adds the items at the end."""
    return [*items, *(item for write in writes for item in write)]


def replace_value(_: T, writes: Sequence[T]) -> T:
    """Reducer of fields that are replaced: the latest value."""
    return writes[-1]


_MAX_DELTA: Final = 1_000_000
"""Updates between two full copies of a field in a store.

Fields that grow with the run are stored as their updates. With a full copy in every checkpoint, a store would
grow with the square of the steps. LangGraph stores a full copy every 5,000 supersteps in any case.
"""


class OrchestratorState(TypedDict):
    """The state that every node receives and ``run`` returns.

    ``attempts`` counts the failed executions of the current step. ``current_step_index`` grows when a step is
    validated, and equals ``len(plan)`` after success. ``question`` waits for an answer while ``status`` is
    "executing". ``replaced`` lists the steps that a re-plan removed.
    """

    task: str
    plan: Annotated[list[str], DeltaChannel(replace_value, list, snapshot_frequency=_MAX_DELTA)]
    declared: Annotated[Declared, DeltaChannel(replace_value, dict, snapshot_frequency=_MAX_DELTA)]
    replaced: list[int]
    current_step_index: int
    context: Annotated[str, DeltaChannel(append_entries, str, snapshot_frequency=_MAX_DELTA)]
    results: Annotated[
        list[StepRecord], DeltaChannel(merge_record_lists, list, snapshot_frequency=_MAX_DELTA)
    ]
    attempts: int
    max_retries: int
    retries: Retries
    judge_calls: JudgeCalls
    warnings: Annotated[list[str], DeltaChannel(append_items, list, snapshot_frequency=_MAX_DELTA)]
    question: Question | None
    underway: Underway
    branches: Annotated[list[BranchEnd], add]
    status: RunStatus
    failure: Failure | None
    usage: Usage


ADDED_TO: Final[tuple[Literal["plan", "declared", "context", "results", "warnings"], ...]] = (
    "plan",
    "declared",
    "context",
    "results",
    "warnings",
)
"""The fields that are stored as their updates. A single checkpoint does not contain them."""


class RunInput(TypedDict):
    """The input of the graph."""

    task: str
    status: NotRequired[RunStatus]


class StateUpdate(TypedDict, total=False):
    """The fields that a node changes; for context, results and warnings, only the new items."""

    task: str
    plan: list[str]
    declared: Declared
    replaced: list[int]
    current_step_index: int
    context: str
    results: list[StepRecord]
    attempts: int
    max_retries: int
    retries: Retries
    judge_calls: JudgeCalls
    warnings: list[str]
    question: Question | None
    underway: Underway
    branches: list[BranchEnd]
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
NOTHING_UNDERWAY: Final = Underway(commitment=None, committing=None, answer=None, replan=None, branch=None)


def blank_state(task: str, max_retries: int) -> OrchestratorState:
    """Builds the state of a run that has not begun."""
    return OrchestratorState(
        task=task,
        plan=[],
        declared=Declared(run_id="", needs=None, contracts=None, modes=None),
        replaced=[],
        current_step_index=0,
        context="",
        results=[],
        attempts=0,
        max_retries=max_retries,
        retries=Retries(transport=0, semantic=0, replans=0),
        judge_calls=JudgeCalls(made=0, saved=0),
        warnings=[],
        question=None,
        underway=NOTHING_UNDERWAY,
        branches=[],
        status="planning",
        failure=None,
        usage=NO_USAGE,
    )
