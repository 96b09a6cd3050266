"""Several texts of which the output starts or ends with one, or with none: regular expressions (RE2)."""

from __future__ import annotations

from typing import Final

import regex

from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_FURTHER: Final = regex.compile(
    rf"(?:,? ?(?:or|nor)(?: with| by)?(?: the (?:words?|phrase))? {QUOTED}|"
    rf", ?{QUOTED}(?=[^.;]{{0,40}}?\bor\b))*"
)
_REFUSED: Final = regex.compile(
    r"(?<!\bwhy )(?:\b(?:not|never|neither|avoid|without)|n't)(?: (?:to|ever))? ?$"
)
"""Directly before the verb: "do not forget to start with" refuses nothing."""
_SPECIAL: Final = regex.compile(r"[\\.^$*+?()\[\]{}|]")
_NO_LETTER: Final = r"[^\p{L}\p{N}]"
_LONGEST: Final = 80


def is_refused(before: str) -> bool:
    """Check whether a verb after these words is refused: "it must not start with"."""
    return _REFUSED.search(before) is not None


def read_alternatives(sentence: Sentence, reading: Reading, match: regex.Match[str]) -> tuple[list[str], int]:
    """Read the text at the end of a match and those that "or" joins to it, and the place of their end."""
    further = _FURTHER.match(sentence.text, match.end())
    end = further.end() if further else match.end()
    marks = reading.get_marks(sentence.start + match.start(), sentence.start + end)
    return [mark.content.strip().rstrip(",") for mark in marks if mark.character == QUOTED], end


def build_edge_pattern(texts: list[str], *, starts: bool, matches: bool) -> Fields | None:
    """Return the check that a text starts or ends with one of these texts, in any letter case."""
    if not all(0 < len(text) <= _LONGEST for text in texts):
        return None
    if starts:
        pattern = rf"(?i)\A{_NO_LETTER}*(?:{'|'.join(map(_end_word, texts))})"
    else:
        pattern = rf"(?i)(?:{'|'.join(map(_start_word, texts))}){_NO_LETTER}*\z"
    return {"check": "regex", "pattern": pattern, "matches": matches}


def _end_word(text: str) -> str:
    return f"{_escape(text)}(?:{_NO_LETTER}|\\z)" if text[-1].isalnum() else _escape(text)


def _start_word(text: str) -> str:
    return f"(?:\\A|{_NO_LETTER}){_escape(text)}" if text[0].isalnum() else _escape(text)


def _escape(text: str) -> str:
    words = (_SPECIAL.sub(r"\\\g<0>", word) for word in text.split())
    return regex.sub(r"['’]", "['’]", r"\s+".join(words))
