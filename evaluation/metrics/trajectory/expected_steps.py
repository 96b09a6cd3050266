"""Reads the expected steps, and selects the steps and actions that are compared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pydantic import TypeAdapter

from evaluation.inputs.trajectory_rules import ExpectedAction, TrajectoryRules
from evaluation.results.state import Action
from evaluation.texts.disguises import is_same_tool
from evaluation.values import JsonObject


class ExpectedStep(NamedTuple):
    """One expected step: an action that fits any one of the patterns."""

    patterns: tuple[ExpectedAction, ...]
    """Actions with a name; a property that is None may have any value."""
    optional: bool = False

    @property
    def name(self) -> str:
        """The name of the action, or of all alternatives."""
        return " | ".join(dict.fromkeys(str(pattern.name) for pattern in self.patterns))


def expected_steps(items: Iterable[JsonObject]) -> list[ExpectedStep]:
    """Read ``expected_trajectory``; each alternative in ``any_of`` takes over what it does not set itself."""
    actions = _ACTIONS.validate_python([*items])
    return [ExpectedStep(_read_patterns(action), action.optional) for action in actions]


_ACTIONS: Final = TypeAdapter(list[ExpectedAction])


def _read_patterns(action: ExpectedAction) -> tuple[ExpectedAction, ...]:
    if not action.any_of:
        return (action,)
    shared = {name: getattr(action, name) for name in ("args", "arguments", "agent", "target", "kind")}
    patterns: list[ExpectedAction] = []
    for alternative in action.any_of:
        own = {name: value for name in shared if (value := getattr(alternative, name)) is not None}
        patterns += _read_patterns(alternative.model_copy(update={**shared, **own}))
    return tuple(patterns)


@dataclass(frozen=True, slots=True)
class Selection:
    """The compared actions and steps."""

    actions: Sequence[Action]
    steps: Sequence[ExpectedStep]
    failed: Sequence[str]
    """The compared actions whose result was an error, also if the rules then leave them out."""
    recorded: frozenset[str]
    """Tools that the contract does not name, and that the run calls writing, or that spell a writing one."""


def select_compared(
    actual: Sequence[Action],
    expected: Sequence[ExpectedStep],
    rules: TrajectoryRules,
    recorded_writing: Iterable[str] = (),
) -> Selection:
    """Leave out the tools that the rules ignore; a step is left out if all its alternatives are."""
    recorded = _list_recorded(actual, rules, recorded_writing)
    steps, actions = [*expected], [*actual]
    if rules.ignored_tools or rules.compared_tools is not None:
        steps = [step for step in steps if any(rules.compares(str(each.name)) for each in step.patterns)]
        actions = [action for action in actions if rules.compares(action["name"])]
    if rules.names_effects and not _expects_reads_alone(steps, rules):
        steps = [kept for step in steps if (kept := _without_reads(step, rules, recorded)).patterns]
        actions = [
            action
            for action in actions
            if action["name"] in recorded or not rules.is_read(action["name"], action["kind"])
        ]
    failed = [action["name"] for action in actions if action["error"] is not None]
    compares_effects = rules.names_effects and "failed_calls" not in rules.model_fields_set
    if rules.failed_calls == "ignore" or compares_effects:
        actions = [action for action in actions if action["error"] is None]
    return Selection(actions, steps, failed, recorded)


def _list_recorded(
    actual: Iterable[Action], rules: TrajectoryRules, recorded_writing: Iterable[str]
) -> frozenset[str]:
    writing, reading = rules.writing_tools or (), rules.reading_tools or ()
    known = [*writing, *recorded_writing]
    names = {action["name"] for action in actual} if known else ()
    spelt = [name for name in names if any(is_same_tool(name, other) for other in known)]
    return frozenset(spelt).difference(writing, reading)


def _expects_reads_alone(steps: Iterable[ExpectedStep], rules: TrajectoryRules) -> bool:
    """Return whether an action that only reads can fulfil each required step.

    The contract alone decides: a run that calls one expected read a write would free the others.
    """
    required = [step for step in steps if not step.optional]
    return bool(required) and all(
        any(rules.is_read(str(each.name), each.kind) for each in step.patterns) for step in required
    )


def _without_reads(step: ExpectedStep, rules: TrajectoryRules, recorded: Collection[str]) -> ExpectedStep:
    """Return a step without the alternatives that only read. If it has one, the others are optional."""
    patterns = tuple(
        pattern
        for pattern in step.patterns
        if pattern.name in recorded or not rules.is_read(str(pattern.name), pattern.kind)
    )
    return step._replace(patterns=patterns, optional=step.optional or len(patterns) < len(step.patterns))
