"""The state of a run: plain JSON values only, so that any store can hold it, and how updates change it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from operator import add
from typing import Annotated, Any, Final, Literal, NotRequired, TypeVar, cast, get_args

from langgraph.channels import DeltaChannel
from typing_extensions import TypedDict

from evaluation.sensitive.scanner import shorten
from orchestrator.errors import BrokenRunError, OrchestratorError
from orchestrator.state.plain_values import format_one_line, format_repr
from orchestrator.state.records import (
    NO_USAGE,
    Attempt,
    Basis,
    Commitment,
    DerivedContract,
    EffectRecord,
    EvidenceSummary,
    Json,
    Question,
    SupervisionMode,
    Usage,
)

T = TypeVar("T")


def merge_records(current: Sequence[Attempt], new: Sequence[Attempt]) -> list[Attempt]:
    """Reducer of ``results``: inserts records, and replaces records of the same step and attempt.

    The records are in the order of the plan; the records of a step are in the order of its executions.
    """
    records = {(record["step_index"], record["attempt"]): record for record in (*current, *new)}
    return [records[key] for key in sorted(records)]


def merge_record_lists(current: Sequence[Attempt], writes: Sequence[Sequence[Attempt]]) -> list[Attempt]:
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


BRANCH: Final = "branch_node"
SYNTHESIS: Final = "synthesis_node"
EXECUTOR: Final = "executor_node"
JOIN: Final = "join_node"
MONITOR: Final = "monitor_node"
BRANCH_MONITOR: Final = "branch_monitor_node"
ANSWER_MONITOR: Final = "answer_monitor_node"
RunStatus = Literal["planning", "executing", "success", "failed"]
StoredStatus = Literal["planning", "executing", "interrupted", "waiting", "success", "failed", "unreadable"]
"""The status of a stored run; ``RunSummary`` explains each."""
STATUSES: Final[tuple[StoredStatus, ...]] = get_args(StoredStatus)
UNDERWAY: Final[frozenset[StoredStatus]] = frozenset({"planning", "executing"})
ENDED: Final[frozenset[StoredStatus]] = frozenset({"success", "failed"})
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
    "unwanted_effect",
    "needs_review",
    "halted",
    "denied",
    "budget_exceeded",
    "timeout",
    "recursion_limit",
    "cancelled",
    "unverified",
]


class Retries(TypedDict):
    """Numbers of retries: of calls to a server, of executions of a step, of plans."""

    transport: int
    semantic: int
    replans: int


class JudgeCalls(TypedDict):
    """Numbers of evaluations that called a judge, and that deterministic checks decided alone."""

    made: int
    saved: int


class Failure(TypedDict):
    """Why a run ended as failed.

    ``message`` is one sentence, which counts steps from 1; ``step_index`` counts from 0. ``error_type`` is
    the class of the exception behind it, if any.
    """

    kind: FailureKind
    message: str
    step_index: int | None
    error_type: str | None


class DerivedContracts(TypedDict):
    """The contracts that were derived from the task and from the text of each step; None if there is none."""

    output: DerivedContract | None
    steps: list[DerivedContract | None]


class Declared(TypedDict):
    """The declarations that come with a plan. They are stored once for each plan.

    ``run_id`` distinguishes the runs on a thread. For each step: the steps it needs (None: the step before),
    and the supervision mode (None: the orchestrator's). ``outline`` describes the
    whole plan in the state of a branch, whose own plan holds one step; ``count`` is the number of its steps.
    ``derived`` has the contracts that were derived from the task.
    """

    run_id: str
    needs: list[list[int]] | None
    modes: list[SupervisionMode | None] | None
    outline: NotRequired[str]
    count: NotRequired[int]
    derived: NotRequired[DerivedContracts]


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


_MAX_DELTA: Final = 1_000_000
"""Updates between two full copies of a field in a store.

Fields that grow with the run are stored as their updates. With a full copy in every checkpoint, a store would
grow with the square of the steps. LangGraph stores a full copy every 5,000 supersteps in any case.
"""


class OrchestratorState(TypedDict):
    """The state that every node receives and ``run`` returns.

    ``attempts`` counts the failed executions of the current step. ``current_step_index`` counts from 0. It
    grows when a step is validated, and equals ``len(plan)`` after success. ``question`` waits for an answer
    while ``status`` is "executing". ``replaced`` lists the indexes of steps that a re-plan removed.

    ``output`` is the answer of a run that succeeded: the result of its only step, or what the executor wrote
    from the results of several. ``synthesis`` has a record for each attempt to write it, with the index
    ``len(plan)``; these are no steps, so that ``results`` and ``current_step_index`` do not count them.

    ``branches`` has the last states of parallel steps until they are joined.

    ``effects`` has the calls of tools that act, in the order of ``results``.

    ``basis`` is what the success of the run rests on: the basis of its output. None before the end, and after
    a failure of any kind but "unverified". ``evidence`` says by what the form, the content and the actions of
    the output are known.
    """

    task: str
    plan: Annotated[list[str], DeltaChannel(replace_value, list, snapshot_frequency=_MAX_DELTA)]
    declared: Annotated[Declared, DeltaChannel(replace_value, dict, snapshot_frequency=_MAX_DELTA)]
    replaced: list[int]
    current_step_index: int
    context: Annotated[str, DeltaChannel(append_entries, str, snapshot_frequency=_MAX_DELTA)]
    results: Annotated[list[Attempt], DeltaChannel(merge_record_lists, list, snapshot_frequency=_MAX_DELTA)]
    synthesis: Annotated[list[Attempt], DeltaChannel(merge_record_lists, list, snapshot_frequency=_MAX_DELTA)]
    effects: list[EffectRecord]
    output: str | None
    basis: Basis | None
    evidence: NotRequired[EvidenceSummary | None]
    attempts: int
    max_retries: int
    retries: Retries
    judge_calls: JudgeCalls
    warnings: Annotated[list[str], DeltaChannel(append_items, list, snapshot_frequency=_MAX_DELTA)]
    question: Question | None
    underway: Underway
    branches: Annotated[list[dict[str, Any]], add]
    status: RunStatus
    failure: Failure | None
    usage: Usage


GROWING: Final = ("context", "results", "synthesis", "warnings", "branches")
"""The fields whose reducer adds an update to the value before."""


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
    results: list[Attempt]
    synthesis: list[Attempt]
    effects: list[EffectRecord]
    output: str | None
    basis: Basis | None
    evidence: EvidenceSummary | None
    attempts: int
    max_retries: int
    retries: Retries
    judge_calls: JudgeCalls
    warnings: list[str]
    question: Question | None
    underway: Underway
    branches: list[dict[str, Any]]
    status: RunStatus
    failure: Failure | None
    usage: Usage


NOTHING_UNDERWAY: Final = Underway(commitment=None, committing=None, answer=None, replan=None, branch=None)


def blank_state(task: str, max_retries: int) -> OrchestratorState:
    """Builds the state of a run that has not begun."""
    return OrchestratorState(
        task=task,
        plan=[],
        declared=Declared(run_id="", needs=None, modes=None),
        replaced=[],
        current_step_index=0,
        context="",
        results=[],
        synthesis=[],
        effects=[],
        output=None,
        basis=None,
        evidence=None,
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


SCHEMA_VERSION: Final = 2
"""The version of the stored form. Raise it with a change that this program could not read before."""

SCHEMA: Final = "orchestrator_schema"
STARTED: Final = "orchestrator_started"


def schema_problem(thread_id: str, metadata: object) -> str | None:
    """Returns why this version cannot read a stored run, or None if it can."""
    version = cast("Mapping[str, object]", metadata or {}).get(SCHEMA)
    if version == SCHEMA_VERSION:
        return None
    return (
        f"thread {format_repr(thread_id, 80)} was stored by another version of this program (form "
        f"{format_repr(version, 40)}, this one reads {SCHEMA_VERSION}); use the version that began the run"
    )


def parse_time(value: object) -> datetime | None:
    """Parses an ISO 8601 time to UTC. Returns None if it is not a time, or has no time zone."""
    try:
        time = datetime.fromisoformat(str(value))
        return None if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@contextmanager
def convert_read_errors(thread_id: str) -> Iterator[None]:
    """Reports a thread as broken if code in the block fails on stored values.

    LangGraph and the reducers rely on the form of what they read, and a store can hold anything.

    Raises:
        BrokenRunError: In place of the errors that malformed values cause.
    """
    try:
        yield
    except OrchestratorError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise broken_run(thread_id, f"{type(error).__name__}: {format_one_line(error)}") from error


def broken_run(thread_id: str, problem: str) -> BrokenRunError:
    """Builds the error of a run that cannot be read."""
    return BrokenRunError(
        f"thread {format_repr(thread_id, 80)} holds a state that is broken ({shorten(problem, 200)}); "
        "restore it, or delete the run"
    )
