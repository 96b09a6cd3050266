"""Lists the metrics of a response, and computes their values for one output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from evaluation.metrics.response.rouge import rouge_1, rouge_l, token_f1
from evaluation.metrics.response.text import (
    levenshtein_similarity,
    normalized_exact_match,
)
from evaluation.results.findings import Score, not_applicable, unscored_error
from evaluation.texts.words import split_words

TEXT_METRICS: Final = ("exact_match", "normalized_exact_match", "levenshtein_similarity")
WORD_METRICS: Final = (
    "token_jaccard",
    "token_f1",
    "rouge_1",
    "rouge_1_precision",
    "rouge_1_recall",
    "rouge_l",
)
REFERENCE_METRICS: Final = (*TEXT_METRICS, *WORD_METRICS)
"""Metrics that compare an output with a reference and need no other input."""
QUALITY_METRICS: Final = frozenset({*REFERENCE_METRICS, "keyword_coverage"})
"""Metrics of quality: a threshold on one of them replaces the default check."""
LENGTHS: Final = ("characters", "words")

RESPONSE_METRICS: Final[Mapping[str, Literal["higher", "lower"] | None]] = {
    **dict.fromkeys(REFERENCE_METRICS, "higher"),
    "keyword_coverage": "higher",
    "required_content": "higher",
    "forbidden_content": "lower",
    **dict.fromkeys(LENGTHS, None),
}
"""Every metric of a response, with the direction that is better; None for lengths, which have none."""

_TOO_LONG: Final = "the texts are too long for it"
_NO_WORDS: Final = "the reference has no words"


def score_against_reference(output: str, reference: str, words: Sequence[str]) -> dict[str, Score]:
    """Compare an output (and its ``words``) with a reference: ``REFERENCE_METRICS`` and keyword coverage.

    The keywords are the distinct words of the reference. Metrics of words are not applicable if the
    reference has no words.
    """
    distance = levenshtein_similarity(output, reference)
    f1 = token_f1(output, reference)
    return {
        "exact_match": output == reference,
        "normalized_exact_match": normalized_exact_match(output, reference),
        "levenshtein_similarity": unscored_error(_TOO_LONG) if distance is None else distance,
        **_word_scores(words, split_words(reference)),
        "token_f1": not_applicable(_NO_WORDS) if f1 is None else f1,
    }


def _word_scores(words: Sequence[str], reference_words: Sequence[str]) -> dict[str, Score]:
    if not reference_words:
        return dict.fromkeys((*WORD_METRICS, "keyword_coverage"), not_applicable(_NO_WORDS))
    observed, expected = set(words), set(reference_words)
    shared, overlap = len(observed & expected), rouge_1(words, reference_words)
    in_order = rouge_l(words, reference_words)
    return {
        "token_jaccard": shared / len(observed | expected),
        "rouge_1": overlap.f1,
        "rouge_1_precision": not_applicable("the output has no words")
        if overlap.precision is None
        else overlap.precision,
        "rouge_1_recall": overlap.recall,
        "rouge_l": unscored_error(_TOO_LONG) if in_order is None else in_order,
        "keyword_coverage": shared / len(expected),
    }
