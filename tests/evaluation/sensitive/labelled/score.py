"""Recall and precision of a search on the labelled set."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tests.evaluation.sensitive.labelled.sample import Sample

Find = Callable[[str], Iterable[tuple[int, int, str]]]
"""Gives start, end and category of everything that it finds in a text."""


@dataclass(frozen=True)
class Score:
    """What was found of what is there, and how much of what was found is there."""

    expected: int
    recalled: int
    found: int
    right: int
    missed: tuple[Sample, ...]
    false: tuple[tuple[str, str], ...]
    """Text and the stretch that should not have been found."""

    @property
    def recall(self) -> float:
        """Share of the labelled values that are covered from end to end."""
        return self.recalled / self.expected

    @property
    def precision(self) -> float:
        """Share of the found stretches that overlap a labelled value."""
        return self.right / self.found


def score(find: Find, positives: Sequence[Sample], negatives: Sequence[Sample], category: str) -> Score:
    """Judge ``find`` by all texts, counting what it says of one category."""
    missed: list[Sample] = []
    false: list[tuple[str, str]] = []
    found = 0
    for sample in [*positives, *negatives]:
        spans = [(start, end) for start, end, said in find(sample.text) if said == category]
        labelled = [_place(sample.text, value) for value in sample.values if sample.category == category]
        missed += [sample for place in labelled if not any(_covers(span, place) for span in spans)]
        false += [
            (sample.text, sample.text[a:b])
            for a, b in spans
            if not any(_meets((a, b), place) for place in labelled)
        ]
        found += len(spans)
    expected = sum(len(sample.values) for sample in positives if sample.category == category)
    return Score(expected, expected - len(missed), found, found - len(false), tuple(missed), tuple(false))


def _place(text: str, value: str) -> tuple[int, int]:
    start = text.rindex(value)
    return start, start + len(value)


def _covers(span: tuple[int, int], place: tuple[int, int]) -> bool:
    return span[0] <= place[0] and span[1] >= place[1]


def _meets(span: tuple[int, int], place: tuple[int, int]) -> bool:
    return span[0] < place[1] and place[0] < span[1]
