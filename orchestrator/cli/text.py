"""Text for a terminal: models and tools wrote it, so that nothing in it may command the terminal."""

from __future__ import annotations

from typing import Final

from orchestrator.state import Usage

_KEPT: Final = frozenset("\n\t")
_CONTROLS: Final = frozenset(map(chr, (*range(0x20), *range(0x7F, 0xA0)))) - _KEPT
# They turn the order of what follows on the line around, our own words included.
_DIRECTIONS: Final = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
_DROPPED: Final = dict.fromkeys(map(ord, _CONTROLS | _DIRECTIONS))
_LONE_SURROGATES: Final = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_HARMLESS: Final = {**_DROPPED, **_LONE_SURROGATES}


def clean(text: str) -> str:
    """Drop control characters but newline and tab; half a surrogate pair becomes U+FFFD."""
    return text.translate(_HARMLESS)


def one_line(text: str, limit: int = 500) -> str:
    """The same on one line of at most ``limit`` characters."""
    joined = " ".join(clean(text).split())
    return joined if len(joined) <= limit else f"{joined[: limit - 1]}…"


def spent(usage: Usage, seconds: float | None = None) -> str:
    """Tokens and seconds in words; tokens that were not reported are missing, never 0.

    Args:
        usage: What was used.
        seconds: Stands in for the latency in ``usage``.
    """
    shown = usage["latency_ms"] / 1000 if seconds is None else seconds
    return f"{_tokens(usage)}, {shown:.1f} s"


def steps(count: int) -> str:
    """So many steps, in words."""
    return "1 step" if count == 1 else f"{count} steps"


def _tokens(usage: Usage) -> str:
    if not usage["model_calls"]:
        return "no model call"
    total = usage["total_tokens"]
    return "tokens missing" if total is None else f"{total} tokens"
