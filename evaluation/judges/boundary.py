"""Lines around texts that are data for a judge, whatever they say."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import count


def boundary_of(texts: Sequence[str]) -> str:
    """Give a mark that stands in none of ``texts``.

    It follows from the texts: the same run gives the same prompt, and whoever wrote one of them cannot have
    known it, since writing it down changes it.
    """
    digest = sha256("\x00".join(texts).encode("utf-8", "replace")).hexdigest()
    marks = (f"#### {sha256(f'{digest}{salt}'.encode()).hexdigest()[:16]}" for salt in count())
    return next(mark for mark in marks if not any(mark in text for text in texts))


def enclosed(label: str, text: str, mark: str) -> str:
    """Put ``text`` between two lines that start with ``mark``."""
    return f"{mark} {label}\n{text}\n{mark} end of {label}"
