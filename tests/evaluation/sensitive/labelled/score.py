"""Computes recall and precision of a search on the labelled set."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tests.evaluation.sensitive.labelled.sample import Sample

Find = Callable[[str], Iterable[tuple[int, int, str]]]
"""Returns start, end and category of every span in a text."""


@dataclass(frozen=True)
class Score:
    expected: int
    recalled: int
    reported: int
    right: int
    missed: tuple[Sample, ...]
    false_alarms: tuple[tuple[str, str], ...]
    """Each text, and the part that should not have been reported."""

    @property
    def recall(self) -> float:
        return self.recalled / self.expected

    @property
    def precision(self) -> float:
        return self.right / self.reported


def score(find: Find, positives: Sequence[Sample], negatives: Sequence[Sample], category: str) -> Score:
    missed: list[Sample] = []
    false_alarms: list[tuple[str, str]] = []
    reported = 0
    for sample in [*positives, *negatives]:
        spans = [(start, end) for start, end, label in find(sample.text) if label == category]
        labelled = [_place(sample.text, value) for value in sample.values if sample.category == category]
        missed += [sample for place in labelled if not any(_covers(span, place) for span in spans)]
        false_alarms += [
            (sample.text, sample.text[a:b])
            for a, b in spans
            if not any(_meets((a, b), place) for place in labelled)
        ]
        reported += len(spans)
    expected = sum(len(sample.values) for sample in positives if sample.category == category)
    right = reported - len(false_alarms)
    return Score(expected, expected - len(missed), reported, right, tuple(missed), tuple(false_alarms))


def _place(text: str, value: str) -> tuple[int, int]:
    start = text.rindex(value)
    return start, start + len(value)


def _covers(span: tuple[int, int], place: tuple[int, int]) -> bool:
    return span[0] <= place[0] and span[1] >= place[1]


def _meets(span: tuple[int, int], place: tuple[int, int]) -> bool:
    return span[0] < place[1] and place[0] < span[1]
