"""Reads a text as Markdown or HTML shows it, to find forbidden words that markup splits: `for**bid**den`."""

from __future__ import annotations

import html
from functools import lru_cache
from typing import Final

import regex

_INLINE: Final = r"(?:a|abbr|b|big|code|del|em|font|i|ins|mark|s|small|span|strong|sub|sup|u|wbr)"
_LONGEST: Final = 200
"""Characters of a tag or a comment; it bounds the search."""
_WITHIN_WORD: Final = regex.compile(
    rf"(?<=\p{{L}})(?:\*{{1,3}}|~~|`|<!--[^<>]{{0,{_LONGEST}}}-->|</?{_INLINE}(?:\s[^<>]{{0,{_LONGEST}}})?/?>)++"
    r"(?=\p{L})",
    regex.IGNORECASE,
)
_CACHED_TEXTS: Final = 8


@lru_cache(_CACHED_TEXTS)
def read_rendered(text: str) -> str:
    """Return the text without the marks and tags inside of words, with character references resolved.

    Marks between words stay, and so do underscores, which are a part of names.
    """
    return _WITHIN_WORD.sub("", html.unescape(text))
