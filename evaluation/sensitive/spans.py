"""What a search for sensitive data gives, and the seam for a recogniser of one's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

Category = Literal["credential", "personal"]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text that should not be shown: ``text[start:end]``."""

    start: int
    end: int
    kind: str
    """Such as ``github_token``, ``email``, ``us_ssn``."""
    category: Category


class Recognizer(Protocol):
    """A heavier search that a caller plugs in, such as one by Presidio, beside the built-in one."""

    def find(self, text: str) -> Iterable[Span]:
        """Give the sensitive stretches of ``text``, in any order; whatever this raises is reported."""
        ...


def without_overlaps(found: Iterable[Span]) -> tuple[Span, ...]:
    """Join spans that overlap, in the order of the text; the kind is that of the first and longest.

    A credential goes before personal data: the address in ``https://me:word@host.org`` is no e-mail address.
    """
    joined: list[Span] = []
    for span in sorted(found, key=lambda one: (one.start, -one.end, one.category)):
        if joined and span.start < joined[-1].end:
            joined[-1] = _join(joined[-1], span)
        else:
            joined.append(span)
    return tuple(joined)


def _join(first: Span, second: Span) -> Span:
    named = second if (first.category, second.category) == ("personal", "credential") else first
    return Span(first.start, max(first.end, second.end), named.kind, named.category)
