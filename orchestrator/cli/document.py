"""One JSON document that every parser reads, whatever the texts in it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence


def as_json(value: object) -> str:
    """A value as JSON text.

    What JSON cannot carry is replaced: half a surrogate pair by U+FFFD, a number that is not finite
    by its name as text.
    """
    return json.dumps(_portable(value), ensure_ascii=False, allow_nan=False, indent=2)


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
