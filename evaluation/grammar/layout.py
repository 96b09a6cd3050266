"""The layout of a reply, and how checks are read as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Final

from evaluation.checks.base import BaseCheck
from evaluation.checks.kinds import counts, markup, placement, style, wording
from evaluation.grammar.alphabet import ANY_CHARACTER, LOWER_CASE, Alphabet

_WESTERN_LANGUAGES: Final = frozenset(
    {"da", "de", "en", "es", "fi", "fr", "is", "it", "nl", "no", "pt", "sv"}
)
_WESTERN_RULES: Final = frozenset({style.LetterCase, counts.SentenceCount, counts.WordCount})
_LAST_LETTER: Final = 0xFF
_MOST_PARTS: Final = 50
"""The server expands a part for each repetition."""
_MOST_WORDS: Final = 500
_SECTION_LINES: Final = 6


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of the body; each is one line or more.

    Attributes:
        starts: The beginning of each part that has to be there.
        separator: The text between two parts.
        more_lines: Maximum number of lines of a part after its first.
        can_go_on: Whether further parts may follow.
        end: The marks of which each part ends with one; empty if it may end with any character.
    """

    starts: tuple[str, ...] = ("",)
    separator: str = "\n"
    more_lines: int = 0
    can_go_on: bool = False
    end: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a reply.

    Attributes:
        alphabet: The characters that the writer may use besides those of the layout itself.
        fit_case: Writes the texts of the layout in the letter case of the reply.
        opening: The text at the start.
        gap: What follows the opening.
        title: What stands before and after the title; None if there is no title.
        parts: The parts of the body; None if it is free.
        highlight: The mark of highlighted parts.
        highlights: Number of highlighted parts.
        placeholders: Number of placeholders in square brackets.
        postscript: The marker of the postscript; empty if there is none.
        closing: The text at the end.
        is_quoted: Whether the reply stands in double quotation marks.
        words: The least and the most words of a body without parts; None if they are not counted.
        options: The answers to choose from; empty if the reply is free.
        is_option_alone: Whether nothing may follow the answer.
    """

    alphabet: Alphabet = ANY_CHARACTER
    fit_case: Callable[[str], str] = str
    opening: str = ""
    gap: str = " "
    title: tuple[str, str] | None = None
    parts: Parts | None = None
    highlight: str = "*"
    highlights: int = 0
    placeholders: int = 0
    postscript: str = ""
    closing: str = ""
    is_quoted: bool = False
    words: tuple[int, int | None] | None = None
    options: tuple[str, ...] = ()
    is_option_alone: bool = True

    @property
    def is_free(self) -> bool:
        """Whether any reply has this layout."""
        return replace(self, fit_case=str) == Layout()


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
        partial(rule, check=check) for kind, rule in _RULES.items() for check in whole if type(check) is kind
    ]
    layout = reduce(lambda layout, rule: rule(layout), rules, Layout())
    repeated = next((check for check in whole if isinstance(check, placement.RepeatsRequest)), None)
    return layout if repeated is None else _repeat_request(layout, repeated, task)


def _is_western(checks: Sequence[BaseCheck], task: str) -> bool:
    """Return whether the reply is probably in a language of Western Europe, whose letters are known."""
    codes = {check.code for check in checks if isinstance(check, style.Language)}
    return codes <= _WESTERN_LANGUAGES and all(ord(each) <= _LAST_LETTER for each in task if each.isalpha())


def _repeat_request(layout: Layout, check: placement.RepeatsRequest, task: str) -> Layout:
    return replace(layout, opening=(check.text or task).strip(), gap="\n\n")


def _set_case(layout: Layout, check: style.LetterCase) -> Layout:
    if check.style == "lower":
        return replace(layout, alphabet=layout.alphabet.keep(LOWER_CASE), fit_case=str.lower)
    # Held to capital letters, a small model writes words that do not exist.
    return replace(layout, fit_case=str.upper) if check.style == "upper" else layout


def _exclude_mark(layout: Layout, check: style.Punctuation) -> Layout:
    return _exclude(layout, check.mark) if check.use == "absent" and len(check.mark) == 1 else layout


def _exclude_letter(layout: Layout, check: counts.LetterCount) -> Layout:
    has_minimum = check.min or check.exactly
    return layout if has_minimum else _exclude(layout, check.letter.lower() + check.letter.upper())


def _set_quotes(layout: Layout, check: placement.Quoted) -> Layout:  # noqa: ARG001 - as all rules
    return replace(_exclude(layout, '"'), is_quoted=True)


def _set_title(layout: Layout, check: markup.Title) -> Layout:
    if check.style == "angle_brackets":
        return replace(_exclude(layout, "<>"), title=("<<", ">>"))
    return replace(layout, title=("# ", ""))


def _set_highlights(layout: Layout, check: markup.HighlightCount) -> Layout:
    mark = "**" if check.style == "bold" else "*"
    return replace(_exclude(layout, "*_"), highlights=_least(check), highlight=mark)


def _set_placeholders(layout: Layout, check: markup.PlaceholderCount) -> Layout:
    return replace(_exclude(layout, "[]("), placeholders=_least(check))


def _set_labels(layout: Layout, check: markup.Template) -> Layout:
    return _divide(layout, Parts(tuple(f"{label} " for label in check.labels), more_lines=_SECTION_LINES))


def _set_sections(layout: Layout, check: markup.SectionCount) -> Layout:
    starts = tuple(f"{check.marker} {number}\n" for number in range(1, _least(check) + 1))
    return _divide(layout, Parts(starts, "\n\n", _SECTION_LINES))


def _set_separators(layout: Layout, check: markup.PartCount) -> Layout:
    mark = check.separator[0]
    parts = Parts(("",) * _least(check), f"\n\n{check.separator}\n\n", _SECTION_LINES)
    return _divide(layout if mark.isalnum() else _exclude(layout, mark), parts)


def _set_first_letters(layout: Layout, check: placement.FirstLetters) -> Layout:
    separator = {"line": "\n", "paragraph": "\n\n"}.get(check.unit)
    starts = tuple(map(layout.fit_case, "".join(check.letters.upper().split())))
    return layout if separator is None else _divide(layout, Parts(starts, separator))


def _set_paragraphs(layout: Layout, check: counts.ParagraphCount) -> Layout:
    return _divide(layout, Parts(("",) * _least(check), "\n\n", can_go_on=_is_open(check)))


def _set_items(layout: Layout, check: markup.ListItemCount) -> Layout:
    mark = "*" if check.marker in {"any", "bullet"} else check.marker.rstrip()
    marks = (f"{number}." if check.marker == "number" else mark for number in range(1, _least(check) + 1))
    return _divide(layout, Parts(tuple(f"{each} " for each in marks)))


def _set_lines(layout: Layout, check: counts.LineCount) -> Layout:
    return _divide(layout, Parts(("",) * _least(check), can_go_on=_is_open(check)))


def _set_sentences(layout: Layout, check: counts.SentenceCount) -> Layout:
    if layout.fit_case is not str:
        return layout  # a sentence is known by its first letter
    marks = "".join(filter(layout.alphabet.includes, ".!?"))
    return _divide(layout, Parts(("",) * _least(check), " ", can_go_on=_is_open(check), end=marks))


def _set_words(layout: Layout, check: counts.WordCount) -> Layout:
    least = check.exactly or check.min or 1
    most = check.max if check.exactly is None else check.exactly
    return replace(layout, words=(least, most)) if max(least, most or 1) <= _MOST_WORDS else layout


def _set_word(layout: Layout, check: wording.WordAt) -> Layout:
    parts = layout.parts
    if check.unit != "paragraph" or check.position != 1 or parts is None or check.number > len(parts.starts):
        return layout
    starts = list(parts.starts)
    starts[check.number - 1] += f"{layout.fit_case(check.word)} "
    return replace(layout, parts=replace(parts, starts=tuple(starts)))


def _divide(layout: Layout, parts: Parts) -> Layout:
    fits = layout.parts is None and 0 < len(parts.starts) <= _MOST_PARTS
    return replace(layout, parts=parts) if fits else layout


def _exclude(layout: Layout, characters: str) -> Layout:
    return replace(layout, alphabet=layout.alphabet.exclude(characters))


def _least(check: counts.CountCheck) -> int:
    """Return the least number that fulfils a check; 1 if only none or fewer than some are wanted."""
    if check.exactly is not None:
        return check.exactly
    return check.min or min(1, check.max or 1)


def _is_open(check: counts.CountCheck) -> bool:
    return check.exactly is None and check.max is None


_RULES: Final[Mapping[type[BaseCheck], Callable[..., Layout]]] = {
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
    placement.FirstLetters: _set_first_letters,
    counts.ParagraphCount: _set_paragraphs,
    markup.ListItemCount: _set_items,
    counts.LineCount: _set_lines,
    counts.SentenceCount: _set_sentences,
    counts.WordCount: _set_words,
    wording.WordAt: _set_word,
    placement.StartsWith: lambda layout, check: replace(layout, opening=layout.fit_case(check.text)),
    placement.EndsWith: lambda layout, check: replace(layout, closing=layout.fit_case(check.text)),
    placement.Postscript: lambda layout, check: replace(layout, postscript=layout.fit_case(check.marker)),
    wording.OneOf: lambda layout, check: replace(
        layout, options=tuple(check.options), is_option_alone=check.alone
    ),
}
"""The rules of the kinds of checks that a layout expresses, in their order."""
