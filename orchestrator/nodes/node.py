"""What the nodes share."""

from __future__ import annotations

from typing import Final, Protocol, cast

from langgraph.runtime import Runtime

from orchestrator.runtime.context import RunContext
from orchestrator.settings import Settings
from orchestrator.state.graph_state import OrchestratorState, StateUpdate


class Node(Protocol):
    """A node of the graph."""

    async def __call__(self, state: OrchestratorState, runtime: Runtime[RunContext]) -> StateUpdate:
        """Return the fields that change."""
        ...


def context_of(runtime: Runtime[RunContext], settings: Settings) -> RunContext:
    """The run's context; a new one where the compiled graph is invoked by itself, as in a studio.

    In the latter case bounds on the time of the whole run and of a step do not hold.
    """
    return runtime.context or new_context("", settings)


def new_context(thread_id: str, settings: Settings, *, interruptible: bool = True) -> RunContext:
    """The context of a run that begins now."""
    return RunContext(
        thread_id=thread_id,
        budget=settings.budget,
        transport=settings.retry_policy.transport,
        call_timeout=settings.call_timeout,
        step_timeout=settings.step_timeout,
        interruptible=interruptible,
        now=settings.now,
    )


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
