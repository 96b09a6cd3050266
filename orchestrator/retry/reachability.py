"""Finds rules of a policy that can never decide, or that never end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from orchestrator.retry.rules import BaseRule, ExecutingRule, ParallelRule


def find_problem(rules: Sequence[BaseRule], max_retries: int | None, max_replans: int) -> str | None:
    """Returns in one sentence what is wrong with the rules; None if each of them can decide.

    Args:
        rules: The rules, in order.
        max_retries: Executions of a step after its first; None if it is not known yet.
        max_replans: How often the planner may plan again.
    """
    spent = 0
    for place, rule in enumerate(rules):
        name = f"strategies[{place}]"
        problem = _find_bound(rule, max_retries, max_replans) or _find_earlier(rules[:place], rule)
        if problem is None and place and _executes(rule):
            problem = _find_spent(spent, max_retries)
        if problem is not None:
            return f"{name} {problem}"
        spent += _count_certain(rule)
    return None


def _find_spent(spent: int, max_retries: int | None) -> str | None:
    """Returns that the rules before a rule leave it no retry."""
    if max_retries is None or spent < max(1, max_retries):
        return None
    return (
        f"can never decide, because the rules before it use up max_retries ({max_retries}); "
        "raise max_retries, or lower their times"
    )


def _find_bound(rule: BaseRule, max_retries: int | None, max_replans: int) -> str | None:
    """Returns which bound of the policy the rule needs and does not have."""
    if isinstance(rule, ParallelRule) and max_retries and rule.n > max_retries:
        return f"draws {rule.n} samples, and max_retries is {max_retries}; raise it, or lower n"
    if getattr(rule, "use", "") == "decompose" and not max_replans:
        return "splits the step, and max_replans is 0, so it would never decide; give max_replans=1 or more"
    return None


def _find_earlier(before: Sequence[BaseRule], rule: BaseRule) -> str | None:
    """Returns which earlier rule always decides first."""
    for place, earlier in enumerate(before):
        covers = earlier.after is None or (rule.after is not None and {*rule.after} <= {*earlier.after})
        # A rule that executes nothing still decides after the last retry of a rule that executes.
        is_last = _executes(earlier) and not _executes(rule)
        # A missing verdict matches only rules that name it.
        names_verdict = earlier.after is None and rule.after is not None and "unverified" in rule.after
        if covers and earlier.times is None and not is_last and not names_verdict:
            return (
                f"can never decide, because strategies[{place}] decides before it and has no end; "
                f"give that one times or after, or leave out strategies[{len(before)}]"
            )
    return None


def _count_certain(rule: BaseRule) -> int:
    """Counts the executions that a rule takes before any later one can decide, after any failure."""
    if rule.after is not None or rule.times is None or not _executes(rule):
        return 0
    return rule.times * (rule.n if isinstance(rule, ParallelRule) else 1)


def _executes(rule: BaseRule) -> bool:
    return isinstance(rule, get_args(ExecutingRule))
