"""What was done and what was expected, as the comparison reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, Self

from evaluation.inputs.rules import ArgumentRule
from evaluation.metrics.trajectory.arguments import written
from evaluation.results.state import Action
from evaluation.values import JsonObject


class ObservedAction(NamedTuple):
    """One action that was seen; without ``args``, it was recorded with none and counts as ``{}``."""

    name: str
    args: JsonObject | None = None
    args_error: str | None = None
    """Why the recorded arguments cannot be read; such arguments agree with nothing."""
    agent: str | None = None
    target: str | None = None
    kind: str = "tool"
    failed: bool = False
    """Whether its result was an error."""


class _PatternFields(NamedTuple):
    name: str
    args: JsonObject | None
    arguments: ArgumentRule | None
    agent: str | None
    target: str | None
    kind: str | None
    placed: bool
    """Whether it matters who acted, towards whom, or in which way."""
    written: bytes
    """The arguments as bytes; made once, like ``placed``, for all comparisons."""


class ActionPattern(_PatternFields):
    """What an action has to look like; whatever is None may be anything.

    ``arguments`` is the rule for comparing ``args``; it goes before those for the tool and for all tools.
    """

    __slots__ = ()

    def __new__(  # noqa: PLR0917
        cls,
        name: str,
        args: JsonObject | None = None,
        arguments: ArgumentRule | None = None,
        agent: str | None = None,
        target: str | None = None,
        kind: str | None = None,
    ) -> Self:
        """Take what is expected; the other fields follow from it."""
        placed = not (agent is target is kind is None)
        fields = (name, args, arguments, agent, target, kind, placed, written(args))
        return tuple.__new__(cls, fields)  # at half the price of the parent's own

    def __getnewargs__(self) -> tuple[object, ...]:
        """Give what a copy is made from."""
        return self[:6]


class ExpectedStep(NamedTuple):
    """One step that should be seen: an action that fits any one of the patterns."""

    patterns: tuple[ActionPattern, ...]
    optional: bool = False

    @property
    def name(self) -> str:
        """The name of the action, or of all alternatives."""
        if len(self.patterns) == 1:
            return self.patterns[0].name
        return " | ".join(dict.fromkeys(pattern.name for pattern in self.patterns))


def observed_action(action: Action) -> ObservedAction:
    """Read an action of the state."""
    return ObservedAction(
        action["name"],
        action["args"],
        action["args_error"],
        action["agent"],
        action["target"],
        action["kind"],
        action["error"] is not None,
    )


def expected_step(item: JsonObject) -> ExpectedStep:
    """Read an ``ExpectedAction`` as JSON; an alternative takes over what its parent says and it does not."""
    patterns = tuple(_alternatives(item, {})) if item.get("any_of") else (_pattern(item),)
    return ExpectedStep(patterns, item.get("optional") is True)


def _alternatives(item: object, inherited: JsonObject) -> Iterator[ActionPattern]:
    said = item if isinstance(item, dict) else {"name": item}
    given = {**inherited, **{key: value for key, value in said.items() if value is not None}}
    alternatives = said.get("any_of")
    if not isinstance(alternatives, list) or not alternatives:
        yield _pattern(given)
        return
    passed_on = {key: given[key] for key in _INHERITED if key in given}
    for alternative in alternatives:
        yield from _alternatives(alternative, passed_on)


_USUAL: Final = frozenset({"name", "args"})
_INHERITED: Final = ("args", "arguments", "agent", "target", "kind")


def _pattern(item: JsonObject) -> ActionPattern:
    name, args = str(item["name"]), item.get("args")
    args = args if isinstance(args, dict) else None
    if item.keys() <= _USUAL:
        return ActionPattern(name, args)
    rule = item.get("arguments")
    agent, target, kind = item.get("agent"), item.get("target"), item.get("kind")
    return ActionPattern(
        name,
        args,
        None if rule is None else ArgumentRule.model_validate(rule),
        agent if isinstance(agent, str) else None,
        target if isinstance(target, str) else None,
        kind if isinstance(kind, str) else None,
    )
