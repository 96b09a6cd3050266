"""Finds rules of a contract that have no effect, and names that are probably misspelt.

A trajectory that agrees under such rules proves nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, product
from typing import Final

from rapidfuzz.distance import OSA

from evaluation.contract.run import ArgumentRule, ExpectedAction, TrajectoryRules
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
        chain.from_iterable(_find_idle_argument_rule(pattern, rules) for pattern in patterns),
        _find_unused_rules(patterns, rules),
        _find_misspelt_tools(actual, expected, rules),
    )
    return next(problems, None)


def _find_empty_selection(
    expected: Iterable[ExpectedStep], compared: Iterable[ExpectedStep]
) -> Iterator[str]:
    if not all(step.optional for step in compared):
        return
    if required := [step.name for step in expected if not step.optional]:
        yield (
            f"compared_tools and ignored_tools leave out every required action ({join_names(required)}); "
            "compare one of them, or expect no action"
        )


def _find_idle_argument_rule(pattern: ExpectedAction, rules: TrajectoryRules) -> Iterator[str]:
    rule = rules.find_rule(pattern)
    if rule.match == "named" and (pattern.args or (pattern.arguments and pattern.args is not None)):
        yield from _find_unknown_names(pattern, rule)
    elif pattern.args is None and pattern.arguments is not None and rule.match != "ignore":
        yield f"{pattern.name} has a rule of its own for arguments, but no 'args' to compare; add them"


def _find_unknown_names(pattern: ExpectedAction, rule: ArgumentRule) -> Iterator[str]:
    """Say which of the rule's names the expected arguments lack by mistake.

    A rule for many actions may name arguments that this one lacks, as long as it shares one of them.
    """
    args, names = pattern.args or {}, rule.names or []
    absent = [name for name in names if name not in args]
    if len(absent) == len(names) or (absent and pattern.arguments is not None):
        yield (
            f"'named' lists {join_names(absent)}, which the expected arguments of {pattern.name} lack; "
            "list names that they have"
        )
    yield from find_misspelt(absent, set(args) - set(names), "names")


def _find_unused_rules(patterns: Sequence[ExpectedAction], rules: TrajectoryRules) -> Iterator[str]:
    """Say which rules ``named`` share no argument with any action that they are for."""
    for name, rule in {"'arguments'": rules.arguments, **rules.tools}.items():
        if rule.match != "named":
            continue
        # A contract for many cases may have a rule for all tools and actions that are expected by name alone.
        expected = [
            each.args or {}
            for each in patterns
            if rules.find_rule(each) is rule and (each.args is not None or each.name in rules.tools)
        ]
        if expected and all(map(set(rule.names or ()).isdisjoint, expected)):
            yield f"the rule {name} compares none of the expected arguments; add 'args' that it compares"


def _find_misspelt_tools(
    actual: Iterable[Action], expected: Iterable[ExpectedStep], rules: TrajectoryRules
) -> Iterator[str]:
    lists: Mapping[str, Collection[str]] = {
        "compared_tools": rules.compared_tools or (),
        "ignored_tools": rules.ignored_tools,
        "forbidden_tools": rules.forbidden_tools,
        "acting_tools": rules.acting_tools or (),
        "reading_tools": rules.reading_tools or (),
        "tools": rules.tools,
    }
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
