"""Parses JSON and refuses an object that has a field twice."""

from __future__ import annotations

import json
from collections import Counter

from evaluation.sensitive.quoting import shorten


def parse_json(data: bytes | str) -> object:
    """Parse one JSON document.

    Raises:
        ValueError: It is not JSON; the message is a sentence without a full stop.
    """
    try:
        value: object = json.loads(data, object_pairs_hook=_build_object)
    except _RepeatedFieldError:
        raise
    except RecursionError:
        raise ValueError("the JSON is nested too deep; flatten it") from None
    except ValueError as error:  # also invalid UTF-8, and integers of thousands of digits
        raise ValueError(f"this is not JSON: {error}") from None
    return value


class _RepeatedFieldError(ValueError):
    """An object has a field twice."""


def _build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build an object; refuse one that has a field twice, because JSON would drop the first silently."""
    value = dict(pairs)
    if len(value) < len(pairs):
        name = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise _RepeatedFieldError(f"an object has the field {shorten(name)!r} twice; give it once")
    return value
