"""Computes ROUGE (Lin 2004): the words, word pairs and words in order that two texts share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

from rapidfuzz.distance import LCSseq

from evaluation.metrics.response.text import matching_cost

MAX_COST: Final = 6_000_000
MAX_WORDS: Final = 400_000
"""Beyond these limits a longest common subsequence is not computed: about 0.2 s."""
Item = TypeVar("Item", bound=Hashable)


class Overlap(NamedTuple):
    """The items that an output shares with a reference of at least one item, counted (Lin 2004)."""

    shared: int
    of_output: int
    of_reference: int

    @property
    def f1(self) -> float:
        """2 shared / (of_output + of_reference): the harmonic mean of precision and recall."""
        return 2 * self.shared / (self.of_output + self.of_reference)

    @property
    def precision(self) -> float | None:
        """Shared / of_output; None if the output has no items."""
        return self.shared / self.of_output if self.of_output else None

    @property
    def recall(self) -> float:
        """Shared / of_reference."""
        return self.shared / self.of_reference


def rouge_1(output: Sequence[str], reference: Sequence[str]) -> Overlap:
    """Count the shared words, each as often as both texts have it (clipped).

    Its F is also the token F1 of SQuAD (Rajpurkar et al. 2016), over the same words.
    """
    return Overlap(count_shared(output, reference), len(output), len(reference))


def rouge_2(output: Sequence[str], reference: Sequence[str]) -> Overlap:
    """Count the shared pairs of neighbouring words, each as often as both texts have it (clipped)."""
    observed, expected = list(pairwise(output)), list(pairwise(reference))
    return Overlap(count_shared(observed, expected), len(observed), len(expected))


def rouge_l(output: Sequence[str], reference: Sequence[str]) -> Overlap | None:
    """Count the words of the longest common subsequence; each text counts as one sentence.

    Returns None if different texts are too long (``MAX_COST``; two texts of 18,000 words are not).
    """
    longest = max(len(output), len(reference))
    if output == reference:
        return Overlap(longest, longest, longest)
    if longest > MAX_WORDS or matching_cost(len(output), len(reference)) > MAX_COST:
        return None
    return Overlap(LCSseq.similarity(output, reference), len(output), len(reference))


def count_shared(observed: Iterable[Item], expected: Iterable[Item]) -> int:
    """Count the items of ``expected`` that occur in ``observed``, each as often as both have it."""
    return (Counter(observed) & Counter(expected)).total()
