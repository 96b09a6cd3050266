"""Finds rules of a contract that have no effect, and names that are probably misspelt.

A trajectory that agrees under such rules proves nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice, product
from typing import Final

from rapidfuzz.distance import OSA

from evaluation.contract.run import ExpectedAction, TrajectoryRules
from evaluation.measures.trajectory.expected_steps import ExpectedStep
from evaluation.report.metric_groups import join_names
from evaluation.report.state import Action
from evaluation.texts.disguises import fold_tool_name, is_same_tool


def find_idle_rule(
    actual: Iterable[Action],
    expected: Sequence[ExpectedStep],
    compared: Sequence[ExpectedStep],
    rules: TrajectoryRules,
) -> str | None:
    """Return the first problem, or None if every rule can have an effect.

    Args:
        actual: every observed action.
        expected: every expected step.
        compared: the expected steps that are compared.
        rules: the contract's rules.
    """
    patterns = [pattern for step in compared for pattern in step.patterns]
    if not (rules.model_fields_set or any(pattern.arguments for pattern in patterns)):
        return None
    problems = chain(
        _find_empty_selection(expected, compared),
        chain.from_iterable(_find_idle_arguments(pattern, rules) for pattern in patterns),
        _find_idle_names(patterns, rules),
        _find_misspelt_tools(actual, expected, rules),
    )
    return next(problems, None)


def _find_empty_selection(
    expected: Iterable[ExpectedStep], compared: Iterable[ExpectedStep]
) -> Iterator[str]:
    required = [step.name for step in expected if not step.optional]
    if required and all(step.optional for step in compared):
        yield (
            f"compared_tools and ignored_tools leave out every required action ({join_names(required)}); "
            "compare one of them, or expect no action"
        )


def _find_idle_arguments(pattern: ExpectedAction, rules: TrajectoryRules) -> Iterator[str]:
    """Say that the rule for the arguments of an expected action compares none of them, or a misspelt one.

    A rule for many actions may name arguments that this one lacks, as long as it shares one of them.
    """
    rule, args, is_own = rules.find_rule(pattern), pattern.args or {}, pattern.arguments is not None
    names = rule.names or [] if rule.match == "named" else []
    absent = [name for name in names if name not in args]
    is_stated = is_own or (bool(names) and pattern.name in rules.tools)
    if pattern.args is None:
        if is_stated and rule.match != "ignore":
            yield f"{pattern.name} has a rule for arguments, but no 'args' to compare; add them"
        return
    if absent and (is_own or (args and len(absent) == len(names))):
        yield (
            f"'named' lists {join_names(absent)}, which the expected arguments of {pattern.name} lack; "
            "list names that they have"
        )
    yield from find_misspelt(absent, set(args) - set(names), "names")


def _find_idle_names(patterns: Iterable[ExpectedAction], rules: TrajectoryRules) -> Iterator[str]:
    named = [
        set(rule.names or ()).isdisjoint(each.args)
        for each in patterns
        if each.args is not None and (rule := rules.find_rule(each)).match == "named"
    ]
    if named and all(named):
        yield "'named' compares none of the expected arguments; add 'args' that it compares"


_LISTS: Final = (
    "compared_tools", "ignored_tools", "forbidden_tools", "acting_tools", "reading_tools", "tools"
)  # fmt: skip


def _find_misspelt_tools(
    actual: Iterable[Action], expected: Iterable[ExpectedStep], rules: TrajectoryRules
) -> Iterator[str]:
    lists: dict[str, Collection[str]] = {field: getattr(rules, field) or () for field in _LISTS}
    if not any(lists.values()):
        return
    known = {action["name"] for action in actual}
    known.update(str(pattern.name) for step in expected for pattern in step.patterns)
    for field, names in lists.items():
        unknown = [name for name in names if name not in known]
        yield from find_misspelt(unknown, known.difference(names), field)


_SHORTEST_NAME: Final = 5
"""In a shorter name, one letter may well tell two tools apart."""
_MAX_PAIRS: Final = 10_000
"""Most pairs of names that are searched for a misspelling: some milliseconds."""


def find_misspelt(names: Iterable[str], known: Iterable[str], field: str) -> Iterator[str]:
    """Yield a problem for each name that looks like another way to write a known one.

    Args:
        names: names of a contract that nothing in the case has.
        known: names of the case that the contract does not have.
        field: the contract's field that has the names.
    """
    for name, meant in islice(product(names, sorted(known)), _MAX_PAIRS):
        if is_other_spelling(name, meant):
            yield (
                f"'{field}' has {join_names([name])}, which nothing in this case is called; "
                f"write {join_names([meant])} if that is meant"
            )


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
