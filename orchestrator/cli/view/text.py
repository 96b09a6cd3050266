"""Formats untrusted text for a terminal, so that it cannot control the terminal or hide anything."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Final
from unicodedata import category

if TYPE_CHECKING:
    from orchestrator.state.usage import Usage

_JOINERS: Final = re.compile("[\u200c\u200d]+")
_JOINED: Final = frozenset({"Lo", "Mn", "Mc", "So", "Sk"})
# Signs of Arabic and related scripts that stand over numbers: format characters too, but visible.
_VISIBLE_FORMATS: Final = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)


# Filled when needed: a table of all of Unicode takes longer to build than the rest of the command line.
class _Visible(dict[int, int | str | None]):
    """Maps a code point to its visible form, and remembers the answer."""

    def __missing__(self, code: int) -> int | str | None:
        kind = category(chr(code))
        if kind == "Cs":
            shown: int | str | None = "\ufffd"  # a lone surrogate cannot be encoded
        elif kind in ("Cc", "Cf") and chr(code) not in _VISIBLE_FORMATS:
            shown = None
        else:
            shown = code
        self[code] = shown
        return shown


_VISIBLE: Final = _Visible({ord(character): character for character in "\n\t\u200c\u200d"})


def clean(text: str) -> str:
    """Remove control and invisible characters except newline and tab.

    Invisible characters can reverse the order of a line, our own words included, or make two texts look
    the same. Joiners stay inside emoji and inside words of scripts that need them.
    """
    return _JOINERS.sub(_keep_joiner, text.translate(_VISIBLE))


def _keep_joiner(match: re.Match[str]) -> str:
    """Keep one joiner between letters of Arabic or Indic scripts, or emoji; Latin has no use for it."""
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    is_joining = all(character and category(character) in _JOINED for character in (before, after))
    return match.group()[0] if is_joining else ""


def one_line(text: str, limit: int = 500) -> str:
    """Clean a text and shorten it to one line of at most ``limit`` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def format_usage(usage: Usage, seconds: float | None = None) -> str:
    """Format tokens and seconds. Unreported tokens are called missing, never 0.

    Args:
        usage: Tokens, and the seconds if the next argument is None.
        seconds: Seconds to print.
    """
    shown = usage["latency_ms"] / 1000 if seconds is None else seconds
    return f"{_format_tokens(usage)}, {shown:.1f} s"


def _format_tokens(usage: Usage) -> str:
    if not usage["model_calls"]:
        return "no model call"
    total = usage["total_tokens"]
    return "tokens missing" if total is None else f"{total} tokens"


def count_noun(count: int, noun: str) -> str:
    """Format a number with its noun: "1 step", "2 steps"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


_ESCAPED: Final = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
"""Characters that JSON allows unescaped although a terminal obeys or hides them, and lone surrogates."""


def to_json(value: object) -> str:
    """Format plain values and times as JSON; characters that a terminal would obey or hide are escaped."""
    # NaN and infinity are not JSON, and a parser may refuse the whole document.
    finite = json.loads(json.dumps(value, default=datetime.isoformat), parse_constant=str)
    document = json.dumps(finite, ensure_ascii=False, indent=2)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", document)
