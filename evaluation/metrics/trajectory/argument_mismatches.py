"""Explains why an expected action is missing: how the closest extra action of the same name differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from evaluation.checks.check_context import NOT_RUN_WORDS
from evaluation.inputs.trajectory_rules import TrajectoryRules
from evaluation.metrics.trajectory.action_differences import Difference, find_differences
from evaluation.metrics.trajectory.expected_steps import ExpectedStep
from evaluation.metrics.trajectory.match_result import ArgumentMismatch
from evaluation.results.alerts import join_names
from evaluation.results.redaction import build_excerpt
from evaluation.results.state import Action

MAX_MISMATCHES: Final = 100
_MAX_PER_PAIR: Final = 20
_MAX_TRIED: Final = 8
"""How many observed actions of its name a missing step is compared with, to find the closest."""


def find_mismatches(
    missing: Sequence[ExpectedStep], extra: Sequence[Action], rules: TrajectoryRules
) -> list[ArgumentMismatch]:
    """Compare each missing step with the closest extra action of its name, each action once."""
    return list(islice(_every_mismatch(missing, extra, rules), MAX_MISMATCHES))


def _every_mismatch(
    missing: Sequence[ExpectedStep], extra: Sequence[Action], rules: TrajectoryRules
) -> Iterator[ArgumentMismatch]:
    unused = dict(enumerate(extra))
    for step in missing:
        tried = [
            (index, list(islice(find_differences(pattern, unused[index], rules), _MAX_PER_PAIR)))
            for pattern in step.patterns
            for index in islice(_list_named(pattern.name, unused), _MAX_TRIED)
        ]
        if tried:
            index, differences = min(tried, key=lambda candidate: len(candidate[1]))
            name = unused.pop(index)["name"]
            yield from ((name, difference) for difference in differences)


def _list_named(name: str | None, actions: dict[int, Action]) -> Iterator[int]:
    return (index for index, action in actions.items() if action["name"] == name)


def explain_mismatch(action: str, difference: Difference) -> str:
    """Say in a few words which argument is wrong and what it must be."""
    name, path = join_names([action]), difference.path.removeprefix("/")
    expected = _quote_value(difference.expected)
    if difference.problem == "failed":
        words = next((each for key, each in NOT_RUN_WORDS.items() if key == difference.actual), None)
        if words is not None:
            return f"{name} {words} and did not run; go on without it"
        return f"{name} ended in an error; correct the call"
    if difference.problem == "missing":
        return f"{name} lacks {path}, which must be {expected}"
    if difference.problem == "unexpected":
        return f"{name} has {path}, which is not expected"
    return f"{name} has {_quote_value(difference.actual)}{f' for {path}' if path else ''}, not {expected}"


def _quote_value(value: object) -> str:
    # An excerpt is redacted before it is cut: half of a credential would no longer be recognised.
    excerpt = str(build_excerpt(value)["excerpt"])
    return f"'{excerpt}'" if isinstance(value, str) else excerpt
