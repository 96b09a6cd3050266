"""Reads a task: its language, its words in small letters, and its quoted texts as single signs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from evaluation.texts.numbers import count_function_words

Fields: TypeAlias = Mapping[str, object]
Rows: TypeAlias = Sequence[tuple[str, Fields]]
_TABLE: Final[Mapping[str, Any]] = json.loads(Path(__file__).with_name("word_lists.json").read_bytes())
NUMBERS: Final[Mapping[str, int]] = _TABLE["numbers"]
"""Numbers by their words."""
_GERMAN: Final[Mapping[str, str]] = _TABLE["german"]
_FEWEST_WORDS: Final = 5
"""Fewest words that have a function word in them."""
_ENDINGS: Final = ("en", "es", "er", "em", "e", "n", "s")


def any_of(name: str) -> str:
    """Returns the words of a list as alternatives of a regular expression."""
    return "|".join(map(re.escape, _TABLE[name]))


def read_rows(name: str) -> Rows:
    """Returns a table of patterns, each with the fields of the check that its words state."""
    return [(pattern, fields) for pattern, fields in _TABLE[name]]


def find_language(text: str) -> str | None:
    """Returns ``en`` or ``de``, whichever has more function words; None if a sentence has neither's."""
    german, english = count_function_words(text)
    if not german and not english and len(text.split()) >= _FEWEST_WORDS:
        return None
    return "de" if german > english else "en"


def translate_word(word: str) -> str:
    """Returns the English words for a German word in small letters, or the word itself."""
    stems = [word, *(word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending))]
    return next((_GERMAN[stem] for stem in stems if stem in _GERMAN), word)


LONGEST: Final = 40_000
"""Most characters of a task that are read."""
QUOTED: Final = "\ue000"
"""Stands for a quoted text, a hashtag or a web address."""
BRACKETED: Final = "\ue001"
"""Stands for a placeholder in square brackets, or a text in angle brackets."""
SEPARATOR: Final = "\ue002"
"""Stands for a row of asterisks, dashes or equals signs."""
BLOCK: Final = "\ue003"
"""Stands for a fenced block or a line that is quoted with ``>``."""
_PIECE: Final = re.compile(
    r"""(?P<block>```.*?(?:```|\Z)|^>[^\n]*)
    |(?P<quoted>"[^"“”„]{1,2000}"|[“”„][^"“”„]{1,2000}["“”]|«[^«»]{1,2000}»|`[^`\n]{1,200}`
      |(?<![\w'’])['‘’‚](?=[^\s'’])(?:[^'‘’‚\n]|(?<=\w)['’](?=\w)){1,200}(?<=\S)['’‘](?!\w)
      |\#\w+|https?://\S+[\w/])
    |(?P<bracketed><<[^<>\n]{1,60}>>|\[[^\W\d_][\w -]{0,40}\])
    |(?P<separator>(?:\*{3,}|-{3,}|={3,})(?!\w))
    |(?P<emphasis>\*\*|__)
    |(?P<lines>[ \t]*\n\s*)(?P<marker>(?:[-*•]|\d{1,2}[.)])[ \t]+)?
    |(?P<spaces>[^\S\n]+)
    |(?P<word>[^\W\d_]+)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_SIGNS: Final = str.maketrans({"’": "'", "‘": "'", "–": "-", "—": "-", "\u2011": "-", "≤": "<", "≥": ">"})
_ENDS: Final = ".!?:;"


@dataclass(frozen=True, slots=True)
class Reading:
    """A task and its folded text.

    Attributes:
        task: The task as it was given.
        text: The folded text; a German one with English words.
        starts: The place in the task where each character of the text begins.
        ends: The place in the task where it ends.
        language: ``en`` or ``de``; None if it is in no language that is read.
    """

    task: str
    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    language: str | None

    def quote(self, start: int, end: int) -> str:
        """Returns the words of the task between two places of the text."""
        while end > start and self.text[end - 1] in " \n,;":
            end -= 1
        return self.task[self.starts[start] : self.ends[end - 1]].strip() if end > start else ""

    def literal(self, place: int) -> str:
        """Returns the content of a quoted text, without its marks."""
        raw = self.task[self.starts[place] : self.ends[place]]
        return raw if raw[0] in "#h[<" else raw[1:-1].strip()

    def literals(self, start: int, end: int) -> list[str]:
        """Returns the quoted texts between two places."""
        return [self.literal(place) for place in range(start, end) if self.text[place] == QUOTED]


def read_task(task: str) -> Reading:
    """Folds a task."""
    language = find_language(task[:LONGEST])
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _PIECE.finditer(task[:LONGEST]):
        text = _fold(match, task, characters[-1] if characters else "\n", is_german=language == "de")
        is_same = len(text) == match.end() - match.start()
        for at, character in enumerate(text):
            characters.append(character)
            starts.append(match.start() + at if is_same else match.start())
            ends.append(match.start() + at + 1 if is_same else match.end())
    return Reading(task, "".join(characters), tuple(starts), tuple(ends), language)


def _fold(match: re.Match[str], task: str, previous: str, *, is_german: bool) -> str:
    kind, raw = match.lastgroup, match.group()
    if kind == "quoted":
        # A quoted sentence ends the sentence that quotes it.
        follows = task[match.end() : match.end() + 2].strip()
        return QUOTED + ("." if raw[-2] in ".!?" and (not follows or follows[0].isupper()) else "")
    if kind in {"bracketed", "separator", "block"}:
        return {"bracketed": BRACKETED, "separator": SEPARATOR, "block": BLOCK}[kind]
    if kind in {"lines", "marker"}:
        is_wrapped = raw.count("\n") == 1 and kind == "lines" and previous not in _ENDS
        return " " if is_wrapped and task[match.end() : match.end() + 1].islower() else "\n" * raw.count("\n")
    if kind == "word":
        lowered = raw.lower() if len(raw.lower()) == len(raw) else raw
        return translate_word(lowered) if is_german else lowered
    if kind == "emphasis":
        return ""
    return " " if kind == "spaces" else raw.translate(_SIGNS)
