"""How one country writes the number of a person."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_PART: Final = re.compile(r"\[(?P<of>(?:\\.|[^\]])*)\]|\{[^}]*\}|\(\?\w*:|\\.|(?P<one>[0-9A-Za-z])")
_MEMBER: Final = re.compile(r"\\.|[0-9A-Za-z]-[0-9A-Za-z]|.")


@dataclass(frozen=True, slots=True)
class NumberForm:
    """A number with its patterns, in RE2's syntax."""

    kind: str
    module: str
    """Its check in python-stdnum; empty where it has no check digit."""
    bare: str
    """Any way to write it, behind a word."""
    words: str
    """What it is called; the case does not matter."""
    form: str = ""
    """The written form that is its own and needs no word before it, if there is one."""


def widened(form: str) -> str:
    """Let any digit stand for a digit and any letter for a letter: what the form matches, this matches too.

    An automaton that looks for many forms at once is small if it need not remember which digits it saw. With
    the forms as they are, its states are never all built, and a new text costs a hundred times as much.
    """
    return _PART.sub(_widened, form)


def _widened(part: re.Match[str]) -> str:
    members = part["of"] or part["one"]
    if members is None:
        return part[0]
    return f"[{''.join(dict.fromkeys(_kind(one) for one in _MEMBER.findall(members)))}]"


def _kind(member: str) -> str:
    first = member[0]
    if not first.isalnum():
        return member
    return "0-9" if first.isdigit() else "A-Z" if first.isupper() else "a-z"
