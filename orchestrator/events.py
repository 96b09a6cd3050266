"""The events of a run, which ``stream`` yields and hooks get."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from orchestrator.errors import ConfigurationError
from orchestrator.state import records
from orchestrator.state.graph_state import DerivedContracts, OrchestratorState, RunStatus
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import Usage

StreamingAgent = Literal["planner", "executor"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base class of all events.

    Attributes:
        thread_id: Thread of the run.
    """

    thread_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """A run starts."""

    task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(Event):
    """The planner returned a plan.

    Attributes:
        plan: The texts of the steps.
        usage: Usage of the planner, and of the writer of contracts.
        derived: The contracts that were derived from the task and from the steps; None if none were.
    """

    plan: tuple[str, ...]
    usage: Usage
    derived: DerivedContracts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted(Event):
    """An execution of a step starts; ``step_index`` counts from 0, ``attempt`` from 1."""

    step_index: int
    step: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStreamed(Event):
    """A model wrote a piece of text. These events come only if a stream asks for them with ``tokens=True``.

    Attributes:
        agent: The agent that called the model.
        step_index: Index of the step, from 0; None for the planner.
        text: The piece, as the model sent it. The pieces of a planner are parts of its JSON.
    """

    agent: StreamingAgent
    step_index: int | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(Event):
    """An agent called a tool; ``call`` has neither a result nor an error yet.

    ``step_index`` counts from 0 and is None for the planner.
    """

    step_index: int | None
    call: records.ToolCallRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnded(Event):
    """A tool call ended with a result or an error; ``step_index`` as in ``ToolStarted``."""

    step_index: int | None
    call: records.ToolCallRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExecuted(Event):
    """An execution ended with a result or an error. It has no verdict yet."""

    record: records.Attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class StepJudged(Event):
    """An execution has its verdict."""

    record: records.Attempt
    verdict: records.VerdictRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRetried(Event):
    """A failed step will be executed again.

    Attributes:
        step_index: Index of the step, from 0.
        attempt: Number of the next execution, from 1.
        feedback: Why the last one failed.
        decision: The strategy of the next one, and why it was chosen.
    """

    step_index: int
    attempt: int
    feedback: str
    decision: records.DecisionRecord | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replanned(Event):
    """The rest of the task has a new plan.

    Attributes:
        plan: All steps of the run, old and new.
        replaced: Indices of the steps that this or an earlier new plan replaced.
        usage: Usage of the planner.
    """

    plan: tuple[str, ...]
    replaced: tuple[int, ...]
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed(Event):
    """A run continues from ``state``."""

    state: OrchestratorState


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPaused(Event):
    """A run waits for a person; ``state`` is the return value of ``run``, with the question."""

    question: records.Question
    state: OrchestratorState


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished(Event):
    """A run ended; ``state`` is the return value of ``run``.

    Attributes:
        status: "success" or "failed".
        state: The final state.
        basis: The basis of the success, as in the state.
        basis_reason: The same in words; empty without a basis.
        evidence: How the form, the content and the actions of the output are known.
    """

    status: RunStatus
    state: OrchestratorState
    basis: records.Basis | None = None
    basis_reason: str = ""
    evidence: records.EvidenceSummary | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInterrupted(Event):
    """A run stopped before its end: by ``interrupt``, Ctrl-C, a closed stream or a cancelled task.

    ``state`` has everything before the node that was under way. With a checkpointer, ``resume`` continues.
    """

    state: OrchestratorState


Hook: TypeAlias = Callable[[Event], Awaitable[None] | None]
"""Receives the events of a run. An awaitable return value is awaited; an error is logged and ends nothing."""


def check_hooks(hooks: object) -> None:
    """Checks that the hooks are a sequence of callables.

    Raises:
        ConfigurationError: They are not a sequence, or an item is not callable.
    """
    if not isinstance(hooks, Sequence) or not all(callable(hook) for hook in hooks):
        raise ConfigurationError(
            f"hooks is {format_repr(hooks, 80)}; give a sequence of callables, such as (print,)"
        )
