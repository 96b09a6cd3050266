"""Lines around texts that are data for a judge, whatever they say."""

from __future__ import annotations

import json
from hashlib import sha256


def boundary_of(texts: list[str]) -> str:
    """Give a mark that stands in none of ``texts``.

    It is a hash of the texts: the same run gives the same prompt, and whoever wrote one of them cannot have
    known it, since writing it down changes it.
    """
    return f"#### {sha256(json.dumps(texts).encode()).hexdigest()[:24]}"


def enclosed(label: str, text: str, mark: str) -> str:
    """Put ``text`` between two lines that start with ``mark``."""
    return f"{mark} {label}\n{text}\n{mark} end of {label}"
