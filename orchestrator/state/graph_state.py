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
else:  # whoever checks a stored run looks only at what is read of it: reports are large
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
    """One execution of one step; settled by the monitor, and by whoever supervises.

    ``status`` is "warning" for the best of several failed executions that was kept all the same.
    ``judge_usage`` is that of the judging and of the supervision. ``replan`` counts the re-plans before it.
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
    """What was done again, by its kind: calls of a server, executions of a step, plans."""

    transport: int
    semantic: int
    replans: int


class JudgeCalls(TypedDict):
    """In how many evaluations a judge was asked, and in how many the deterministic checks sufficed."""

    made: int
    saved: int


class Question(TypedDict):
    """What a person is asked about an execution; ``deadline`` is UTC, as ``asked_at``.

    ``accepts`` are the answers that are taken. After the deadline the answer is ``on_deadline``, whoever
    resumes the run. ``problem`` says why the answer before was refused.
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
    """What was settled with the plan, and is stored once.

    ``run_id`` tells this run from others on its thread. By step: what each needs (None: the one before
    it), the planner's contracts, and the modes of supervision where a function gives them.
    """

    run_id: str
    needs: list[list[int]] | None
    contracts: list[dict[str, Json] | None] | None
    modes: list[SupervisionMode] | None


class Underway(TypedDict):
    """What lies between two nodes.

    The commitment to the execution to come with what it cost, an answer that is not applied yet, why the
    rest is planned again, and of which step alone this is the state (in a parallel branch).
    """

    commitment: Commitment | None
    committing: Usage | None
    answer: Json
    replan: str | None
    branch: int | None


class BranchEnd(TypedDict):
    """How one of several parallel steps ended."""

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
    """Reducer of ``results``: put an execution in its place, or settle the one of that step and attempt.

    The records are in the order of the plan, those of a step in the order of its executions.
    """
    settled = list(current)
    for record in new:
        at = _place(settled, record)
        if at > 0 and _key(settled[at - 1]) == _key(record):
            settled[at - 1] = record
        else:
            settled.insert(at, record)
    return settled


def _key(record: StepRecord) -> tuple[int, int]:
    return record["step_index"], record["attempt"]


def _place(records: Sequence[StepRecord], wanted: StepRecord) -> int:
    """After the last record that is not later."""
    at = len(records)
    while at and _key(records[at - 1]) > _key(wanted):
        at -= 1
    return at


def merge_record_lists(
    current: Sequence[StepRecord], writes: Sequence[Sequence[StepRecord]]
) -> list[StepRecord]:
    """``settle_records`` for several updates in their order."""
    return merge_records(current, [record for write in writes for record in write])


def append_entries(context: str, entries: Sequence[str]) -> str:
    """Reducer of ``context``: what is written is added at the end."""
    return "\n\n".join(part for part in (context, *entries) if part)


def append_items(items: Sequence[str], writes: Sequence[Sequence[str]]) -> list[str]:
    """Reducer of ``warnings``: what is written is added at the end."""
    return [*items, *(item for write in writes for item in write)]


def replace_value(_: T, writes: Sequence[T]) -> T:
    """Reducer of what is replaced as a whole."""
    return writes[-1]


_RARELY: Final = 1_000_000
"""Updates between two whole copies in a store. What grows with the run is stored as what was added to it:
a store that keeps every value with every checkpoint would grow with the square of the steps."""


class OrchestratorState(TypedDict):
    """What every node receives and ``run`` returns.

    ``attempts`` counts the failed executions of the current step; ``current_step_index`` moves on
    when a step is validated, and equals ``len(plan)`` after success. ``question`` waits for an answer
    while ``status`` is "executing". ``replaced`` are the steps that a re-plan gave up.
    """

    task: str
    plan: Annotated[list[str], DeltaChannel(replace_value, list, snapshot_frequency=_RARELY)]
    declared: Annotated[Declared, DeltaChannel(replace_value, dict, snapshot_frequency=_RARELY)]
    replaced: list[int]
    current_step_index: int
    context: Annotated[str, DeltaChannel(append_entries, str, snapshot_frequency=_RARELY)]
    results: Annotated[list[StepRecord], DeltaChannel(merge_record_lists, list, snapshot_frequency=_RARELY)]
    attempts: int
    max_retries: int
    retries: Retries
    judge_calls: JudgeCalls
    warnings: Annotated[list[str], DeltaChannel(append_items, list, snapshot_frequency=_RARELY)]
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
"""The fields that are stored as what was added to them; no single checkpoint has them."""


class RunInput(TypedDict):
    """What a run begins with."""

    task: str
    status: NotRequired[RunStatus]


class StateUpdate(TypedDict, total=False):
    """What a node returns: the fields that it changes; of context, results and warnings what is new."""

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
    """The state before anything is done."""
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
