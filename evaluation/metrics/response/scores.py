"""The metrics of a response: their names, and their values for one output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from evaluation.metrics.response.rouge import Overlap, rouge_1, rouge_2, rouge_l
from evaluation.metrics.response.text import (
    exact_match,
    keyword_coverage,
    levenshtein_similarity,
    normalized_exact_match,
    plain,
    token_coverage,
    token_jaccard,
    tokens,
)
from evaluation.results.findings import Unscored, not_applicable, unscored_error

Score: TypeAlias = float | int | bool | Unscored
"""A value, or why there is none."""

TEXT_METRICS: Final = ("exact_match", "normalized_exact_match", "levenshtein_similarity")
_PARTS: Final = {
    rouge: (rouge, f"{rouge}_precision", f"{rouge}_recall") for rouge in ("rouge_1", "rouge_2", "rouge_l")
}
"""The names of a ROUGE's F, precision and recall."""
WORD_METRICS: Final = ("token_jaccard", "token_f1", *(name for names in _PARTS.values() for name in names))
REFERENCE_METRICS: Final = (*TEXT_METRICS, *WORD_METRICS)
"""What compares an output with a reference, and needs nothing else."""
QUALITY_METRICS: Final = frozenset({*REFERENCE_METRICS, "keyword_coverage", "semantic_similarity"})
"""What says how good an answer is, when a threshold is put on it."""
LENGTHS: Final = ("characters", "words")

RESPONSE_METRICS: Final[Mapping[str, Literal["higher", "lower"] | None]] = {
    **dict.fromkeys(REFERENCE_METRICS, "higher"),
    "keyword_coverage": "higher",
    "semantic_similarity": "higher",
    "required_content": "higher",
    "forbidden_content": "lower",
    **dict.fromkeys(LENGTHS, None),
}
"""Every metric of a response, with the direction that is better; of a length, neither."""

_TOO_LONG: Final = "the texts are too long for it"
_NO_WORDS: Final = "the reference has no words"
_NO_PAIRS: Final = "the reference has no two words in a row"


def reference_scores(output: str, reference: str, words: Sequence[str]) -> dict[str, Score]:
    """Compare an output (and its ``words``) with a reference: ``REFERENCE_METRICS`` and keyword coverage.

    The keywords are the distinct words of the reference. What is asked of words has no answer for a
    reference without any.
    """
    distance = levenshtein_similarity(output, reference)
    return {
        "exact_match": exact_match(output, reference),
        "normalized_exact_match": normalized_exact_match(output, reference),
        "levenshtein_similarity": unscored_error(_TOO_LONG) if distance is None else distance,
        **_word_scores(words, tokens(reference)),
    }


def _word_scores(words: Sequence[str], wanted: Sequence[str]) -> dict[str, Score]:
    if not wanted:
        return dict.fromkeys((*WORD_METRICS, "keyword_coverage"), not_applicable(_NO_WORDS))
    unigrams, observed, expected = rouge_1(words, wanted), set(words), set(wanted)
    return {
        "token_jaccard": token_jaccard(observed, expected),
        "token_f1": unigrams.f1,
        **_rouge("rouge_1", unigrams),
        **_rouge("rouge_2", rouge_2(words, wanted) if len(wanted) > 1 else not_applicable(_NO_PAIRS)),
        **_rouge("rouge_l", rouge_l(words, wanted) or unscored_error(_TOO_LONG)),
        "keyword_coverage": token_coverage(observed, expected),
    }


def _rouge(rouge: str, overlap: Overlap | Unscored) -> dict[str, Score]:
    names = _PARTS[rouge]
    if not isinstance(overlap, Overlap):
        return dict.fromkeys(names, overlap)
    precision = overlap.precision
    return {
        names[0]: overlap.f1,
        names[1]: not_applicable("the output has too few words") if precision is None else precision,
        names[2]: overlap.recall,
    }


def keyword_score(output: str, words: Sequence[str], keywords: Sequence[str]) -> Score:
    """Score the keywords (one at least) that a contract names in an output with its words."""
    blank = next((index for index, keyword in enumerate(keywords) if not plain(keyword)), None)
    if blank is not None:
        return unscored_error(f"keywords[{blank}] is blank")
    return keyword_coverage(output, words, keywords)
