"""Reads a text as a person sees it, to find forbidden content behind look-alikes and other disguises.

Required content is never searched in this way: a look-alike of a disclaimer is no disclaimer. Names of tools
are compared with look-alikes, too: models and recorders write one name in several ways.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import regex

from evaluation.texts.normal import normalize_lines, remove_loose_marks

_WORD: Final = re.compile(r"\w+")
_STROKES: Final = frozenset("1Il|")
"""They look alike themselves."""
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
def read_disguised(text: str) -> str:
    """Return a text as it looks; line breaks stay.

    Invisible characters are removed, and look-alikes of Latin letters (Unicode TS 39) are replaced in words
    that look Latin.
    """
    if text.isascii():
        return normalize_lines(text)
    # Before and after NFKC, which turns some look-alikes into other letters.
    plain = remove_loose_marks(normalize_lines(_WORD.sub(_read_word, text)))
    return _WORD.sub(_read_word, plain)


def _read_word(match: re.Match[str]) -> str:
    word = match[0]
    if word.isascii():
        return word
    latin = "".join(_find_lookalike(char) or char for char in word)
    # A word with letters like no Latin one, such as an ordinary Russian word, does not look Latin.
    return latin if latin.isascii() or any(map(str.isascii, word)) else word


@lru_cache(_CACHED)
def _find_lookalike(char: str) -> str | None:
    """Return the ASCII character that ``char`` looks like; None if there is none."""
    plain = _read_lookalikes().get(char)
    if plain not in _STROKES:
        return plain
    return "I" if char.isupper() else "1" if char.isnumeric() else "l"


@cache
def _read_lookalikes() -> Mapping[str, str]:
    """Read the characters that Unicode TS 39 (``confusables.txt``) puts beside one of ASCII."""
    groups = json.loads(Path(__file__).with_name("lookalikes.json").read_text(encoding="utf-8"))
    return {char: plain for plain, alike in groups.items() for char in alike}


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
    readings = [unicodedata.normalize("NFKC", name), read_disguised(name)]
    bare = [_PREFIX.sub("", each, count=1) for each in readings]
    return frozenset(map(fold_tool_name, readings)), frozenset(map(fold_tool_name, bare))
