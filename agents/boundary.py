"""Fences around text that must be read as data, whatever it says."""

from __future__ import annotations

import hashlib
from itertools import count


def boundary_for(*texts: str) -> str:
    """Return a line that occurs in none of ``texts``.

    It is derived from the texts, so the same input gives the same prompt, and cannot be written
    by whoever wrote them, since each change of a text changes it.
    """
    digest = hashlib.sha256("\x00".join(texts).encode("utf-8", "replace")).hexdigest()
    seeds = (f"{digest}{salt}".encode() for salt in count())
    marks = ("=====" + hashlib.sha256(seed).hexdigest()[:12] for seed in seeds)
    return next(mark for mark in marks if not any(mark in text for text in texts))


def fenced(label: str, text: str, mark: str) -> str:
    """Put ``text`` between two lines that carry its label and ``mark``."""
    return f"{mark} {label}\n{text}\n{mark} end of {label}"
