"""The state of a run: plain JSON values only, so that any store can hold it, and how updates change it."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Annotated, Any, Final, Literal, NotRequired, TypeAlias, TypeVar, cast, get_args

from langgraph.channels import DeltaChannel
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from orchestrator.state.records import (
    NO_USAGE,
    Attempt,
    Basis,
    CallOrigin,
    Commitment,
    DerivedContract,
    EffectRecord,
    EvidenceSummary,
    Json,
    Question,
    SupervisionMode,
    Usage,
)

read_place: Final = itemgetter("step_index", "attempt")
"""Returns the step and the attempt of an execution, or of the execution that an effect belongs to."""
T = TypeVar("T")
N = TypeVar("N", int, float)


def merge_records(current: Sequence[Attempt], writes: Sequence[Sequence[Attempt]]) -> list[Attempt]:
    """Reducer of ``results``: inserts records, and replaces records of the same step and attempt.

    The records are in the order of the plan; the records of a step are in the order of its executions.
    """
    records = [*current]
    for record in chain.from_iterable(writes):
        place = read_place(record)
        first, last = (find(records, place, key=read_place) for find in (bisect_left, bisect_right))
        records[first:last] = [record]
    return records


def read_origin(record: Attempt) -> CallOrigin:
    """Returns the step and the attempt of an execution by their names, as the records of calls have them."""
    return CallOrigin(step_index=record["step_index"], attempt=record["attempt"])


def append_entries(context: str, entries: Sequence[str]) -> str:
    """Reducer of ``context``: adds the entries at the end."""
    return "\n\n".join(part for part in (context, *entries) if part)


def append_items(items: Sequence[str], writes: Sequence[Sequence[str]]) -> list[str]:
    """Reducer of ``warnings``: adds the items at the end."""
    return [*items, *(item for write in writes for item in write)]


def replace_value(_: T, writes: Sequence[T]) -> T:
    """Reducer of fields that are replaced: the latest value."""
    return writes[-1]


COPIED_CALL: Final = "the run that was copied called "
"""How a warning of a forked run begins, before the name of the tool that acted in the run before."""
EXECUTOR: Final = "executor_node"
MONITOR: Final = "monitor_node"
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
    """The contracts that were derived from the task and from each step; None for a step without one."""

    output: DerivedContract
    steps: list[DerivedContract | None]


class Declared(TypedDict):
    """The declarations that come with a plan. They are stored once for each plan.

    ``run_id`` distinguishes the runs on a thread. ``modes`` has the supervision mode of each step (None: the
    orchestrator's). ``derived`` has the contracts that were derived from the task.
    """

    run_id: str
    modes: list[SupervisionMode | None] | None
    derived: NotRequired[DerivedContracts]


class Underway(TypedDict):
    """Values that one node hands to a later one.

    ``commitment`` is for the next execution, and ``committing`` is its usage. ``answer`` is not applied yet.
    ``replan`` is the reason for a re-plan.
    """

    commitment: Commitment | None
    committing: Usage | None
    answer: Json
    replan: str | None


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
    results: Annotated[list[Attempt], DeltaChannel(merge_records, list, snapshot_frequency=_MAX_DELTA)]
    synthesis: Annotated[list[Attempt], DeltaChannel(merge_records, list, snapshot_frequency=_MAX_DELTA)]
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
    status: RunStatus
    failure: Failure | None
    usage: Usage


GROWING: Final = ("context", "results", "synthesis", "warnings")
"""The fields whose reducer adds an update to the value before."""


class RunInput(TypedDict):
    """The input of the graph."""

    task: str
    status: NotRequired[RunStatus]


StateUpdate: TypeAlias = dict[str, Any]
"""The fields of ``OrchestratorState`` that a node changes; of those in ``GROWING``, only the new items."""

NOTHING_UNDERWAY: Final = Underway(commitment=None, committing=None, answer=None, replan=None)


def blank_state(task: str, max_retries: int) -> OrchestratorState:
    """Builds the state of a run that has not begun."""
    return OrchestratorState(
        task=task,
        plan=[],
        declared=Declared(run_id="", modes=None),
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
        status="planning",
        failure=None,
        usage=NO_USAGE,
    )


SCHEMA_VERSION: Final = 2
"""The version of the stored form. Raise it with a change that this program could not read before."""

SCHEMA: Final = "orchestrator_schema"
STARTED: Final = "orchestrator_started"


def add_usage(first: Usage, second: Usage) -> Usage:
    """Adds two usages. If one of them lacks a number, the sum lacks it, too."""
    # A usage without any reply has no tokens to report, so that its None says nothing about the sum.
    known = [usage for usage in (first, second) if usage["model_calls"] > usage["failed_model_calls"]]
    total = _sum_known([usage["total_tokens"] for usage in known])
    return Usage(
        model_calls=first["model_calls"] + second["model_calls"],
        failed_model_calls=first["failed_model_calls"] + second["failed_model_calls"],
        input_tokens=_sum_known([usage["input_tokens"] for usage in known]),
        output_tokens=_sum_known([usage["output_tokens"] for usage in known]),
        total_tokens=total,
        token_source="missing" if total is None else "measured",
        cost_usd=_sum_known([usage["cost_usd"] for usage in known]),
        latency_ms=first["latency_ms"] + second["latency_ms"],
    )


def sum_usage(record: Attempt) -> Usage:
    """Returns the usage of an execution and of its evaluation."""
    return add_usage(record["usage"], record["judge_usage"] or NO_USAGE)


def _sum_known(values: list[N | None]) -> N | None:
    """Adds the values, or returns None if one of them is missing or there are none."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def is_answer_due(state: OrchestratorState) -> bool:
    """Returns whether all steps are done, so that only the final answer can be under way."""
    return 0 < len(state["plan"]) <= state["current_step_index"]


def current_step(state: OrchestratorState) -> tuple[int, str]:
    """Returns the index of the current step and its text; of the final answer, ``len(plan)`` and the task."""
    index = state["current_step_index"]
    return index, state["task"] if is_answer_due(state) else state["plan"][index]


def list_records(state: OrchestratorState) -> list[Attempt]:
    """Returns all executions of the run: of its steps, and of the final answer."""
    return [*state["results"], *state["synthesis"]]


def current_records(state: OrchestratorState) -> list[Attempt]:
    """Returns the executions of the current step or of the final answer, in their order."""
    return list_executions(state, state["current_step_index"])


def list_executions(state: OrchestratorState, index: int) -> list[Attempt]:
    """Returns the executions of the step with this index, or of the final answer, in their order."""
    records, step = list_records(state), itemgetter("step_index")
    return records[bisect_left(records, index, key=step) : bisect_right(records, index, key=step)]


def records_field(state: OrchestratorState) -> Literal["results", "synthesis"]:
    """Returns the name of the field with the executions of the current step or of the final answer."""
    return "synthesis" if is_answer_due(state) else "results"


def apply_update(state: OrchestratorState, update: StateUpdate) -> OrchestratorState:
    """Returns the state after an update with further executions."""
    results = merge_records(state["results"], [update.get("results", [])])
    synthesis = merge_records(state["synthesis"], [update.get("synthesis", [])])
    return cast("OrchestratorState", {**state, **update, "results": results, "synthesis": synthesis})


def overwrite_growing(state: StateUpdate) -> StateUpdate:
    """Returns the update that replaces a whole state: the reducers would add to the values before."""
    return {**state, **{name: Overwrite(state[name]) for name in GROWING}}


def list_accepted(records: Sequence[Attempt]) -> list[Attempt]:
    """Returns the accepted execution of each step, in the order of the plan."""
    return [record for record in records if record["status"] == "validated"]


def read_basis_reason(state: OrchestratorState) -> str:
    """Returns the basis of the output of a run in words; empty without an output."""
    accepted = list_accepted(list_records(state))
    has_output = state["status"] == "success" or state["basis"] is not None
    return accepted[-1].get("basis_reason", "") if accepted and has_output else ""


def lacks_report(state: OrchestratorState) -> bool:
    """Returns whether the latest execution of the current step has no report yet."""
    records = current_records(state)
    return bool(records) and records[-1]["report"] is None


def supervision_mode(state: OrchestratorState, default: SupervisionMode) -> SupervisionMode:
    """Returns the supervision mode of the current step; nobody supervises the final answer."""
    if is_answer_due(state):
        return "none"
    modes = state["declared"]["modes"]
    return (modes[state["current_step_index"]] if modes is not None else None) or default


def list_corrections(records: Sequence[Attempt]) -> list[str]:
    """Returns the corrections by supervisors and people, over all executions of a step."""
    return [text for record in records if (text := read_correction(record))]


def read_correction(record: Attempt) -> str | None:
    """Returns the correction that an execution was sent back with, or None if it was not sent back."""
    supervision = record["supervision"]
    if supervision is None:
        return None
    answer, verdict = supervision["answer"], supervision["verdict"]
    # A person decides after the supervisor, so the answer replaces the verdict.
    if answer is not None:
        return answer["text"] if answer["answer"] == "correct" else None
    return verdict["correction"] if verdict is not None and verdict["verdict"] == "reorient" else None


def find_derived_output(state: OrchestratorState) -> DerivedContract | None:
    """Returns the contract that was derived from the task for the final output; None if nothing was."""
    derived = state["declared"].get("derived")
    return None if derived is None else derived["output"]
