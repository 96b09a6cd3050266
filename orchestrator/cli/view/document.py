"""One JSON document that every parser reads, whatever the texts in it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

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
