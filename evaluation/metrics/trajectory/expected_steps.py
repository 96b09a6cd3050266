"""The expected steps that a match compares, and how they are read from JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from evaluation.inputs.trajectory_rules import ExpectedAction
from evaluation.values import JsonObject


class ExpectedStep(NamedTuple):
    """One expected step: an action that fits any one of the patterns."""

    patterns: tuple[ExpectedAction, ...]
    """Actions with a name; a property that is None may have any value."""
    optional: bool = False
    group: int | None = None
    """Neighbouring steps of one group may come in any order."""

    @property
    def name(self) -> str:
        """The name of the action, or of all alternatives."""
        return " | ".join(dict.fromkeys(str(pattern.name) for pattern in self.patterns))


def expected_steps(items: Iterable[JsonObject]) -> list[ExpectedStep]:
    """Read ``expected_trajectory``.

    Each alternative in ``any_of`` takes over what it does not set itself; a group without order becomes
    several steps.
    """
    actions = [ExpectedAction.model_validate(item) for item in items]
    return [
        ExpectedStep(tuple(_read_patterns(member)), member.optional, index if action.in_any_order else None)
        for index, action in enumerate(actions)
        for member in action.in_any_order or [action]
    ]


def _read_patterns(action: ExpectedAction) -> Iterator[ExpectedAction]:
    if not action.any_of:
        yield action
        return
    shared = {name: getattr(action, name) for name in ("args", "arguments", "agent", "target", "kind")}
    for alternative in action.any_of:
        own = {name: value for name in shared if (value := getattr(alternative, name)) is not None}
        yield from _read_patterns(alternative.model_copy(update={**shared, **own}))
