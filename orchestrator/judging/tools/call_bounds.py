"""CallBounds: decides before each tool call whether the contracts of a run still allow it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

from orchestrator.judging.tools.call_rules import CallRules, read_call_rules
from orchestrator.runtime.recording.usage_recorder import read_recorder
from orchestrator.state.records import PlainContract, StepRecord, ToolCallRecord


@dataclass(frozen=True, slots=True)
class CallBounds:
    """The rules for the calls of one execution.

    Attributes:
        of_run: The rules for all calls of the run.
        of_step: The rules for the calls of the execution alone.
        earlier: The calls of the executions before, also of refused ones.
    """

    of_run: CallRules
    of_step: CallRules
    earlier: tuple[ToolCallRecord, ...] = ()

    @classmethod
    def of(
        cls,
        of_run: Sequence[PlainContract],
        of_step: Sequence[PlainContract],
        writing: Collection[str],
        records: Sequence[StepRecord],
    ) -> Self:
        """Reads the rules of contracts; ``writing`` has the tools that are known to write."""
        return cls(
            read_call_rules(of_run, writing),
            read_call_rules(of_step, writing),
            tuple(call for record in records for call in record["tool_calls"]),
        )

    @property
    def counted(self) -> frozenset[str]:
        """The tools whose next call depends on the calls before it."""
        return self.of_run.counted | self.of_step.counted

    def find_breach(self, name: str) -> str | None:
        """Returns why a tool must not be called now, in words for the model; None if it may be."""
        current = read_recorder().list_tool_calls()
        return self.of_step.find_breach(name, current) or self.of_run.find_breach(
            name, [*self.earlier, *current]
        )
