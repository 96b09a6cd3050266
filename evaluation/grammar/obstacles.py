"""Finds checks that a grammar of a layout would keep a reply from fulfilling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from evaluation.checks.base import BaseCheck
from evaluation.checks.kinds import counts, data_formats, markup, notations, placement, style, wording
from evaluation.grammar.alphabet import LETTERS
from evaluation.grammar.layout import Layout
from evaluation.grammar.reading import RULES

_OTHER_FORMATS: Final = (
    data_formats.Json,
    data_formats.JsonSchema,
    data_formats.Csv,
    data_formats.Table,
    notations.Code,
    notations.Pattern,
    markup.CodeBlockCount,
    style.NoWhitespace,
)
_SEVERAL: Final = (style.Punctuation, counts.LetterCount, counts.WordCount, wording.WordAt)
_LONGEST_TEXT: Final = 10_000


def has_obstacle(layout: Layout, checks: Sequence[BaseCheck]) -> bool:
    """Return whether no grammar may hold a reply to a layout, because checks contradict each other, say.

    Args:
        layout: The layout that was read from the checks.
        checks: All checks of the reply.
    """
    alphabet = layout.alphabet.exclude(layout.reserved)
    return (
        any(_is_other_format(check) or _is_about_each(check) for check in checks)
        or _has_rivals(checks)
        or not all(len(text) <= _LONGEST_TEXT and layout.alphabet.includes(text) for text in layout.texts)
        or not all(any(map(alphabet.includes, variants)) for variants in _list_required(checks))
        or not alphabet.keep(LETTERS).ranges
        or _hides_heading(layout)
        or (bool(layout.options) and not _is_bare(layout))
    )


def _is_other_format(check: BaseCheck) -> bool:
    is_refused = isinstance(check, data_formats.Table) and check.use == "absent"
    return isinstance(check, _OTHER_FORMATS) and not is_refused


def _is_about_each(check: BaseCheck) -> bool:
    return isinstance(check, placement.StartsWith | placement.EndsWith) and check.each is not None


def _has_rivals(checks: Sequence[BaseCheck]) -> bool:
    """Return whether two checks of one kind ask for different things; the layout has only one of them."""
    stated = {
        (type(check), check.model_dump_json(exclude={"quote", "severity"}))
        for check in checks
        if type(check) in RULES and not isinstance(check, _SEVERAL)
    }
    return len({kind for kind, _ in stated}) < len(stated)


def _list_required(checks: Sequence[BaseCheck]) -> Iterator[tuple[str, ...]]:
    """Yield the texts that a reply has to have, each in the forms of which one is enough."""
    for check in checks:
        if isinstance(check, wording.Contains) and check.at_least is None:
            yield from map(_vary_case, check.texts)
        elif isinstance(check, counts.Occurrences) and (check.min or check.exactly):
            yield _vary_case(check.text)
        elif isinstance(check, counts.LetterCount) and (check.min or check.exactly):
            yield _vary_case(check.letter)
        elif isinstance(check, style.Punctuation) and check.use != "absent":
            yield (check.mark,)
        elif isinstance(check, style.Emoji) and check.use != "absent":
            yield ("\N{GRINNING FACE}",)
        elif isinstance(check, style.CapitalWordCount) and (check.min or check.exactly):
            yield ("A",)


def _vary_case(text: str) -> tuple[str, ...]:
    return text, text.lower(), text.upper()


def _hides_heading(layout: Layout) -> bool:
    """Return whether a text stands before the title, which is a heading only at the start of the reply."""
    return layout.title is not None and "#" in layout.title[0] and bool(layout.opening or layout.is_quoted)


def _is_bare(layout: Layout) -> bool:
    """Return whether a reply has nothing but an answer to choose, perhaps in quotation marks."""
    rest = replace(
        Layout(),
        alphabet=layout.alphabet,
        reserved=layout.reserved,
        fit_case=layout.fit_case,
        is_quoted=layout.is_quoted,
        options=layout.options,
        is_option_alone=layout.is_option_alone,
    )
    return layout == rest
