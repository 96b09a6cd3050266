"""Lists the metrics of a response, and compares an output with its reference, in any language."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from rapidfuzz.distance import Levenshtein

from evaluation.checks.segmentation import has_phrase
from evaluation.report.metric_groups import Score, not_applicable, unscored_error
from evaluation.texts.normal import fold_case, split_words, unify_signs

_MARKS: Final = re.compile(
    r"""^["'«»(\[{*_`¿¡]+|(?:[.,;:!?…。，、！？；：»)\]}*_`]|(?<!\d)["'])+$|^-$"""  # 5' is no quotation
)
"""The marks of a sentence, which stand around words; the signs of a number (-5, 3.14, 5 %) are none."""
MAX_EDIT_COST: Final = 12_000_000
"""Limit of ``matching_cost`` up to which an edit distance is computed: about 0.1 s."""


def normalized_exact_match(output: str, reference: str) -> bool:
    """Return whether the texts are the same except for case, Unicode form, white space and sentence marks.

    Marks within a word count: 3.14 is not 314, and well-known not wellknown. If the reference is only marks,
    marks are compared.
    """
    observed, expected = (fold_case(unify_signs(text)).split() for text in (output, reference))
    stripped = _strip_marks(expected)
    return _strip_marks(observed) == stripped if stripped else observed == expected


def _strip_marks(words: Iterable[str]) -> list[str]:
    return [bare for word in words if (bare := word if word.isalnum() else _MARKS.sub("", word))]


def levenshtein_similarity(output: str, reference: str) -> float | None:
    """1 - d / max(|output|, |reference|); d is the least number of insertions, deletions, substitutions.

    Levenshtein 1966, over the characters as they are; two empty texts have similarity 1. Returns None if
    different texts are too long (``MAX_EDIT_COST``; two texts of 25,000 characters are not).
    """
    if output != reference and matching_cost(len(output), len(reference)) > MAX_EDIT_COST:
        return None
    return Levenshtein.normalized_similarity(output, reference)


def matching_cost(first: int, second: int) -> int:
    """Return the machine words that bit-parallel matching visits: 64 of the shorter at once, per item."""
    return -(-min(first, second) // 64) * max(first, second)


def find_missing_keywords(output: str, keywords: Sequence[str]) -> list[str]:
    """List the keywords that do not occur in ``output`` as whole words, in any case."""
    return [each for each in keywords if not has_phrase(output, each, ignore_case=True, whole_words=True)]


TEXT_METRICS: Final = ("exact_match", "normalized_exact_match", "levenshtein_similarity")
WORD_METRICS: Final = (
    "token_jaccard",
    "token_f1",
    "rouge_1",
    "rouge_1_precision",
    "rouge_1_recall",
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
    distance, reference_words = levenshtein_similarity(output, reference), split_words(reference)
    # In ASCII, texts with other words differ in more than case, white space and marks.
    may_match = words == reference_words or not (output.isascii() and reference.isascii())
    f1 = _compare_squad_words(_squad_words(output, words), _squad_words(reference, reference_words))
    return {
        "exact_match": output == reference,
        "normalized_exact_match": may_match and normalized_exact_match(output, reference),
        "levenshtein_similarity": unscored_error(_TOO_LONG) if distance is None else distance,
        **_word_scores(words, reference_words),
        "token_f1": not_applicable(_NO_WORDS) if f1 is None else f1,
    }


def _word_scores(words: Sequence[str], reference_words: Sequence[str]) -> dict[str, Score]:
    if not reference_words:
        return dict.fromkeys((*WORD_METRICS, "keyword_coverage"), not_applicable(_NO_WORDS))
    observed, expected = set(words), set(reference_words)
    shared, overlap = len(observed & expected), rouge_1(words, reference_words)
    return {
        "token_jaccard": shared / len(observed | expected),
        "rouge_1": overlap.f1,
        "rouge_1_precision": not_applicable("the output has no words")
        if overlap.precision is None
        else overlap.precision,
        "rouge_1_recall": overlap.recall,
        "keyword_coverage": shared / len(expected),
    }


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
    observed, expected = Counter(output), Counter(reference)
    shared = sum([min(count, expected[word]) for word, count in observed.items() if word in expected])
    precision = shared / len(output) if output else None
    return Overlap(2 * shared / (len(output) + len(reference)), precision, shared / len(reference))


def _compare_squad_words(output: Sequence[str], reference: Sequence[str]) -> float | None:
    """F1 of the shared words as in SQuAD (Rajpurkar et al. 2016): without case, punctuation, a, an and the.

    Returns None if the reference has no other words.
    """
    return rouge_1(output, reference).f1 if reference else None


def _squad_words(text: str, words: Sequence[str]) -> list[str]:
    # SQuAD deletes punctuation, so "well-known" is one word; ``split_words`` alone would make two.
    bare = text.translate(_WITHOUT_PUNCTUATION)
    return [word for word in (words if bare == text else split_words(bare)) if word not in _ARTICLES]
