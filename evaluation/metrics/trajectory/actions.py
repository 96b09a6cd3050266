"""The observed actions and the expected steps that a match compares, and how they are read from JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from evaluation.checks.context import NotRun
from evaluation.inputs.trajectory_rules import ArgumentRule, ExpectedAction
from evaluation.results.state import Action
from evaluation.texts.tool_names import is_same_tool
from evaluation.values import JsonObject


class ObservedAction(NamedTuple):
    """One recorded action. If ``args`` is None, no arguments were recorded, which counts as ``{}``."""

    name: str
    args: JsonObject | None = None
    args_error: str | None = None
    """Why the recorded arguments cannot be read; such arguments equal nothing."""
    agent: str | None = None
    target: str | None = None
    kind: str = "tool"
    failed: bool = False
    """Whether its result was an error."""
    not_run: NotRun | None = None
    """Why its tool did not run; it failed then."""
    recorded_as_writing: bool = False
    """Whether the run itself says that this tool changes something."""
    message: int | None = None
    """The message that made the call; neighbouring calls of one message are parallel."""


@dataclass(frozen=True)
class ActionPattern:
    """The properties that an action must have; a property that is None may have any value.

    ``arguments`` is the rule for comparing ``args``. It takes precedence over the rules for the tool and for
    all tools.
    """

    name: str
    args: JsonObject | None = None
    arguments: ArgumentRule | None = None
    agent: str | None = None
    target: str | None = None
    kind: str | None = None


class ExpectedStep(NamedTuple):
    """One expected step: an action that fits any one of the patterns."""

    patterns: tuple[ActionPattern, ...]
    optional: bool = False
    group: int | None = None
    """Neighbouring steps of one group may come in any order."""

    @property
    def name(self) -> str:
        """The name of the action, or of all alternatives."""
        return " | ".join(dict.fromkeys(pattern.name for pattern in self.patterns))


def observed_action(action: Action, recorded_writing: Collection[str] = ()) -> ObservedAction:
    """Read an action of the state; ``recorded_writing`` are tools that change something by the run's word."""
    return ObservedAction(
        action["name"],
        action["args"],
        action["args_error"],
        action["agent"],
        action["target"],
        action["kind"],
        action["error"] is not None,
        action["not_run"],
        any(is_same_tool(action["name"], name) for name in recorded_writing),
        action["message"],
    )


def expected_steps(items: Iterable[JsonObject]) -> list[ExpectedStep]:
    """Read an expected trajectory as JSON; the members of a group are steps of their own.

    An alternative inherits the fields that it does not set.
    """
    actions = [ExpectedAction.model_validate(item) for item in items]
    return [
        ExpectedStep(tuple(_read_patterns(member, ActionPattern(""))), member.optional, group)
        for index, action in enumerate(actions)
        for group, member in _list_members(action, index)
    ]


def _list_members(action: ExpectedAction, index: int) -> list[tuple[int | None, ExpectedAction]]:
    return [(index, member) for member in action.in_any_order] or [(None, action)]


def _read_patterns(action: ExpectedAction, parent: ActionPattern) -> Iterator[ActionPattern]:
    pattern = ActionPattern(
        action.name or parent.name,
        parent.args if action.args is None else action.args,
        action.arguments or parent.arguments,
        parent.agent if action.agent is None else action.agent,
        parent.target if action.target is None else action.target,
        action.kind or parent.kind,
    )
    if not action.any_of:
        yield pattern
    for alternative in action.any_of:
        yield from _read_patterns(alternative, pattern)
