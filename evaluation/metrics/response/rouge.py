"""Computes ROUGE (Lin 2004), the words and the words in order that two texts share, and token F1."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from rapidfuzz.distance import LCSseq

from evaluation.metrics.response.text import matching_cost
from evaluation.texts.words import split_words

MAX_COST: Final = 6_000_000
"""Limit of ``matching_cost`` up to which a longest common subsequence is computed: about 0.2 s."""
_WITHOUT_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_ARTICLES: Final = frozenset({"a", "an", "the"})


class Overlap(NamedTuple):
    """The shares of words that an output and a reference of at least one word have in common."""

    f1: float
    """2 shared / (of_output + of_reference): the harmonic mean of precision and recall."""
    precision: float | None
    """Shared / of_output; None if the output has no words."""
    recall: float
    """Shared / of_reference."""


def rouge_1(output: Sequence[str], reference: Sequence[str]) -> Overlap:
    """Count the shared words, each as often as both texts have it (clipped); words are not stemmed."""
    shared = (Counter(output) & Counter(reference)).total()
    precision = shared / len(output) if output else None
    return Overlap(2 * shared / (len(output) + len(reference)), precision, shared / len(reference))


def rouge_l(output: Sequence[str], reference: Sequence[str]) -> float | None:
    """F1 of the words of the longest common subsequence; each text counts as one sentence.

    Returns None if different texts are too long (``MAX_COST``; two texts of 18,000 words are not).
    """
    if output != reference and matching_cost(len(output), len(reference)) > MAX_COST:
        return None
    return 2 * LCSseq.similarity(output, reference) / (len(output) + len(reference))


def token_f1(output: str, reference: str) -> float | None:
    """F1 of the shared words as in SQuAD (Rajpurkar et al. 2016): without case, punctuation, a, an and the.

    Returns None if the reference has no other words.
    """
    expected = _squad_words(reference)
    return rouge_1(_squad_words(output), expected).f1 if expected else None


def _squad_words(text: str) -> list[str]:
    # SQuAD deletes punctuation, so "well-known" is one word; ``split_words`` alone would make two.
    return [word for word in split_words(text.translate(_WITHOUT_PUNCTUATION)) if word not in _ARTICLES]
