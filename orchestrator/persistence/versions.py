"""Versions of channels, as short as they can be: a checkpoint names twenty of them."""

from __future__ import annotations

import random
from typing import Final

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def next_version(current: str | int | None) -> str:
    """The version after another one: a counter in eight digits, and eight characters by chance.

    LangGraph compares versions as text. Its own savers write 32 digits, of which the first 24 are zeros, so
    that one of these sorts after every one of those; a thread that was stored by them can go on here. The
    other way it cannot.
    """
    counter = current if isinstance(current, int) else int((current or "0").split(".", 1)[0])
    # Two branches of one thread may count alike; what tells them apart is no secret.
    chance = "".join(random.choices(_DIGITS, k=8))  # noqa: S311
    return f"{counter + 1:08}.{chance}"
