"""How one country writes the number of a person."""

from __future__ import annotations

from dataclasses import dataclass


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
