"""Checks of the beginning, the end and the frame of a text."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar, Final, Literal

import regex

from evaluation.checks.check_context import CheckContext
from evaluation.checks.check_model import BaseCheck, CheckKind, CheckOutcome, Text
from evaluation.checks.segmentation import CONTENT
from evaluation.sensitive.quoting import quote_text
from evaluation.texts.normal import fold_letters

_MARKS: Final = " \n\"'“”„«»*_`"
_QUOTES: Final = {
    '"': '"',
    "“": "”",
    "„": "“”",
    "«": "»",
    "»": "«",
    "「": "」",
    "『": "』",
    "‘": "’",
    "'": "'",
}
_CONTINUES: Final = regex.compile(r"[\p{L}\p{M}\p{N}]")
_SEEN: Final = 30


class StartsWith(BaseCheck):
    """The text starts with a word or phrase."""

    check: Literal["starts_with"] = "starts_with"
    kind: ClassVar[CheckKind] = "content"

    text: Text

    def _observe(self, context: CheckContext) -> CheckOutcome:
        passed = _has_start(*(_normalize(text).lstrip(_MARKS) for text in (context.text, self.text)))
        return CheckOutcome(passed, f"it starts with {quote_text(context.text[:_SEEN])}")

    def _describe(self) -> str:
        return f"start the text with {quote_text(self.text)}"


class EndsWith(BaseCheck):
    """The text ends with exactly these words; quotation marks may follow."""

    check: Literal["ends_with"] = "ends_with"
    kind: ClassVar[CheckKind] = "content"

    text: Text

    def _observe(self, context: CheckContext) -> CheckOutcome:
        passed = _has_end(*(_normalize(text).rstrip(_MARKS) for text in (context.text, self.text)))
        return CheckOutcome(passed, f"it ends with {quote_text(context.text[-_SEEN:])}")

    def _describe(self) -> str:
        return f"end the text with {quote_text(self.text)} and nothing after it"


class Quoted(BaseCheck):
    """The whole text stands in quotation marks."""

    check: Literal["quoted"] = "quoted"
    kind: ClassVar[CheckKind] = "format"

    style: Literal["any", "double"] = "any"
    """``double``: only the straight double quotation mark."""

    def _observe(self, context: CheckContext) -> CheckOutcome:
        text = context.text
        closing = '"' if self.style == "double" else _QUOTES.get(text[:1], "")
        opened = text.startswith('"') if self.style == "double" else bool(closing)
        passed = opened and len(text) > 1 and text[-1] in closing and bool(regex.search(CONTENT, text))
        return CheckOutcome(
            passed, f"the text starts with {quote_text(text[:1])} and ends with {quote_text(text[-1:])}"
        )

    def _describe(self) -> str:
        return f"put the whole text in {'double ' if self.style == 'double' else ''}quotation marks"


class Postscript(BaseCheck):
    """The text has a postscript: a line or sentence that starts with the marker."""

    check: Literal["postscript"] = "postscript"
    kind: ClassVar[CheckKind] = "format"

    marker: Text = "P.S."

    def _observe(self, context: CheckContext) -> CheckOutcome:
        found = _compile_postscript(fold_letters(self.marker)).search(context.folded)
        return CheckOutcome(bool(found), f"the text has {'a' if found else 'no'} postscript")

    def _describe(self) -> str:
        return f"add a postscript that starts with {quote_text(self.marker)}"


class RepeatsRequest(BaseCheck):
    """The text starts with the request, word for word, before it answers."""

    check: Literal["repeats_request"] = "repeats_request"
    kind: ClassVar[CheckKind] = "content"
    form_alone: ClassVar[bool] = True

    text: Text | None = None
    """The text to repeat. Default: the whole task."""

    def _observe(self, context: CheckContext) -> CheckOutcome:
        text, wanted = (
            _normalize(context.text).lstrip(_MARKS),
            _normalize(self.text or context.task).strip(_MARKS),
        )
        if not wanted:
            return CheckOutcome(None, "the task is not known")
        if not text.startswith(wanted):
            return CheckOutcome(False, f"the text starts with {quote_text(context.text[:_SEEN])}")
        follows = any(map(str.isalnum, text[len(wanted) :]))
        return CheckOutcome(
            follows, f"the text starts with the request and {'an' if follows else 'no'} answer follows"
        )

    def _describe(self) -> str:
        source = quote_text(self.text) if self.text else "the request"
        return f"repeat {source} word for word first, then answer"


@lru_cache(64)
def _compile_postscript(marker: str) -> regex.Pattern[str]:
    body = r"\s?".join(map(regex.escape, "".join(marker.split())))
    follows = r"(?=[^\p{L}\p{N}]{0,100}+[\p{L}\p{N}])"
    # After the start of a line or the end of a sentence; the marker first, because a search for it is fast.
    return regex.compile(rf"{body}(?<=(?:^|[.!?…\"”')\]*]\s)[\s*_#>]*{body}){follows}", regex.M)


def _has_start(text: str, wanted: str) -> bool:
    return text.startswith(wanted) and not (_is_letter(wanted[-1:]) and _CONTINUES.match(text, len(wanted)))


def _has_end(text: str, wanted: str) -> bool:
    before = text[: len(text) - len(wanted)]
    return text.endswith(wanted) and not (_is_letter(wanted[:1]) and _CONTINUES.match(before[-1:]))


def _is_letter(character: str) -> bool:
    """Return whether words are written apart there; in Chinese, say, they are not."""
    return character.isascii() and character.isalnum()


def _normalize(text: str) -> str:
    return fold_letters(" ".join(text.split()))
