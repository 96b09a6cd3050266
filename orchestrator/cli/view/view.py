"""What a watcher of a run sees: frozen, without a clock of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal

from orchestrator.state.graph_state import NO_USAGE, Question, RecordStatus, RunStatus, Usage
from orchestrator.state.usage import add_usage

StepPhase = Literal[
    "waiting",
    "running",
    "judging",
    "asking",
    "validated",
    "failed",
    "needs_review",
    "warning",
    "given_up",
]


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of the plan.

    Attributes:
        text: What is to be done.
        phase: How far it is.
        attempt: The latest execution, from 1; 0 before the first.
        spent: By attempt, what it and its judging used.
        since: When its latest event came.
    """

    text: str
    phase: StepPhase = "waiting"
    attempt: int = 0
    spent: Mapping[int, Usage] = field(default_factory=dict)
    since: float = 0.0

    @property
    def usage(self) -> Usage:
        """Of all its executions and their judging."""
        return reduce(add_usage, self.spent.values(), NO_USAGE)

    @property
    def busy(self) -> bool:
        """Whether it is being worked on."""
        return self.phase in ("running", "judging")

    @property
    def done(self) -> bool:
        """Whether its output stands."""
        return self.phase in ("validated", "warning")


@dataclass(frozen=True, slots=True)
class Word:
    """The latest verdict."""

    step_index: int
    attempt: int
    status: RecordStatus
    feedback: str


@dataclass(frozen=True, slots=True)
class View:
    """A run.

    Attributes:
        task: What is to be done.
        steps: The plan; empty while there is none.
        status: Of the run.
        usage: Of everything so far.
        word: The latest verdict.
        question: What a person is asked, while the run waits.
        warnings: How many there are about steps that stand.
        started: When the run began or went on, in seconds of the caller's clock.
        since: When the latest event came.
    """

    task: str = ""
    steps: tuple[StepView, ...] = ()
    status: RunStatus = "planning"
    usage: Usage = field(default_factory=lambda: NO_USAGE)
    word: Word | None = None
    question: Question | None = None
    warnings: int = 0
    started: float = 0.0
    since: float = 0.0

    @property
    def done(self) -> int:
        """Steps whose output stands."""
        return sum(step.done for step in self.steps)

    @property
    def wanted(self) -> int:
        """Steps that were not given up."""
        return sum(step.phase != "given_up" for step in self.steps)

    @property
    def over(self) -> bool:
        """Whether nothing goes on any more: the run has ended, or waits."""
        return self.status in ("success", "failed") or self.question is not None
