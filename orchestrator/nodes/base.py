"""What the nodes share."""

from __future__ import annotations

from typing import Final, Protocol, cast

from langgraph.runtime import Runtime
from langgraph.types import StreamWriter

from orchestrator.errors import ContractFunctionError
from orchestrator.judging.contracts import Contracts
from orchestrator.judging.verdict import failed, no_verdict
from orchestrator.retry.outcome import add_transport_retries
from orchestrator.runtime.call import Spent
from orchestrator.runtime.context import RunContext
from orchestrator.runtime.events import StepJudged, StepRetried
from orchestrator.settings import Settings
from orchestrator.state.current_step import correction_of, current_step
from orchestrator.state.graph_state import NO_USAGE, OrchestratorState, StateUpdate, StepRecord, Usage
from orchestrator.state.usage import add_usage


class Node(Protocol):
    """A node of the graph."""

    async def __call__(self, state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        """Return the fields that change."""
        ...


def context_of(runtime: Runtime[RunContext], settings: Settings) -> RunContext:
    """The run's context; a new one where the compiled graph is invoked by itself, as in a studio.

    In the latter case bounds on the time of the whole run and of a step do not hold.
    """
    return runtime.context or settings.new_context("")


def saving(node: Node) -> Node:
    """The node, whose update leaves out what stays as it is: each field written is a row in a store."""

    async def frugal(state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        update = await node(state, runtime)
        new = {name: value for name, value in update.items() if _tells(state, name, value)}
        return cast("StateUpdate", new)

    return frugal


_ADDED: Final = frozenset({"context", "results", "warnings", "branches"})


def _tells(state: OrchestratorState, name: str, value: object) -> bool:
    if name in _ADDED:
        return bool(value)
    return name not in state or cast("dict[str, object]", state)[name] != value


def counted(state: OrchestratorState, spent: Spent) -> StateUpdate:
    """The run's totals after a call."""
    return {
        "usage": add_usage(state["usage"], spent.usage),
        "retries": add_transport_retries(state["retries"], spent.transport_retries),
    }


def bounded(update: StateUpdate, run: RunContext, step_index: int) -> StateUpdate:
    """The update after a call, unless the run goes on and has spent more than it may."""
    reason = run.budget.find_excess(update["usage"])
    if reason is None or update.get("status", "executing") != "executing":
        return update
    return {**update, "question": None, **failed("budget_exceeded", reason, step_index)}


def judged_by(record: StepRecord, usage: Usage) -> StepRecord:
    """The execution after a call that judged or supervised it."""
    return {**record, "judge_usage": add_usage(record["judge_usage"] or NO_USAGE, usage)}


def announce(write: StreamWriter, thread_id: str, update: StateUpdate) -> None:
    """Emit what an update says: the verdict on each settled execution, and that one is tried again."""
    settled = [record for record in update.get("results", []) if record["status"] != "pending_validation"]
    for record in settled:
        verdict = record["verdict"] or no_verdict("none was recorded")
        write(StepJudged(thread_id=thread_id, record=record, verdict=verdict))
    if settled and update.get("status") is None and "underway" not in update:
        write(_retried(thread_id, settled[-1]))


def _retried(thread_id: str, record: StepRecord) -> StepRetried:
    feedback = record["verdict"]["feedback"] if record["verdict"] else ""
    return StepRetried(
        thread_id=thread_id,
        step_index=record["step_index"],
        attempt=record["attempt"] + 1,
        feedback=correction_of(record) or feedback,
    )


def without_contract(contracts: Contracts, state: OrchestratorState) -> StateUpdate | None:
    """The failure of such a step, before it costs anything; None where there is a contract."""
    try:
        contracts.of(state)
    except ContractFunctionError as error:
        return failed("contract_error", str(error), current_step(state)[0], error)
    return None
