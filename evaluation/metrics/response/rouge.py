"""ROUGE: how many words, pairs of words or words in order two texts share (Lin 2004)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

from rapidfuzz.distance import LCSseq

from evaluation.metrics.response.text import steps

MAX_STEPS: Final = 6_000_000
MAX_WORDS: Final = 400_000
"""Beyond these a longest common subsequence is not computed: about 0.2 s."""
Item = TypeVar("Item", bound=Hashable)


class Overlap(NamedTuple):
    """What an output has in common with a reference that has items, counted."""

    shared: int
    of_output: int
    of_reference: int

    @property
    def f1(self) -> float:
        """2 shared / (of_output + of_reference): the harmonic mean of precision and recall."""
        return 2 * self.shared / (self.of_output + self.of_reference)

    @property
    def precision(self) -> float | None:
        """Shared / of_output; None for an output without items."""
        return self.shared / self.of_output if self.of_output else None

    @property
    def recall(self) -> float:
        """Shared / of_reference."""
        return self.shared / self.of_reference


def rouge_1(output: Sequence[str], reference: Sequence[str]) -> Overlap:
    """Count the words in common, each as often as both have it (clipped).

    Its F is also the token F1 of SQuAD (Rajpurkar et al. 2016), over the same words.
    """
    return Overlap(clipped(output, reference), len(output), len(reference))


def rouge_2(output: Sequence[str], reference: Sequence[str]) -> Overlap:
    """Count the pairs of neighbouring words in common, each as often as both have it (clipped)."""
    observed, expected = list(pairwise(output)), list(pairwise(reference))
    distinct, wanted = set(observed), set(expected)
    if len(distinct) == len(observed) or len(wanted) == len(expected):  # nothing to clip: most texts
        shared = len(distinct & wanted)
    else:
        shared = clipped(observed, expected)
    return Overlap(shared, len(observed), len(expected))


def rouge_l(output: Sequence[str], reference: Sequence[str]) -> Overlap | None:
    """Count the words of the longest common subsequence; the texts are taken whole, as one sentence.

    None where different texts are too long for it (``MAX_STEPS``; two texts of 18,000 words are not).
    """
    longest = max(len(output), len(reference))
    if output == reference:
        return Overlap(longest, longest, longest)
    if longest > MAX_WORDS or steps(len(output), len(reference)) > MAX_STEPS:
        return None
    return Overlap(LCSseq.similarity(output, reference), len(output), len(reference))


def clipped(observed: Iterable[Item], expected: Iterable[Item]) -> int:
    """Count how many of ``expected`` are matched by ``observed``, each one once."""
    left: dict[Item, int] = {}
    for item in expected:
        left[item] = left.get(item, 0) + 1
    shared = 0
    for item in observed:
        if left.get(item):
            left[item] -= 1
            shared += 1
    return shared
