"""Selects the actions and steps that are compared, and finds how an action differs from a step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Final, Literal, NamedTuple

from rapidfuzz.distance import OSA

from evaluation.contract.run import ArgumentRule, ExpectedAction, TrajectoryRules
from evaluation.report.metric_groups import join_names
from evaluation.report.state import Action
from evaluation.texts.normal import fold_tool_name, is_same_tool
from evaluation.values import JsonObject


class Selection(NamedTuple):
    """The compared actions and steps."""

    actions: Sequence[Action]
    steps: Sequence[ExpectedAction]


def select_compared(
    actual: Iterable[Action], expected: Iterable[ExpectedAction], rules: TrajectoryRules
) -> Selection:
    """Leave out the tools that the rules ignore; a step is left out if all its alternatives are."""
    # A reused answer is no further effect.
    made = [action for action in actual if action["outcome"] != "reused"]
    actions = [action for action in made if action["name"] not in rules.ignored_tools]
    steps = [step for step in expected if not {*step.names} <= {*rules.ignored_tools}]
    if rules.acting_tools is None:
        return Selection(actions, steps)
    actions = [action for action in actions if action["error"] is None]
    acting = [
        step for step in steps if any(rules.may_act(str(each.name), each.kind) for each in step.patterns)
    ]
    if steps and not acting:
        # The contract expects nothing but reading. Only its own word tells: a run's would free it.
        return Selection(actions, steps)
    names = {name for step in acting for name in step.names}
    kept = [each for each in actions if each["name"] in names or rules.may_act(each["name"], each["kind"])]
    return Selection(kept, acting)


_LISTS: Final = ("ignored_tools", "forbidden_tools", "acting_tools", "tools")
_SHORTEST_NAME: Final = 5
"""In a shorter name, one letter may well tell two tools apart."""
_MAX_PAIRS: Final = 10_000
"""Most pairs of names that are searched for a misspelling: some milliseconds."""


def find_misspelt_tool(
    actual: Iterable[Action], expected: Iterable[ExpectedAction], rules: TrajectoryRules
) -> str | None:
    """Return a problem of a name in the rules that looks like another way to write a name of the case."""
    lists = {field: [*(getattr(rules, field) or ())] for field in _LISTS}
    if not any(lists.values()):
        return None
    known = {action["name"] for action in actual} | {name for step in expected for name in step.names}
    problems = (
        find_misspelt([name for name in names if name not in known], known.difference(names), field)
        for field, names in lists.items()
    )
    return next(filter(None, problems), None)


def find_misspelt(names: Iterable[str], known: Iterable[str], field: str) -> str | None:
    """Return a problem of the first name that looks like another way to write a known one.

    Args:
        names: Names of a contract that nothing in the case has.
        known: Names of the case that the contract does not have.
        field: The contract's field that has the names.
    """
    for name, meant in islice(product(names, sorted(known)), _MAX_PAIRS):
        if is_other_spelling(name, meant):
            return (
                f"'{field}' has {join_names([name])}, which nothing in this case is called; "
                f"write {join_names([meant])} if that is meant"
            )
    return None


def is_other_spelling(name: str, meant: str) -> bool:
    """Return whether two names are one that is misspelt, or written in another form.

    A misspelling has one letter that is missing, doubled or swapped with the next. Another letter in its
    place tells tools apart (get_x, set_x), and so do a final "s" and a digit.
    """
    if is_same_tool(name, meant):
        return True
    short, long = sorted((fold_tool_name(name), fold_tool_name(meant)), key=len)
    if len(long) < _SHORTEST_NAME or OSA.distance(short, long, score_cutoff=1) > 1:
        return False
    if len(short) == len(long):
        return sorted(short) == sorted(long)
    return long.removesuffix("s") != short and _count_digits(short) == _count_digits(long)


def _count_digits(name: str) -> int:
    return sum(map(str.isdigit, name))


Problem = Literal["missing", "unexpected", "different", "unreadable", "failed"]

_WORKING: Final = frozenset({"tool", "action"})
"""The kinds that fit an expected write without a kind."""
_ACTING: Final = _WORKING | {"handoff"}
"""The kinds that fit any other expected action without a kind: a thought does nothing."""


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
    steps: Sequence[ExpectedAction], actions: Sequence[Action], rules: TrajectoryRules
) -> list[list[int]]:
    """Return the positions of the observed actions that fit each expected step."""
    return [
        [
            index
            for index, each in enumerate(actions)
            if each["name"] in names and fits_step(step, each, rules)
        ]
        for step in steps
        for names in [{*step.names}]
    ]


def fits_step(step: ExpectedAction, action: Action, rules: TrajectoryRules) -> bool:
    """Return whether an observed action fits a step or one of its alternatives."""
    for pattern in step.patterns:
        if pattern.name == action["name"] and next(find_differences(pattern, action, rules), None) is None:
            return True
    return False


def find_differences(pattern: ExpectedAction, action: Action, rules: TrajectoryRules) -> Iterator[Difference]:
    """Yield the differences between an expected action and an observed one of its name.

    A failed call differs from every expected action.
    """
    if action["error"] is not None:
        yield Difference("error", "failed", None, action["not_run"])
    if pattern.agent is not None and pattern.agent != action["agent"]:
        yield Difference("agent", "different", pattern.agent, action["agent"])
    if pattern.target is not None and pattern.target != action["target"]:
        yield Difference("target", "different", pattern.target, action["target"])
    acting = _WORKING if pattern.name in (rules.acting_tools or ()) else _ACTING
    if action["kind"] != pattern.kind if pattern.kind else action["kind"] not in acting:
        yield Difference("kind", "different", pattern.kind, action["kind"])
    rule = rules.find_rule(pattern)
    if pattern.args is None or rule.match == "ignore":
        return
    if action["args_error"] is not None:
        yield Difference("", "unreadable", pattern.args, action["args_error"])
    else:
        yield from compare_arguments(pattern.args, action["args"] or {}, rule)


def compare_arguments(expected: JsonObject, observed: JsonObject, rule: ArgumentRule) -> Iterator[Difference]:
    """Yield the places in which the observed arguments differ from the expected ones, in order."""
    if rule.match == "named":
        names = rule.names or []
        if expected and expected.keys().isdisjoint(names):
            # A rule that compares nothing proves nothing: one of its names may be misspelt.
            yield Difference(f"/{names[0]}", "missing", "among the expected arguments")
        expected, observed = (
            {name: side[name] for name in names if name in side} for side in (expected, observed)
        )
    yield from _compare_values("", expected, observed, allows_more=rule.match == "superset")


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
