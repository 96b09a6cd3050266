"""Finds rules of a contract that have no effect: a trajectory that agrees under them proves nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from evaluation.inputs.trajectory_rules import ArgumentRule, ExpectedAction, TrajectoryRules
from evaluation.metrics.trajectory.expected_steps import ExpectedStep
from evaluation.metrics.trajectory.misspellings import find_misspelt
from evaluation.results.alerts import join_names
from evaluation.results.state import Action


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
    required = [step.name for step in expected if not step.optional]
    if required and all(step.optional for step in compared):
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
        "writing_tools": rules.writing_tools or (),
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
