"""What a detector is: a cheap trigger, and a search that is only made where a trigger was met."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evaluation.sensitive.linear import Subject
from evaluation.sensitive.spans import Span


@dataclass(frozen=True, slots=True)
class Detector:
    """One family of sensitive data.

    ``trigger`` is a regular expression (RE2, one-byte characters, no groups) that matches somewhere in every
    text in which ``find`` finds something, and also in that text written as JSON. So it asks for no word
    boundary: the line break before a word becomes a letter there.
    """

    trigger: str
    find: Callable[[Subject], Iterator[Span]]
