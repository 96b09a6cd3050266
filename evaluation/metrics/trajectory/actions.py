"""The observed actions and the expected steps that a match compares, and how they are read from JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from evaluation.inputs.rules import ArgumentRule
from evaluation.metrics.trajectory.arguments import serialize_arguments
from evaluation.results.state import Action
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

    @cached_property
    def serialized_args(self) -> bytes:
        """The arguments as bytes, computed once for all comparisons."""
        return serialize_arguments(self.args)


class ExpectedStep(NamedTuple):
    """One expected step: an action that fits any one of the patterns."""

    patterns: tuple[ActionPattern, ...]
    optional: bool = False

    @property
    def name(self) -> str:
        """The name of the action, or of all alternatives."""
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
    """Read an ``ExpectedAction`` as JSON. An alternative inherits the fields that it does not set."""
    return ExpectedStep(tuple(_read_patterns(item, {})), item.get("optional") is True)


_INHERITED: Final = ("args", "arguments", "agent", "target", "kind")


def _read_patterns(item: object, inherited: JsonObject) -> Iterator[ActionPattern]:
    stated = item if isinstance(item, dict) else {"name": item}
    fields = {**inherited, **{name: value for name, value in stated.items() if value is not None}}
    alternatives = stated.get("any_of")
    if not isinstance(alternatives, list) or not alternatives:
        yield _read_pattern(fields)
        return
    passed_on = {name: fields[name] for name in _INHERITED if name in fields}
    for alternative in alternatives:
        yield from _read_patterns(alternative, passed_on)


def _read_pattern(fields: JsonObject) -> ActionPattern:
    args, rule = fields.get("args"), fields.get("arguments")
    return ActionPattern(
        str(fields["name"]),
        args if isinstance(args, dict) else None,
        None if rule is None else ArgumentRule.model_validate(rule),
        _read_text(fields.get("agent")),
        _read_text(fields.get("target")),
        _read_text(fields.get("kind")),
    )


def _read_text(value: object) -> str | None:
    return value if isinstance(value, str) else None
