"""Formats untrusted text for a terminal, so that it cannot control the terminal or hide anything."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from evaluation.sensitive.quoting import shorten

if TYPE_CHECKING:
    from orchestrator.state.usage import ModelRates, Usage

_HIDDEN: Final = (
    "\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f"
)
"""Characters that a terminal obeys or hides. Joiners are none, because emoji and many scripts need them."""
_REMOVED: Final = re.compile(f"[\0-\x08\x0b-\x1f{_HIDDEN}]")
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPED: Final = re.compile(f"[{_HIDDEN}\ud800-\udfff]")


def clean(text: str) -> str:
    """Removes control and invisible characters except newline and tab.

    Invisible characters can reverse the order of a line, our own words included.
    """
    return _LONE_SURROGATE.sub("\ufffd", _REMOVED.sub("", text))


def one_line(text: str, limit: int = 500) -> str:
    """Cleans a text and shortens it to one line of at most ``limit`` characters."""
    return shorten(" ".join(clean(text).split()), limit)


def format_usage(usage: Usage) -> str:
    """Formats tokens and seconds. Unreported tokens are called missing, never 0."""
    return f"{_format_tokens(usage)}, {usage['latency_ms'] / 1000:.1f} s"


def format_rates(usage: Usage) -> str:
    """Formats the speed, the time of loading and the context of Ollama models, each after a semicolon."""
    return "".join(f"; {_format_rates(name, rates)}" for name, rates in usage.get("rates", {}).items())


def _format_rates(model: str, rates: ModelRates) -> str:
    speed, size = rates["tokens_per_second"], rates["context_size"]
    written = "speed unknown" if speed is None else f"{speed:.1f} tokens/s"
    context = f"context {rates['context_used']:,}{'' if size is None else f' of {size:,}'} tokens"
    return f"{one_line(model)}: {written}, loaded in {rates['load_ms'] / 1000:.1f} s, {context}"


def _format_tokens(usage: Usage) -> str:
    if not usage["model_calls"]:
        return "no model call"
    total = usage["total_tokens"]
    return "tokens unknown" if total is None else f"{total} tokens"


def count_noun(count: int, noun: str) -> str:
    """Formats a number with its noun: "1 step", "2 steps"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def to_json(value: object) -> str:
    """Formats a document as JSON; characters that a terminal would obey or hide are escaped."""
    # NaN and infinity are not JSON, and a parser may refuse the whole document.
    finite = json.loads(json.dumps(value, default=_to_plain), parse_constant=str)
    document = json.dumps(finite, ensure_ascii=False, indent=2)
    return _ESCAPED.sub(lambda match: json.dumps(match.group())[1:-1], document)


def _to_plain(value: Any) -> object:  # noqa: ANN401 - a dataclass, or a time
    return value.isoformat() if isinstance(value, datetime) else asdict(value)
