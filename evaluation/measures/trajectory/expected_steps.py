"""Reads the expected steps, selects what is compared, and finds how an action differs from a step."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from pydantic import TypeAdapter

from evaluation.contract.run import ArgumentRule, ExpectedAction, TrajectoryRules
from evaluation.report.state import Action
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
    # A reused answer is no further effect.
    steps, actions = [*expected], [action for action in actual if action["outcome"] != "reused"]
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
    writing, reading = rules.acting_tools or (), rules.reading_tools or ()
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


Problem = Literal["missing", "unexpected", "different", "unreadable", "failed"]

_WORKING: Final = frozenset({"tool", "action"})
"""The kinds that fit an expected write without a kind."""
_ACTING: Final = _WORKING | {"handoff"}
"""The kinds that fit any other expected action without a kind: a thought does nothing."""
_JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,999})(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Difference(NamedTuple):
    """One difference between an observed action and the expected one."""

    path: str
    """A JSON Pointer (RFC 6901) into the arguments; or ``agent``, ``target``, ``kind`` or ``error``."""
    problem: Problem
    """``missing`` and ``unexpected``: one side has no value. ``unreadable``: the recorded arguments are no
    JSON object. ``failed``: the call ended in an error."""
    expected: object = None
    actual: object = None
    """Of a ``failed`` call: why its tool did not run; None if it did."""


def find_candidates(
    steps: Sequence[ExpectedStep], actions: Sequence[Action], rules: TrajectoryRules
) -> list[list[int]]:
    """Return the positions of the observed actions that fit each expected step."""
    return [
        [
            index
            for index, each in enumerate(actions)
            if each["name"] in names and fits_step(step, each, rules)
        ]
        for step in steps
        for names in [{pattern.name for pattern in step.patterns}]
    ]


def fits_step(step: ExpectedStep, action: Action, rules: TrajectoryRules) -> bool:
    """Return whether an observed action fits one of the patterns of a step."""
    for pattern in step.patterns:
        if pattern.name == action["name"] and next(find_differences(pattern, action, rules), None) is None:
            return True
    return False


def find_differences(pattern: ExpectedAction, action: Action, rules: TrajectoryRules) -> Iterator[Difference]:
    """Yield the differences between an expected action and an observed one of its name.

    A failed call differs from every expected action, unless the contract counts failed calls.
    """
    if action["error"] is not None and rules.failed_calls != "count":
        yield Difference("error", "failed", None, action["not_run"])
    if pattern.agent is not None and pattern.agent != action["agent"]:
        yield Difference("agent", "different", pattern.agent, action["agent"])
    if pattern.target is not None and pattern.target != action["target"]:
        yield Difference("target", "different", pattern.target, action["target"])
    acting = _WORKING if pattern.name in (rules.acting_tools or ()) else _ACTING
    if action["kind"] != pattern.kind if pattern.kind else action["kind"] not in acting:
        yield Difference("kind", "different", pattern.kind, action["kind"])
    expected, observed, error = pattern.args, action["args"] or {}, action["args_error"]
    if expected is None:
        return
    rule = rules.find_rule(pattern)
    if rule.match == "ignore":
        return
    if error is not None:
        yield Difference("", "unreadable", expected, error)
    else:
        yield from compare_arguments(expected, observed, rule)


def compare_arguments(expected: JsonObject, observed: JsonObject, rule: ArgumentRule) -> Iterator[Difference]:
    """Yield the places in which the observed arguments differ from the expected ones, in order."""
    if rule.match == "named":
        names = rule.names or ()
        expected, observed = (
            {name: side[name] for name in names if name in side} for side in (expected, observed)
        )
    if rule.numbers_as_text:
        expected, observed = (
            {name: _read_numbers(value) for name, value in side.items()} for side in (expected, observed)
        )
    if rule.unordered:
        equal = {*_find_equal_lists(expected, observed, rule)}
        expected, observed = (
            {name: value for name, value in side.items() if name not in equal}
            for side in (expected, observed)
        )
    yield from _compare_values("", expected, observed, allows_more=rule.match == "superset")


def _find_equal_lists(expected: JsonObject, observed: JsonObject, rule: ArgumentRule) -> Iterator[str]:
    """Yield the names of the lists that have the same items in any order."""
    for group in rule.unordered:
        members = [group] if isinstance(group, str) else group
        names = [name for name in members if name in expected and name in observed]
        items = _count_items(names, expected)
        if items is not None and items == _count_items(names, observed):
            yield from names


def _compare_values(
    path: str, expected: object, observed: object, *, allows_more: bool
) -> Iterator[Difference]:
    if isinstance(expected, dict) and isinstance(observed, dict):
        for name, value in expected.items():
            # RFC 6901: "~" first, or the "~" of "~1" would be escaped again.
            inner = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
            if name in observed:
                yield from _compare_values(inner, value, observed[name], allows_more=allows_more)
            else:
                yield Difference(inner, "missing", value)
        for name in () if allows_more else [name for name in observed if name not in expected]:
            yield Difference(f"{path}/{name}", "unexpected", actual=observed[name])
    elif isinstance(expected, list) and isinstance(observed, list) and len(expected) == len(observed):
        for index, (value, other) in enumerate(zip(expected, observed, strict=True)):
            yield from _compare_values(f"{path}/{index}", value, other, allows_more=allows_more)
    # In Python True equals 1.
    elif expected != observed or isinstance(expected, bool) is not isinstance(observed, bool):
        yield Difference(path, "different", expected, observed)


def _count_items(names: Sequence[str], arguments: JsonObject) -> Counter[Hashable] | None:
    """Count the items of parallel lists, items of one position together; None if they are no such lists."""
    lists = [value for name in names if isinstance(value := arguments[name], list)]
    if not lists or len(lists) < len(names) or len(set(map(len, lists))) > 1:
        return None
    return Counter(hashable_key(list(items)) for items in zip(*lists, strict=True))


def hashable_key(value: object) -> Hashable:
    """Return a key that two JSON values share exactly if they are equal: 1 equals 1.0, and not True."""
    if isinstance(value, dict):
        return frozenset((name, hashable_key(item)) for name, item in value.items())
    if isinstance(value, list):
        return tuple(map(hashable_key, value))
    return (bool, value) if isinstance(value, bool) else value


def _read_numbers(value: object) -> object:
    """Replace each text that writes a number in JSON's notation by the number.

    A text with a leading zero, a sign "+" or white space is none: it is rather a code than an amount.
    """
    if isinstance(value, dict):
        return {name: _read_numbers(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_read_numbers(item) for item in value]
    if not isinstance(value, str) or not _JSON_NUMBER.fullmatch(value):
        return value
    number = float(value) if set(value) & set(".eE") else int(value)
    return number if math.isfinite(number) else value
