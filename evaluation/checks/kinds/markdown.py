"""The check of Markdown: a text with markup, or a plain one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Literal

import regex

from evaluation.checks.base import BaseCheck, CheckKind, Observation
from evaluation.checks.context import CheckContext
from evaluation.checks.kinds.markup import HEADING
from evaluation.checks.kinds.tables import find_tables

_START: Final = r"^[ \t]*(?:\d{1,9}[.)][ \t]+)*+"
"""The start of a line, or of a numbered item."""
_LINES: Final[Mapping[str, regex.Pattern[str]]] = {
    "a code block": regex.compile(rf"{_START}(?:```|~~~)", regex.M),
    "a heading": regex.compile(
        rf"{_START}#{{1,6}}(?:[ \t]|$)|^[ \t]*\S[^\n]*\n[ \t]*(?:=+|-+)[ \t]*$", regex.M
    ),
    "a horizontal rule": regex.compile(rf"{_START}([-*_])(?:[ \t]*+\1){{2,}}+[ \t]*$", regex.M),
    "a bullet point": regex.compile(rf"{_START}[-*+](?:[ \t]+\S|[ \t]*$)", regex.M),
    "a block quote": regex.compile(rf"{_START}>", regex.M),
    "a table": regex.compile(r"^(?=[^\n]*\|)(?=[^\n]*-)[ \t|:-]+$", regex.M),
    "a link": regex.compile(r"^[ \t]*\[[^\[\]\n]++\]:[ \t]*\S++[ \t]*(?:$|[\"'(])", regex.M),
}
"""What a renderer shows as markup of whole lines, by its name."""
_WORDS: Final[Mapping[str, regex.Pattern[str]]] = {
    "bold or italic text": regex.compile(
        r"\*(?![\s*])[^*]*+(?<!\s)\*"
        r"|(?<![\p{L}\p{N}_])_++(?!\s)(?:[^_]|(?<=[\p{L}\p{N}])_++(?=[\p{L}\p{N}]))*+(?<!\s)_++(?![\p{L}\p{N}])"
    ),
    "text that is struck through": regex.compile(r"~~(?![\s~])[^~]*+(?<!\s)~~"),
    "a link": regex.compile(
        r"\]\(|\[\^[^\[\]\n]++\]|<(?:[a-z][a-z0-9+.-]{1,31}:|[^\s<>@]{1,64}@)[^\s<>]*+>", regex.I
    ),
}
"""What a renderer shows as markup within a paragraph, by its name."""
_BACKTICKS: Final = regex.compile(r"`++")
_BLANK_LINE: Final = regex.compile(r"\n[ \t]*\n")
_ESCAPED: Final = regex.compile(r"\\[!-/:-@\[-`{-~]")
_CERTAIN: Final = (
    HEADING,
    regex.compile(r"(?<![A-Za-z0-9*])(\*{1,3})(?![\s*])[^\n*]*+(?<!\s)\1(?![A-Za-z0-9*])"),
    regex.compile(r"(?<!\w)(?!__[^\W_]++__)(_{1,3})(?![\s_])[^\n_]*+(?<!\s)\1(?!\w)"),
    regex.compile(r"^ {0,3}> [\p{L}\"'“„«*_]", regex.M),
    regex.compile(r"(?<!`)`[^\s`][^\n`]*+(?<!\s)`(?!`)"),
    regex.compile(r"\[[^\[\]\n]*+\]\((?=[^()\s]*[./#])[^()\s]++(?: \"[^\"\n]*+\")?\)"),
)
"""What means nothing but Markdown; ``__init__`` is a name."""
_BULLET: Final = regex.compile(r"^[ \t]*([-*+])[ \t]+\S", regex.M)
_FENCE: Final = regex.compile(r"^ {0,3}(?:```|~~~)([^\n`]*)$", regex.M)


class Markdown(BaseCheck):
    """The text has Markdown markup, or none; numbered lines, bare addresses and HTML tags are none."""

    check: Literal["markdown"] = "markdown"
    kind: ClassVar[CheckKind] = "format"

    use: Literal["present", "absent"]
    """``present`` needs markup beyond doubt; ``absent`` refuses all that a renderer shows as markup."""

    def _observe(self, context: CheckContext) -> Observation:
        if self.use == "present":
            passed = _has_markup(context)
            return Observation(passed, f"the text has {'' if passed else 'no clear '}Markdown markup")
        name = _find_markup(context)
        return Observation(name is None, f"the text has {name or 'no Markdown markup'}")

    def _describe(self) -> str:
        return "use Markdown" if self.use == "present" else "write plain text without Markdown"


def _find_markup(context: CheckContext) -> str | None:
    """Return the name of something that a renderer shows as markup."""
    for name, pattern in _LINES.items():
        if pattern.search(context.text):
            return name
    # A paragraph ends what is bold; two equally long runs of backticks enclose code.
    for block in _BLANK_LINE.split(context.text):
        if _has_equal(_BACKTICKS.findall(block)):
            return "text in backticks"
        for name, pattern in _WORDS.items():
            if pattern.search(block):
                return name
    return "a table" if find_tables(context.text) else None


def _has_markup(context: CheckContext) -> bool:
    """Check for markup beyond doubt: a lone bullet point may be a dash."""
    text = _ESCAPED.sub("", context.text)
    return (
        any(pattern.search(text) for pattern in _CERTAIN)
        or _has_equal(_BULLET.findall(text))
        or any(not language.strip() for language in _FENCE.findall(text)[1:])
        or bool(find_tables(context.text))
    )


def _has_equal(signs: Sequence[str]) -> bool:
    return len(set(signs)) < len(signs)
