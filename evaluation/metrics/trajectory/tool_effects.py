"""Which tools change something: the contract decides, and what the run says can only add to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from evaluation.inputs.trajectory_rules import TrajectoryRules
from evaluation.metrics.trajectory.actions import ExpectedStep, ObservedAction


@dataclass(frozen=True, slots=True)
class ToolEffects:
    """The tools that write and that read, by the contract and by the run's own word."""

    writing: frozenset[str]
    reading: frozenset[str]
    recorded: frozenset[str]
    """Tools that the run calls writing and that the contract does not name."""
    are_compared: bool
    """Whether the contract names tools, so that its effects are compared."""
    unnamed_read: bool
    """Whether a tool that nobody names only reads."""

    @classmethod
    def of(cls, actions: Iterable[ObservedAction], rules: TrajectoryRules) -> Self:
        """Collect the statements of the contract and of the run."""
        writing, reading = frozenset(rules.writing_tools or ()), frozenset(rules.reading_tools or ())
        recorded = frozenset([action.name for action in actions if action.recorded_as_writing])
        is_complete = rules.writing_tools is not None and rules.reading_tools is None
        return cls(writing, reading, recorded - writing - reading, rules.names_effects, is_complete)

    def is_read(self, name: str, kind: str | None) -> bool:
        """Return whether an action only reads, and the run does not deny it."""
        return name not in self.recorded and self._is_read_by_contract(name, kind)

    def has_read(self, step: ExpectedStep) -> bool:
        """Return whether an action that only reads can fulfil a step.

        The contract alone decides: a run that calls one expected read a write would free the others.
        """
        return any(self._is_read_by_contract(pattern.name, pattern.kind) for pattern in step.patterns)

    def _is_read_by_contract(self, name: str, kind: str | None) -> bool:
        # An unnamed hand-off is no read: only tools read.
        is_unnamed_tool = name not in self.writing and kind in {None, "tool"}
        return name in self.reading or (self.unnamed_read and is_unnamed_tool)
