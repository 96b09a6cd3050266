"""Makes the version numbers of channels in the stores of ``open_store``."""

from __future__ import annotations

import random
from typing import Final

_SUFFIX_CHARACTERS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def next_version(current: str | int | None) -> str:
    """Returns the version after ``current``: a counter of eight digits and a random suffix.

    LangGraph compares versions as text. Its own savers write 32 digits and a suffix, a quarter of all bytes
    that a run stores. The first 24 of those digits are zeros, so a thread that another saver began continues
    here with greater versions.
    """
    counter = current if isinstance(current, int) else int((current or "0").split(".", 1)[0])
    # Two branches of one thread can reach the same counter; the suffix tells them apart and is no secret.
    suffix = "".join(random.choices(_SUFFIX_CHARACTERS, k=8))  # noqa: S311
    return f"{counter + 1:08}.{suffix}"
