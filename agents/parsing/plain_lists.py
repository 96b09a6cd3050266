"""Lists as models write them in plain text, with or without Markdown around their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_NUMBERED: Final = re.compile(
    r"""^[ \t]*(?P<heading>\#{1,6}[ \t]+)?(?P<bold>\*\*|__)?
    (?:step[ \t]+)?\(?\d{1,4}(?P=bold)?[.):](?P=bold)?[ \t]+(?=\S)""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_BULLETED: Final = re.compile(r"^[ \t]*[-*•–+][ \t]+(?=\S)", re.MULTILINE)


def listed(text: str) -> list[str] | None:
    """The entries of a numbered list, else of a bulleted one, each with its continuation lines.

    An entry is on one line, and not empty. None where there is no entry.
    """
    marks = _outermost(list(_NUMBERED.finditer(text))) or list(_BULLETED.finditer(text))
    if not marks:
        return None
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    entries = [_entry(mark, text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]
    return [entry for entry in entries if entry] or None


def _outermost(marks: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The marks written like the first one: below a heading or a bold number, plain numbers are details."""
    return [mark for mark in marks if _is_marked_up(mark) == _is_marked_up(marks[0])]


def _is_marked_up(mark: re.Match[str]) -> bool:
    groups = mark.groupdict()
    return bool(groups.get("heading") or groups.get("bold"))


def _entry(mark: re.Match[str], text: str) -> str:
    entry = " ".join(text.split("\n\n", 1)[0].split())
    bold = mark.groupdict().get("bold")
    if bold and mark.group().count(bold) == 1:  # so it ends within the entry
        return entry.replace(bold, "", 1).strip()
    return entry
