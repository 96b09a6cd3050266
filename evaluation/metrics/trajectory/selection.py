"""Selects the actions and steps that are compared, by the contract's ignored and compared tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from evaluation.inputs.trajectory_rules import TrajectoryRules
from evaluation.metrics.trajectory.actions import ExpectedStep, ObservedAction
from evaluation.metrics.trajectory.group_order import Order, number_groups
from evaluation.texts.tool_names import is_same_tool

Actions = list[tuple[int, ObservedAction]]
Steps = list[tuple[int, ExpectedStep]]


@dataclass(frozen=True, slots=True)
class ToolEffects:
    """The tools that write and that read, by the contract and by the run's own word."""

    writing: frozenset[str]
    reading: frozenset[str]
    recorded: frozenset[str]
    """Tools that the contract does not name, and that the run calls writing, or that spell a writing one."""
    are_compared: bool
    """Whether the contract names tools, so that its effects are compared."""
    unnamed_read: bool
    """Whether a tool that nobody names only reads."""

    @classmethod
    def of(cls, actions: Iterable[ObservedAction], rules: TrajectoryRules) -> Self:
        """Collect the statements of the contract and of the run."""
        writing, reading = frozenset(rules.writing_tools or ()), frozenset(rules.reading_tools or ())
        named = [action.name for action in actions if action.recorded_as_writing]
        recorded = frozenset([*named, *_list_other_spellings(actions, writing)])
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


class Selection(NamedTuple):
    """The compared actions and steps with their original positions, and the names that other rules report."""

    actions: Actions
    steps: Steps
    forbidden: tuple[str, ...]
    failed: tuple[str, ...]
    unreadable: tuple[str, ...]
    effects: ToolEffects


def _list_other_spellings(actions: Iterable[ObservedAction], writing: frozenset[str]) -> list[str]:
    """List the names of actions that differ from a writing tool's only by form."""
    names = {action.name for action in actions}
    return [name for name in names if any(is_same_tool(name, other) for other in writing)]


def select_compared(
    actual: Sequence[ObservedAction], expected: Sequence[ExpectedStep], rules: TrajectoryRules
) -> Selection:
    """Leave out the tools that the rules ignore; a step is left out if all its alternatives are.

    Forbidden actions are searched in the whole trajectory: an ignored or failed call is still forbidden, but
    for one that was kept from running.
    """

    def is_compared(name: str) -> bool:
        return name not in rules.ignored_tools and (
            rules.compared_tools is None or name in rules.compared_tools
        )

    steps = [
        (index, step)
        for index, step in enumerate(expected)
        if any(is_compared(pattern.name) for pattern in step.patterns)
    ]
    actions = [(index, action) for index, action in enumerate(actual) if is_compared(action.name)]
    effects = ToolEffects.of(actual, rules)
    if effects.are_compared and not _expects_reads_alone(steps, effects):
        steps, actions = _leave_out_reads(steps, actions, effects)
    failed = tuple([action.name for _, action in actions if action.failed])
    compares_effects = effects.are_compared and "failed_calls" not in rules.model_fields_set
    if rules.failed_calls == "ignore" or compares_effects:
        actions = [(index, action) for index, action in actions if not action.failed]
    return Selection(
        actions,
        steps,
        tuple([each.name for each in actual if each.name in rules.forbidden_tools and not each.not_run]),
        failed,
        tuple([action.name for _, action in actions if action.args_error is not None]),
        effects,
    )


def _expects_reads_alone(steps: Steps, effects: ToolEffects) -> bool:
    required = [step for _, step in steps if not step.optional]
    return bool(required) and all(map(effects.has_read, required))


def _leave_out_reads(steps: Steps, actions: Actions, effects: ToolEffects) -> tuple[Steps, Actions]:
    return (
        [(index, kept) for index, step in steps if (kept := _without_reads(step, effects)).patterns],
        [(index, action) for index, action in actions if not effects.is_read(action.name, action.kind)],
    )


def _without_reads(step: ExpectedStep, effects: ToolEffects) -> ExpectedStep:
    """Return a step without the alternatives that only read. If it has one, the others are optional."""
    patterns = tuple(
        [pattern for pattern in step.patterns if not effects.is_read(pattern.name, pattern.kind)]
    )
    is_optional = step.optional or len(patterns) < len(step.patterns)
    return step._replace(patterns=patterns, optional=is_optional)


def read_order(selection: Selection, rules: TrajectoryRules) -> Order:
    """Return the order of the compared steps and actions; parallel calls have none among themselves."""
    is_free = rules.parallel_calls == "any_order"
    return Order(
        number_groups([step.group for _, step in selection.steps]),
        number_groups([action.message if is_free else None for _, action in selection.actions]),
    )
