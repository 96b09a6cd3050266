"""Reads the layout of a reply from checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Final

from evaluation.checks.base import BaseCheck
from evaluation.checks.kinds import counts, markup, placement, style, syllables, wording
from evaluation.checks.language import LANGUAGES
from evaluation.grammar.alphabet import LOWER_CASE
from evaluation.grammar.amounts import (
    MOST_PARTS,
    count_lines,
    find_least,
    has_only_maximum,
    is_open,
    list_starts,
    wants_none,
)
from evaluation.grammar.layout import Layout, Parts
from evaluation.texts.normal import unify_line_ends

_WESTERN_LANGUAGES: Final = frozenset(
    {"da", "de", "en", "es", "fi", "fr", "is", "it", "nl", "no", "pt", "sv"}
)
_OTHER_LANGUAGES: Final = frozenset(LANGUAGES[code] for code in LANGUAGES.keys() - _WESTERN_LANGUAGES)
_WESTERN_RULES: Final = frozenset({style.LetterCase, counts.SentenceCount, counts.WordCount})
_LAST_LETTER: Final = 0xFF
_MOST_WORDS: Final = 500
_SENTENCE_WORDS: Final = 3


def read_layout(checks: Sequence[BaseCheck], task: str = "") -> Layout:
    """Read the layout that checks of the form ask for.

    Checks of the content, and those that no layout expresses, are left out. If two checks divide the text
    into parts, the first of the rules decides.

    Args:
        checks: The checks of the reply.
        task: The task, which a reply may have to repeat.
    """
    is_western = _is_western(checks, task)
    whole = [
        check
        for check in checks
        if getattr(check, "each", None) is None and (is_western or type(check) not in _WESTERN_RULES)
    ]
    rules = [
        partial(rule, check=check) for kind, rule in RULES.items() for check in whole if type(check) is kind
    ]
    layout = reduce(lambda layout, rule: rule(layout), rules, Layout())
    repeated = next((check for check in whole if isinstance(check, placement.RepeatsRequest)), None)
    layout = layout if repeated is None else _repeat_request(layout, repeated, task)
    is_crowded = layout.parts is not None and layout.parts.is_whole and layout.has_frame
    return replace(layout, parts=None) if is_crowded else layout


def _is_western(checks: Sequence[BaseCheck], task: str) -> bool:
    """Return whether the reply is probably in a language of Western Europe, whose letters are known."""
    codes = {check.code for check in checks if isinstance(check, style.Language)}
    has_other = any(ord(each) > _LAST_LETTER for each in task if each.isalpha())
    return (
        codes <= _WESTERN_LANGUAGES and not has_other and not any(name in task for name in _OTHER_LANGUAGES)
    )


def _repeat_request(layout: Layout, check: placement.RepeatsRequest, task: str) -> Layout:
    text = unify_line_ends(check.text or task).strip()
    return replace(layout, opening=text, gap="\n\n", is_body_optional=not check.answer_follows)


def _set_case(layout: Layout, check: style.LetterCase) -> Layout:
    if check.style == "lower":
        return replace(layout, alphabet=layout.alphabet.keep(LOWER_CASE), fit_case=str.lower)
    # Held to capital letters, a small model writes words that do not exist.
    return replace(layout, fit_case=str.upper) if check.style == "upper" else layout


def _exclude_mark(layout: Layout, check: style.Punctuation) -> Layout:
    return _exclude(layout, check.mark) if check.use == "absent" and len(check.mark) == 1 else layout


def _exclude_letter(layout: Layout, check: counts.LetterCount) -> Layout:
    # Some of a letter are fine: a text without any would be another text.
    return _exclude(layout, check.letter.lower() + check.letter.upper()) if wants_none(check) else layout


def _set_quotes(layout: Layout, check: placement.Quoted) -> Layout:  # noqa: ARG001 - as all rules
    return _reserve(replace(layout, is_quoted=True), '"')


def _set_title(layout: Layout, check: markup.Title) -> Layout:
    has_brackets = check.style == "angle_brackets"
    return replace(layout, title=("<<", ">>") if has_brackets else ("# ", ""))


def _set_highlights(layout: Layout, check: markup.HighlightCount) -> Layout:
    layout = layout if is_open(check) or has_only_maximum(check) else _reserve(layout, "*_")
    least = find_least(check)
    mark = "**" if check.style == "bold" else "*"
    return replace(layout, highlights=least, highlight=mark) if least <= MOST_PARTS else layout


def _set_placeholders(layout: Layout, check: markup.PlaceholderCount) -> Layout:
    layout = layout if is_open(check) or has_only_maximum(check) else _reserve(layout, "[]")
    least = find_least(check)
    return replace(layout, placeholders=least) if least <= MOST_PARTS else layout


def _set_labels(layout: Layout, check: markup.Template) -> Layout:
    starts = tuple(f"{label} " for label in check.labels)
    return _divide(layout, Parts(starts, more_lines=count_lines(len(starts))))


def _set_sections(layout: Layout, check: markup.SectionCount) -> Layout:
    starts, optional = list_starts(check, lambda number: f"{check.marker} {number}\n")
    return _divide(
        layout, Parts(starts, optional, is_open(check), "\n\n", more_lines=count_lines(len(starts)))
    )


def _set_separators(layout: Layout, check: markup.PartCount) -> Layout:
    starts, optional = list_starts(check, lambda _: "")
    parts = Parts(
        starts,
        optional,
        is_open(check),
        separator=f"\n\n{check.separator}\n\n",
        more_lines=count_lines(len(starts)),
    )
    divided = _divide(layout, parts)
    return layout if divided is layout else _guard(divided, check.separator)


def _guard(layout: Layout, separator: str) -> Layout:
    """Keep the text of the parts from having the separator."""
    mark = separator[0]
    if mark.isalnum():
        return layout
    is_run = len(separator) > 1 and separator == mark * len(separator)
    return replace(layout, guarded=separator[1:]) if is_run else _reserve(layout, mark)


def _set_paragraphs(layout: Layout, check: counts.ParagraphCount) -> Layout:
    starts, optional = list_starts(check, lambda _: "", least=1)
    lines = count_lines(len(starts))
    parts = Parts(starts, optional, is_open(check), "\n\n", more_lines=lines, has_blank_lines=False)
    return _divide(layout, parts)


def _set_items(layout: Layout, check: markup.ListItemCount) -> Layout:
    mark = "*" if check.marker in {"any", "bullet"} else check.marker.rstrip()
    starts, optional = list_starts(
        check, lambda number: f"{number}. " if check.marker == "number" else f"{mark} "
    )
    return _divide(layout, Parts(starts, optional, is_open(check), is_list=not mark[0].isalnum()))


def _set_first_letters(layout: Layout, check: placement.FirstLetters) -> Layout:
    letters = "".join(check.letters.split())
    separator = {"line": "\n", "paragraph": "\n\n"}.get(check.unit)
    if separator is None or not letters.isalnum():
        return layout
    starts = tuple(map(layout.fit_case, letters.upper()))
    return _divide(layout, Parts(starts, separator=separator, is_whole=True))


def _set_lines(layout: Layout, check: counts.LineCount) -> Layout:
    starts, optional = list_starts(check, lambda _: "", least=1)
    return _divide(layout, Parts(starts, optional, is_open(check), is_whole=True))


def _set_verses(layout: Layout, check: syllables.LineSyllables) -> Layout:
    return _divide(layout, Parts(("",) * len(check.syllables), is_whole=True))


def _set_sentences(layout: Layout, check: counts.SentenceCount) -> Layout:
    if layout.fit_case is not str:
        return layout  # a sentence is known by its first letter
    marks = "".join(filter(layout.alphabet.includes, ".!?"))
    starts, optional = list_starts(check, lambda _: "", least=1)
    return _divide(layout, Parts(starts, optional, is_open(check), " ", end=marks, is_whole=True))


def _set_words(layout: Layout, check: counts.WordCount) -> Layout:
    # A text that ends at a maximum would end in the middle of a sentence.
    least = check.exactly or check.min or 0
    return replace(layout, words=(least, check.exactly is None)) if 0 < least <= _MOST_WORDS else layout


def _set_word(layout: Layout, check: wording.WordAt) -> Layout:
    parts = layout.parts
    if check.unit != "paragraph" or check.position != 1 or parts is None or check.number > len(parts.starts):
        return layout
    starts = list(parts.starts)
    starts[check.number - 1] = starts[check.number - 1] or f"{layout.fit_case(check.word)} "
    return replace(layout, parts=replace(parts, starts=tuple(starts)))


def _set_options(layout: Layout, check: wording.OneOf) -> Layout:
    # A word beside other text is content: a grammar would keep the model from explaining it first.
    is_form = check.alone or all(len(option.split()) >= _SENTENCE_WORDS for option in check.options)
    options = tuple(map(layout.fit_case, check.options))
    return replace(layout, options=options, is_option_alone=check.alone) if is_form else layout


def _divide(layout: Layout, parts: Parts) -> Layout:
    number = len(parts.starts) + len(parts.optional_starts)
    fits = layout.parts is None and bool(parts.starts) and number <= MOST_PARTS
    return replace(layout, parts=parts) if fits else layout


def _exclude(layout: Layout, characters: str) -> Layout:
    return replace(layout, alphabet=layout.alphabet.exclude(characters))


def _reserve(layout: Layout, characters: str) -> Layout:
    return replace(layout, reserved=layout.reserved + characters)


RULES: Final[Mapping[type[BaseCheck], Callable[..., Layout]]] = {
    style.LetterCase: _set_case,
    style.Punctuation: _exclude_mark,
    counts.LetterCount: _exclude_letter,
    placement.Quoted: _set_quotes,
    markup.Title: _set_title,
    markup.HighlightCount: _set_highlights,
    markup.PlaceholderCount: _set_placeholders,
    markup.Template: _set_labels,
    markup.SectionCount: _set_sections,
    markup.PartCount: _set_separators,
    counts.ParagraphCount: _set_paragraphs,
    markup.ListItemCount: _set_items,
    placement.FirstLetters: _set_first_letters,
    counts.LineCount: _set_lines,
    syllables.LineSyllables: _set_verses,
    counts.SentenceCount: _set_sentences,
    counts.WordCount: _set_words,
    wording.WordAt: _set_word,
    placement.StartsWith: lambda layout, check: replace(layout, opening=layout.fit_case(check.text)),
    placement.EndsWith: lambda layout, check: replace(layout, closing=layout.fit_case(check.text)),
    placement.Postscript: lambda layout, check: replace(layout, postscript=layout.fit_case(check.marker)),
    wording.OneOf: _set_options,
}
"""The rules of the kinds of checks that a layout expresses, in their order."""
