"""Finds how an observed action differs from an expected one, and names of tools that are misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product
from typing import Final, Literal, NamedTuple

from rapidfuzz.distance import OSA

from evaluation.checks.check_model import NOT_RUN_WORDS
from evaluation.contract.contract import ArgumentRule, ExpectedAction, TrajectoryRules
from evaluation.findings import join_names
from evaluation.report.redaction import build_excerpt
from evaluation.report.report_model import Action
from evaluation.texts.normal import fold_tool_name, is_same_tool
from evaluation.values import JsonObject

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
    # Most arguments are the same, and their forms, unlike their values, tell True from 1.
    if repr(expected) != repr(observed):
        yield from _compare_values("", expected, observed, allows_more=rule.match == "superset")


def _compare_values(
    path: str, expected: object, observed: object, *, allows_more: bool
) -> Iterator[Difference]:
    if isinstance(expected, dict) and isinstance(observed, dict):
        for name, value in expected.items():
            inner = _join_pointer(path, name)
            if name in observed:
                yield from _compare_values(inner, value, observed[name], allows_more=allows_more)
            else:
                yield Difference(inner, "missing", value)
        for name in () if allows_more else [name for name in observed if name not in expected]:
            yield Difference(_join_pointer(path, name), "unexpected", actual=observed[name])
    elif isinstance(expected, list) and isinstance(observed, list) and len(expected) == len(observed):
        for index, (value, other) in enumerate(zip(expected, observed, strict=True)):
            yield from _compare_values(f"{path}/{index}", value, other, allows_more=allows_more)
    # In Python True equals 1.
    elif expected != observed or isinstance(expected, bool) is not isinstance(observed, bool):
        yield Difference(path, "different", expected, observed)


def _join_pointer(path: str, name: str) -> str:
    # RFC 6901: "~" first, or the "~" of "~1" would be escaped again.
    return f"{path}/{name.replace('~', '~0').replace('/', '~1')}"


_MAX_PER_PAIR: Final = 20
_MAX_TRIED: Final = 8
"""How many observed actions of its name a missing step is compared with, to find the closest."""


def pair_closest(
    steps: Mapping[int, ExpectedAction], actions: Mapping[int, Action], rules: TrajectoryRules
) -> Iterator[tuple[int, int, list[Difference]]]:
    """Yield each step with the unused action of its name that differs least from it, and the differences."""
    unused = dict(actions)
    for place, step in steps.items():
        tried = [
            (index, list(islice(find_differences(pattern, unused[index], rules), _MAX_PER_PAIR)))
            for pattern in step.patterns
            for index in islice((i for i in unused if unused[i]["name"] == pattern.name), _MAX_TRIED)
        ]
        if tried:
            index, differences = min(tried, key=lambda candidate: len(candidate[1]))
            del unused[index]
            yield place, index, differences


def explain_difference(action: str, difference: Difference) -> str:
    """Say in a few words which argument of an action is wrong and what it must be."""
    name, path = join_names([action]), difference.path.removeprefix("/")
    if difference.problem == "failed":
        words = next((each for key, each in NOT_RUN_WORDS.items() if key == difference.actual), None)
        if words is not None:
            return f"{name} {words} and did not run; go on without it"
        return f"{name} ended in an error; correct the call"
    if difference.problem == "unexpected":
        return f"{name} has {path}, which is not expected"
    expected = _quote_value(difference.expected)
    if difference.problem == "missing":
        return f"{name} lacks {path}, which must be {expected}"
    return f"{name} has {_quote_value(difference.actual)}{f' for {path}' if path else ''}, not {expected}"


def _quote_value(value: object) -> str:
    # An excerpt is redacted before it is cut: half of a credential would no longer be recognised.
    excerpt = str(build_excerpt(value)["excerpt"])
    return f"'{excerpt}'" if isinstance(value, str) else excerpt


_LISTS: Final = ("ignored_tools", "forbidden_tools", "acting_tools", "tools")
_SHORTEST_NAME: Final = 5
"""In a shorter name, one letter may well tell two tools apart."""
_MAX_PAIRS: Final = 10_000
"""Most pairs of names that are searched for a misspelling: some milliseconds."""


def find_misspelt_tool(
    actual: Iterable[Action], expected: Iterable[ExpectedAction], rules: TrajectoryRules
) -> str | None:
    """Return a problem of a name in the rules that looks like another way to write a name of the case."""
    known = {action["name"] for action in actual}.union(*(step.names for step in expected))
    problems = (find_misspelt(getattr(rules, field) or (), known, field) for field in _LISTS)
    return next(filter(None, problems), None)


def find_misspelt(names: Iterable[str], known: Iterable[str], field: str) -> str | None:
    """Return a problem of the first name of a contract that looks like another way to write a known one.

    Args:
        names: Names in a field of the contract.
        known: Names in the case.
        field: The contract's field.
    """
    pairs = product([name for name in names if name not in known], sorted({*known}.difference(names)))
    for name, meant in islice(pairs, _MAX_PAIRS):
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
