"""Reads a text as a person sees it, to find forbidden content behind look-alikes and other disguises.

Required content is never searched in this way: a look-alike of a disclaimer is no disclaimer. Names of tools
are compared with look-alikes, too: models and recorders write one name in several ways.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import regex

from evaluation.texts.normal import normalize_lines, remove_loose_marks

_OVERRIDE: Final = re.compile("\u202e([^\u202c\u202d\u2066-\u2069\n]*)")
"""Matches text that is shown from right to left."""
_BLANKS: Final = re.compile("[\u115f\u1160\u2800\u3164\uffa0]")
"""Matches letters and symbols that look like a blank."""
_WORD: Final = re.compile(r"\w+")
STROKE: Final = "\ue000"
"""Stands for a look-alike of the letters I and l and the digit 1, which look alike themselves."""
STROKES: Final = "1Iil|"
_BARE_STROKES: Final = frozenset("1Il|")
_DOTLESS: Final = frozenset("\u0131\u0269\u026a\u04cf")
"""Small letters without a dot that Unicode puts beside the letter i."""
_CACHED: Final = 65_536
_CACHED_TEXTS: Final = 8
"""The texts of one run, which each of its rules reads again."""

_INLINE: Final = r"(?:a|abbr|b|big|code|del|em|font|i|ins|mark|s|small|span|strong|sub|sup|u|wbr)"
_LONGEST: Final = 200
"""Characters of a tag or a comment; it bounds the search."""
_WITHIN_WORD: Final = regex.compile(
    rf"(?<=\p{{L}})(?:\*{{1,3}}|~~|`|<!--[^<>]{{0,{_LONGEST}}}-->|</?{_INLINE}(?:\s[^<>]{{0,{_LONGEST}}})?/?>)++"
    r"(?=\p{L})",
    regex.IGNORECASE,
)


@lru_cache(_CACHED_TEXTS)
def read_disguised(text: str) -> tuple[str, ...]:
    """List the readings of a text that differ from the text as it is; line breaks stay.

    Invisible characters are removed, and look-alikes of Latin letters (Unicode TS 39) are replaced in words
    that look Latin. Blank letters are read as nothing and as a blank.
    """
    if text.isascii():
        return (plain,) if (plain := normalize_lines(text)) != text else ()
    shown = _OVERRIDE.sub(lambda match: match[1][::-1], text)
    blank = [_BLANKS.sub(" ", shown)] if _BLANKS.search(shown) else []
    readings = (_replace_lookalikes(each) for each in (shown, *blank))
    return tuple(each for each in dict.fromkeys(readings) if each != text)


def _replace_lookalikes(text: str) -> str:
    # Before and after NFKC, which turns some look-alikes into other letters.
    plain = remove_loose_marks(normalize_lines(_WORD.sub(_read_word, text)))
    return _WORD.sub(_read_word, plain)


def _read_word(match: re.Match[str]) -> str:
    word = match[0]
    if word.isascii():
        return word
    if any(map(str.isascii, word)):
        return "".join(_find_lookalike(char) or _find_small_capital(char) or char for char in word)
    latin = "".join(_find_lookalike(char) or char for char in word)
    # A word with letters like no Latin one, such as an ordinary Russian word, does not look Latin.
    return latin if latin.replace(STROKE, "l").isascii() else word


def _find_small_capital(char: str) -> str | None:
    """Return the letter whose small capital ``char`` looks like, as Cyrillic ones do."""
    letter = _find_lookalike(char.upper()) if char.islower() and len(char.upper()) == 1 else None
    return None if letter is None else letter.lower()


@lru_cache(_CACHED)
def _find_lookalike(char: str) -> str | None:
    """Return the ASCII character that ``char`` looks like; None if there is none."""
    plain = _read_lookalikes().get(char)
    return STROKE if plain in _BARE_STROKES or (plain == "i" and char in _DOTLESS) else plain


@cache
def _read_lookalikes() -> Mapping[str, str]:
    """Read the characters that Unicode TS 39 (``confusables.txt``) puts beside one of ASCII."""
    groups = json.loads(Path(__file__).with_name("lookalikes.json").read_text(encoding="utf-8"))
    return {char: plain for plain, alike in groups.items() for char in alike}


def spell_strokes(reading: str) -> Iterator[str]:
    """Yield a reading with each letter that its strokes may stand for."""
    if STROKE not in reading:
        yield reading
    else:
        yield from (reading.replace(STROKE, char) for char in STROKES)


@lru_cache(_CACHED_TEXTS)
def read_rendered(text: str) -> str:
    """Return the text without the marks and tags inside of words, with character references resolved.

    Marks between words stay, and so do underscores, which are a part of names.
    """
    return _WITHIN_WORD.sub("", html.unescape(text))


_PREFIX: Final = re.compile(r".*(?:[.:/]|__)|mcp[_-]+[^_-]+[_-]", re.DOTALL | re.IGNORECASE)
"""The name of a server or a package before its tool, as in mcp__files__rm and files.rm."""
_CACHED_NAMES: Final = 1024


def is_same_tool(name: str, other: str) -> bool:
    """Return whether two names differ only by form: capitals, punctuation, look-alikes, a prefix of one."""
    (full, bare), (other_full, other_bare) = _list_forms(name), _list_forms(other)
    return not full.isdisjoint(other_full | other_bare) or not bare.isdisjoint(other_full)


def fold_tool_name(name: str) -> str:
    """Return the letters and digits of a name, without case."""
    return "".join(filter(str.isalnum, name)).casefold()


@lru_cache(_CACHED_NAMES)
def _list_forms(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """List the folded readings of a name, and those without the name of a server or a package before it."""
    spelled = (each for reading in read_disguised(name) for each in spell_strokes(reading))
    readings = [unicodedata.normalize("NFKC", name), *spelled]
    bare = [_PREFIX.sub("", each, count=1) for each in readings]
    return frozenset(map(fold_tool_name, readings)), frozenset(map(fold_tool_name, bare))
