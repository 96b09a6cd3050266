"""Rewrites parts of an output: numbers its paragraphs or lines, and puts new ones in their places."""

from __future__ import annotations

import re
from typing import Final

_PARAGRAPHS: Final = re.compile(r"(\n[^\S\n]*\n\s*)")
_LINES: Final = re.compile(r"(\n)")
_NUMBERED: Final = re.compile(r"^[^\S\n]*\[(\d{1,4})\][^\S\n]*", re.MULTILINE)


def number_parts(draft: str) -> str:
    """Returns the draft with "[1]", "[2]" before its paragraphs; before its lines if it has one paragraph."""
    parts, _ = _split(draft)
    return "\n".join(f"[{number}] {part}" for number, part in enumerate(parts, 1))


def replace_parts(draft: str, reply: str) -> str:
    """Returns the draft with the parts of the reply in the places that their numbers name.

    A number without text removes its part; the number after the last one adds a part. A reply without numbers
    replaces the whole draft.
    """
    new = _read_parts(reply)
    if not new:
        return reply
    parts, gaps = _split(draft)
    added = [text for number, text in sorted(new.items()) if number > len(parts) and text]
    kept = [
        (new.get(number, part), gap) for number, (part, gap) in enumerate(zip(parts, gaps, strict=True), 1)
    ]
    filled = [(part, gap) for part, gap in kept if part]
    gap = next((gap for gap in gaps if gap), "\n")
    texts = [text for part, after in filled for text in (part, after or gap)]
    return "".join([*texts, *(f"{text}{gap}" for text in added)]).rstrip()


def keeps_end(draft: str, result: str) -> bool:
    """Returns whether the last part of a draft is a part of the new text."""
    return _split(draft)[0][-1] in _split(result)[0]


def _split(draft: str) -> tuple[list[str], list[str]]:
    """Returns the parts, and the white space after each; empty after the last."""
    text = draft.strip()
    pieces = _PARAGRAPHS.split(text)
    pieces = pieces if len(pieces) > 1 else _LINES.split(text)
    return pieces[::2], [*pieces[1::2], ""]


def _read_parts(reply: str) -> dict[int, str]:
    matches = [*_NUMBERED.finditer(reply)]
    ends = [*(match.start() for match in matches), len(reply)][1:]
    return {
        int(match[1]): reply[match.end() : end].strip() for match, end in zip(matches, ends, strict=False)
    }
