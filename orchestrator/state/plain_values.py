"""What foreign code hands over, as any store can hold it; making it never raises."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Final, cast

from orchestrator.state.graph_state import Json

_INT64_DIGITS: Final = 20
MAX_DEPTH: Final = 200
"""Levels of nesting that every store can hold beside those of the state around them."""


def plain_text(text: str) -> str:
    """The characters of a text: an exact ``str`` of any subclass, a lone surrogate as U+FFFD."""
    exact = str.__str__(text)
    try:
        exact.encode()
    except UnicodeEncodeError:
        return exact.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return exact


def read_text(value: object) -> str | None:
    """``plain_text`` of a text; None for anything else."""
    # Not isinstance: that asks the value's own ``__class__``, which may lie or raise.
    return plain_text(cast("str", value)) if issubclass(type(value), str) else None


def text_of(value: object) -> str:
    """``str(value)`` as plain text; where the value's own code raises, its type's name stands in."""
    return _made(str, value)


def shown(value: object, limit: int) -> str:
    """The first ``limit`` characters of ``repr(value)``, made as ``text_of`` makes its text."""
    return _made(repr, value)[:limit]


def plain_json(value: object) -> Json:
    """A value as JSON can hold it; what JSON has no form for (infinity, too) becomes its text.

    What is nested deeper than stores can hold becomes its JSON text.
    """
    try:
        encoded = plain_text(json.dumps(value, default=text_of, skipkeys=True, ensure_ascii=False))
        decoded: Json = json.loads(encoded, parse_constant=str, parse_int=_whole)
    except Exception:  # noqa: BLE001 - a foreign container's own code, or a circle in it
        return text_of(value)
    return encoded if is_deep(decoded, MAX_DEPTH) else decoded


def is_deep(value: Json, levels: int) -> bool:
    """Whether objects and lists are nested in more levels than that."""
    level = [value]
    for _ in range(levels):
        level = [part for one in level for part in _parts(one)]
    return any(isinstance(one, dict | list) for one in level)


def _parts(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _made(make: Callable[[object], str], value: object) -> str:
    try:
        return plain_text(make(value))
    except Exception:  # noqa: BLE001 - the value's own code: its text is not worth a run
        return f"<{type(value).__name__} whose text cannot be made>"


def _whole(digits: str) -> int | str:
    """A whole number as stores can hold it; a larger one as its text."""
    number = int(digits) if len(digits) <= _INT64_DIGITS else None
    return number if number is not None and -(2**63) <= number < 2**63 else digits
