"""Text for a terminal: models and tools wrote it, so nothing in it may command the terminal or hide."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from unicodedata import category

from orchestrator.state.graph_state import StepRecord
from orchestrator.state.records import HumanAnswer, SupervisorVerdict

if TYPE_CHECKING:
    from orchestrator.state.graph_state import Usage


_KEPT: Final = frozenset("\n\t")
_CONTROLS: Final = frozenset(map(chr, (*range(0x20), *range(0x7F, 0xA0)))) - _KEPT
# Category Cf of Unicode: nothing is seen of them, but they turn the order of a line around, our own words
# included, or make two texts look the same. Not among them: the signs of Arabic and its neighbours that
# stand over numbers, which are seen.
_INVISIBLE: Final = (
    *(0x00AD, 0x061C, 0x180E, 0xFEFF, 0xE0001),
    *range(0x200B, 0x200C),
    *range(0x200E, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFFF9, 0xFFFC),
    *range(0x13430, 0x13440),
    *range(0x1BCA0, 0x1BCA4),
    *range(0x1D173, 0x1D17B),
    *range(0xE0020, 0xE0080),
)
_DROPPED: Final = dict.fromkeys((*map(ord, _CONTROLS), *_INVISIBLE))
_LONE_SURROGATES: Final = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_HARMLESS: Final = {**_DROPPED, **_LONE_SURROGATES}
# They choose how two letters meet in Arabic and Indic scripts, and make one picture of several emoji; what
# they stand between there is in these categories. Latin, Greek and Cyrillic letters are in none of them.
_JOINERS: Final = re.compile("[\u200c\u200d]+")
_JOINED: Final = frozenset({"Lo", "Mn", "Mc", "So", "Sk"})


def clean(text: str) -> str:
    """Drop what is not seen but newline and tab; half a surrogate pair becomes U+FFFD.

    Dropped are control characters, and characters that only direct or hide others. Joiners stay within
    words of scripts that are written with them, and within emoji.
    """
    return _JOINERS.sub(_joiner, text.translate(_HARMLESS))


def _joiner(found: re.Match[str]) -> str:
    first, after = found.start(), found.end()
    around = (found.string[max(0, first - 1) : first], found.string[after : after + 1])
    joins = all(near and category(near) in _JOINED for near in around)
    return found.group()[0] if joins else ""


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


def warnings(count: int) -> str:
    """So many warnings, in words."""
    return "1 warning" if count == 1 else f"{count} warnings"


def _tokens(usage: Usage) -> str:
    if not usage["model_calls"]:
        return "no model call"
    total = usage["total_tokens"]
    return "tokens missing" if total is None else f"{total} tokens"


def decision(record: StepRecord) -> str:
    """The last word on an execution: a person's, else the supervisor's, else the monitor's; "" for none."""
    supervision, verdict = record["supervision"], record["verdict"]
    if supervision is not None and supervision["answer"] is not None:
        return _answered(supervision["answer"])
    supervised = "" if supervision is None else _supervised(supervision["verdict"])
    return supervised or ("" if verdict is None else verdict["feedback"])


def _answered(answer: HumanAnswer) -> str:
    word = {"approve": "approved", "correct": "corrected", "deny": "denied"}[answer["answer"]]
    return _with(f"{word} by {answer['answered_by']}", answer["text"])


def _supervised(verdict: SupervisorVerdict | None) -> str:
    if verdict is None:
        return ""
    match verdict["verdict"]:
        case "continue":
            return _with("the supervisor lets it stand", verdict["reason"])
        case "reorient":
            return _with("the supervisor wants it otherwise", verdict["correction"])
        case "halt":
            return _with("the supervisor halts the run", verdict["reason"])
        case "ask_human":
            return _with("the supervisor asks", verdict["question"])


def _with(said: str, why: str) -> str:
    return f"{said}: {why}" if why.strip() else said


_COMMANDS: Final = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""Control characters that JSON may hold unescaped, and those that turn or hide text."""


def as_json(value: object) -> str:
    """A value as JSON text.

    What JSON cannot carry is replaced: half a surrogate pair by U+FFFD, a number that is not finite
    by its name as text. What a terminal would obey rather than show is escaped.
    """
    document = json.dumps(_portable(value), ensure_ascii=False, allow_nan=False, indent=2)
    return _COMMANDS.sub(lambda found: f"\\u{ord(found.group()):04x}", document)


def _portable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {_portable(name): _portable(item) for name, item in value.items()}
    if isinstance(value, Sequence):
        return [_portable(item) for item in value]
    return value
