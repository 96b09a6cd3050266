"""Drops checks that no output can pass together, with a warning for each set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from evaluation.checks import Check
from evaluation.checks.base import BaseCheck, join_quoted
from evaluation.checks.kinds import markup
from evaluation.checks.kinds.counts import CountCheck
from evaluation.checks.kinds.data_formats import Table
from evaluation.checks.kinds.markdown import Markdown

_BOUNDS: Final = {"min", "max", "exactly"}
_ONE_VALUE: Final = {"letter_case": "style", "language": "code"}
_WHOLE_FORMATS: Final = frozenset({"json", "csv", "schema"})
_BULLETS: Final = frozenset({"bullet", "-", "*", "+"})
_PLAIN: Final = Markdown(use="absent")
_SMALLER: Final = {
    "word_count": ("sentence_count", "paragraph_count", "line_count"),
    "character_count": ("word_count", "sentence_count"),
    "sentence_count": ("paragraph_count",),
}
"""What a text has at least as many of as of the others."""


def drop_conflicts(checks: Sequence[Check]) -> tuple[list[Check], list[str]]:
    """Return the checks that can hold together, and a warning for each set that cannot."""
    sets = list(_find_conflicts(checks))
    dropped = [check for group in sets for check in group]
    return [check for check in checks if check not in dropped], [_warn(group) for group in sets]


def _warn(group: Sequence[Check]) -> str:
    quotes = list(dict.fromkeys(check.quote or check.check for check in group))
    return f"No output can fulfil {join_quoted(quotes)}; the task is not checked for them."


def _find_conflicts(checks: Sequence[Check]) -> Iterator[list[Check]]:
    for group in _group(checks).values():
        if not _can_agree(group):
            yield group
    formats = [check for check in checks if check.check in _WHOLE_FORMATS]
    if len({check.check for check in formats}) > 1:
        yield formats
    yield from _find_opposites(checks)
    yield from _find_refused_markup(checks)
    yield from _find_impossible_sizes(checks)


def _group(checks: Iterable[Check]) -> dict[tuple[object, ...], list[Check]]:
    """Group the checks that bound the same thing."""
    groups: dict[tuple[object, ...], list[Check]] = defaultdict(list)
    for check in checks:
        if isinstance(check, CountCheck):
            rest = check.model_dump(exclude={*_BOUNDS, "quote", "severity"})
            groups[tuple(rest.items())].append(check)
        elif check.check in {*_ONE_VALUE, "ends_with", "line_syllables"}:
            groups[(check.check, getattr(check, "each", None))].append(check)
    return groups


def _can_agree(group: Sequence[Check]) -> bool:
    if isinstance(group[0], CountCheck):
        low, high = _read_bounds(group)
        return high is None or low <= high
    if group[0].check == "ends_with":
        ends = sorted(
            (check.text.strip(" .!?").casefold() for check in group if check.check == "ends_with"), key=len
        )
        return all(ends[-1].endswith(end) for end in ends)
    values = {str(getattr(check, _ONE_VALUE.get(check.check, "syllables"))) for check in group}
    return len(values) == 1


def _read_bounds(group: Iterable[Check]) -> tuple[int, int | None]:
    """Return the strictest bounds of checks that count the same thing."""
    low, high = 0, None
    for check in group:
        if isinstance(check, CountCheck):
            least = check.min if check.exactly is None else check.exactly
            most = check.max if check.exactly is None else check.exactly
            low = max(low, least or 0)
            high = most if high is None else high if most is None else min(high, most)
    return low, high


def _find_opposites(checks: Sequence[Check]) -> Iterator[list[Check]]:
    """Find words that are required and forbidden."""
    for check in checks:
        if check.check != "excludes":
            continue
        forbidden = {text.casefold() for text in check.texts}
        for other in checks:
            required = (
                other.texts
                if other.check == "contains"
                else [other.text]
                if other.check == "occurrences" and other.max != 0
                else []
            )
            if forbidden & {text.casefold() for text in required}:
                yield [other, check]


def _find_refused_markup(checks: Sequence[Check]) -> Iterator[list[Check]]:
    """Find plain text beside bullet points, and a refused table beside a demanded one."""
    for check in checks:
        if isinstance(check, Markdown | Table) and check.use == "absent":
            kind = Table if isinstance(check, Table) else BaseCheck
            yield from (
                [other, check] for other in checks if isinstance(other, kind) and _needs_markup(other)
            )


def _needs_markup(check: Check) -> bool:
    if isinstance(check, Markdown | Table):
        return check.use == "present"
    if isinstance(check, markup.Title):
        return check.style == "heading"
    if isinstance(check, markup.PartCount):
        return not _PLAIN.holds(f"a\n\n{check.separator}\n\nb")
    is_markup = isinstance(check, markup.HeadingCount | markup.HighlightCount | markup.CodeBlockCount) or (
        isinstance(check, markup.ListItemCount) and check.marker.strip() in _BULLETS
    )
    return is_markup and _read_bounds([check])[0] > 0


def _find_impossible_sizes(checks: Sequence[Check]) -> Iterator[list[Check]]:
    """Find at most 3 words with at least 10 sentences."""
    by_name: dict[str, list[Check]] = defaultdict(list)
    for check in checks:
        if isinstance(check, CountCheck) and check.each is None:
            by_name[check.check].append(check)
    for name, parts in _SMALLER.items():
        _, most = _read_bounds(by_name[name])
        for part in parts:
            least, _ = _read_bounds(by_name[part])
            if most is not None and least > most:
                yield [*by_name[name], *by_name[part]]
