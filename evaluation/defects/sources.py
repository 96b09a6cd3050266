"""The texts that turns and calls may take values from, and the values in them by their origin."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from operator import attrgetter
from typing import Final, Literal

from evaluation.defects.arithmetic import read_numbers
from evaluation.defects.evidence import Call, Evidence, Moment
from evaluation.importers.conversation import ends_run
from evaluation.texts.fact_reading import Clock, TypedValue, find_times, read_typed

Origin = Literal["given", "asked", "query", "act", "effect", "read"]
"""``query``: the arguments of a call that does not act; ``act`` and ``effect``: those of one that acts, and
its answer; ``read``: the answer of any other call."""
SOURCES: Final[Sequence[Origin]] = ("given", "asked", "query", "effect", "read")
"""The origins of facts; what an agent passes to a call that acts may be its own invention."""
DONE: Final[Sequence[Origin]] = ("act", "effect")
ID_KEY: Final = re.compile(r"(?:\A|_)(?:id|number|no)\Z|[a-z](?:Id|Number|No)\Z")
_LINK: Final = re.compile(r"\bhttps?:(//[\w.-]+)/[^\s<>()\[\]\"'`|]+")
_TAG: Final = re.compile(r"([#@])(?<![\w&/#@].)[A-Za-z][\w-]+")
_SHORT_ID: Final = re.compile(r"(?<![\w&/#@.-])([A-Z]{2,}-|[A-Za-z]+_)\d{1,2}(?![\w-])")


@dataclass(frozen=True)
class Source:
    """A text, and the first moment at which a turn or a call may take values from it."""

    since: Moment
    origin: Origin
    text: str

    @cached_property
    def lower(self) -> str:
        """The text in lower case."""
        return self.text.lower()


@dataclass(frozen=True)
class SourceIndex:
    """The sources of a run in their order, and the first moment of each value by its origin."""

    evidence: Evidence

    @cached_property
    def texts(self) -> Sequence[Source]:
        """All texts, also those that the agent passes to the calls that act."""
        given = (Source((0, -1), "given", text) for text in self.evidence.given)
        asked = (Source(turn.moment, "asked", turn.text) for turn in self.evidence.asked)
        called = (source for call in self.evidence.calls for source in _list_call_texts(call))
        return sorted([*given, *asked, *called], key=attrgetter("since"))

    @cached_property
    def _first(self) -> Callable[[Origin], Mapping[TypedValue | Decimal, Moment]]:
        # Most runs need few of the origins, and to read all answers takes long; later entries win.
        return cache(
            lambda origin: {
                value: each.since
                for each in reversed(self.texts)
                if each.origin == origin
                for value in read_values(each.text) | read_numbers(each.text)
            }
        )

    def is_known(self, value: TypedValue | Decimal, moment: Moment, origins: Sequence[Origin]) -> bool:
        """Return whether a text of one of the origins has a value up to a moment."""
        return any(self._first(origin).get(value, (float("inf"), 0)) <= moment for origin in origins)

    def list_family(self, family: str, moment: Moment) -> list[str]:
        """Return the values of a family that the sources have up to a moment."""
        return sorted({value for value, since in self._families.get(family, ()) if since <= moment})

    @cached_property
    def _families(self) -> Mapping[str, Sequence[tuple[str, Moment]]]:
        found = defaultdict[str, list[tuple[str, Moment]]](list)
        for origin in SOURCES:
            for value, since in self._first(origin).items():
                if isinstance(value, TypedValue):
                    found[value.family].append((value.value, since))
        return found

    def has_text(self, part: str, moment: Moment) -> bool:
        """Return whether a text in lower case is in a source up to a moment; most are in one of the last."""
        known = (each for each in reversed(self.texts) if each.since <= moment and each.origin != "act")
        return any(part in each.lower for each in known)


index_sources: Final = lru_cache(1)(SourceIndex)
"""Returns the index of a run, which several rules read one after the other."""


def _list_call_texts(call: Call) -> Iterator[Source]:
    if call.acts or call.state == "refused":
        # Parts are read one by one: the end of one text and the beginning of the next are no value.
        yield from (Source(call.after, "act", str(leaf)) for _, leaf in call.leaves)
    elif not ends_run(call.name):
        yield Source(call.after, "query", call.args_text)
    yield Source(call.after, "effect" if call.acts else "read", call.answer)


def read_values(text: str) -> frozenset[TypedValue]:
    """Return the typed values of a text, its times, links, and names such as #general."""
    clocks = (clock for _, readings in find_times(text) for clock in readings if isinstance(clock, Clock))
    typed = (
        *(TypedValue("time", f"{clock.hour:02}:{clock.minute:02}") for clock in clocks),
        *(TypedValue(f"tag {match[1]}", match[0].lower()) for match in _TAG.finditer(text)),
        *list_links(text),
        *list_short_ids(text),
    )
    return frozenset((*typed, *read_typed(text)))


def list_links(text: str) -> Iterator[TypedValue]:
    """Yield the links of a text; the family of a link is its host."""
    links = _LINK.finditer(text) if "://" in text else ()
    yield from (TypedValue(match[1], match[0].rstrip(".,;:!?*")) for match in links)


def list_short_ids(text: str) -> Iterator[TypedValue]:
    """Yield the identifiers of one or two digits, such as rec_2 and AB-7."""
    yield from (TypedValue(f"identifier {match[1]}", match[0]) for match in _SHORT_ID.finditer(text))
