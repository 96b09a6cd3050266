"""The texts that the turns of a run may take facts from, in the order in which the turns get to know them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import TypeVar

from evaluation.defects.evidence import Evidence, EvidenceCall
from evaluation.importers.conversation import ends_run

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Source:
    """A text; ``since`` is the number of the first turn or call that may take facts from it."""

    since: int
    text: str

    @cached_property
    def lower(self) -> str:
        """The text in lower case."""
        return self.text.lower()


def list_sources(evidence: Evidence) -> list[Source]:
    """Return the texts that the turns of the assistant may take facts from, by the number of the turn."""
    places = [turn.place for turn in evidence.said]
    said = [Source(bisect_right(places, each.place), each.text) for each in evidence.asked]
    asked = [call for call in evidence.calls if call.args and not (call.acts or ends_run(call.name))]
    answered = [call for call in evidence.calls if call.answer]
    answers = list_texts(evidence, answered, [call.answer for call in answered])
    args = list_texts(evidence, asked, [call.args_text for call in asked])
    given = [Source(0, text) for text in evidence.given]
    return sorted([*given, *said, *args, *answers], key=attrgetter("since"))


def list_texts(evidence: Evidence, calls: Sequence[EvidenceCall], texts: Sequence[str]) -> list[Source]:
    """Return texts of calls, by the number of the first turn of the assistant that knows the call."""
    known = [turn.known for turn in evidence.said]
    return [Source(bisect_right(known, call.place), text) for call, text in zip(calls, texts, strict=True)]


def index_first(read: Iterable[tuple[int, Iterable[_Value]]]) -> dict[_Value, int]:
    """Return the first number of each value, in the order of the numbers."""
    first: dict[_Value, int] = {}
    for number, values in sorted(read, key=itemgetter(0)):
        for value in values:
            first.setdefault(value, number)
    return first


def is_in_any(part: str, sources: Sequence[Source], number: int) -> bool:
    """Return whether a text in lower case is in a source up to a number; most are in one of the last."""
    known = bisect_right(sources, number, key=attrgetter("since"))
    return any(part in sources[at].lower for at in range(known - 1, -1, -1))
