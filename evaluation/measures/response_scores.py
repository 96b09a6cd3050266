"""Lists the metrics of a response, compares an output with its reference, and finds the facts that it lost.

A fact of the reference is lost if the output lacks it; a weekday or an abbreviation, only if the output has
another one. Further facts in the output are accepted, but it must have as many negations as the reference.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from rapidfuzz.distance import Levenshtein

from evaluation.findings import Score, Unscored
from evaluation.measures.metric_table import WORD_METRICS
from evaluation.texts.fact_reading import Fact, Facts, Value, read_facts
from evaluation.texts.normal import fold_case, read_disguised, split_words, unify_signs
from evaluation.texts.numbers import agree_units

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


_TOO_LONG: Final = Unscored(status="error", reason="the texts are too long for it")
_NO_WORDS: Final = Unscored(status="not_applicable", reason="the reference has no words")


def score_against_reference(output: str, reference: str, words: Sequence[str]) -> dict[str, Score]:
    """Compare an output (and its ``words``) with a reference: ``REFERENCE_METRICS`` and keyword coverage.

    The keywords are the distinct words of the reference. Metrics of words are not applicable if the
    reference has no words.
    """
    distance, reference_words = levenshtein_similarity(output, reference), split_words(reference)
    # In ASCII, texts with other words differ in more than case, white space and marks.
    may_match = words == reference_words or not (output.isascii() and reference.isascii())
    return {
        "exact_match": output == reference,
        "normalized_exact_match": may_match and normalized_exact_match(output, reference),
        "levenshtein_similarity": _TOO_LONG if distance is None else distance,
        **_word_scores(words, reference_words),
    }


def _word_scores(words: Sequence[str], reference_words: Sequence[str]) -> dict[str, Score]:
    if not reference_words:
        return dict.fromkeys((*WORD_METRICS, "keyword_coverage"), _NO_WORDS)
    observed, expected = set(words), set(reference_words)
    shared = len(observed & expected)
    return {
        "token_jaccard": shared / len(observed | expected),
        "rouge_1": rouge_1(words, reference_words),
        "keyword_coverage": shared / len(expected),
    }


def rouge_1(output: Sequence[str], reference: Sequence[str]) -> float:
    """F1 of the shared words, each as often as both texts have it (clipped); words are not stemmed.

    2 shared / (words of the output + words of the reference), of which there is at least one.

    Source: Lin (2004), ROUGE: a package for automatic evaluation of summaries.
    """
    shared = (Counter(output) & Counter(reference)).total()
    return 2 * shared / (len(output) + len(reference))


MAX_CHARACTERS: Final = 20_000
"""Longest text whose facts are read: a second at worst."""


def find_lost_facts(output: str, reference: str) -> list[str]:
    """Name the facts of the reference that an output changes or leaves out; none if the texts are equal."""
    if output == reference:
        return []
    if max(len(output), len(reference)) > MAX_CHARACTERS:
        return [f"facts in more than {MAX_CHARACTERS} characters, which are not compared"]
    observed, expected = _read_facts(output), _read_facts(reference)
    places, kinds = _index_values(observed.facts), {fact.kind for fact in observed.facts}
    absent = [fact for fact in expected.facts if not _has_value(places, fact.value)]
    lost = [fact for fact in absent if fact.is_vital or (fact.kind in kinds and fact.kind != "number")]
    named = (f"the {fact.kind} {fact.shown}" for fact in lost)
    return [*dict.fromkeys(named), *_compare_negations(observed.negations, expected.negations)]


# A reference is often compared with many outputs: with each retry, each trial, each version of an agent.
@lru_cache(128)
def _read_facts(text: str) -> Facts:
    # As a person sees it, so that no look-alike hides a negation.
    return read_facts(read_disguised(text))


def _index_values(facts: Iterable[Fact]) -> dict[Hashable, list[Value]]:
    places: dict[Hashable, list[Value]] = defaultdict(list)
    for value in dict.fromkeys(fact.value for fact in facts):
        for key in map(_find_key, value.readings):
            places[key].append(value)
    return places


def _has_value(places: Mapping[Hashable, Sequence[Value]], value: Value) -> bool:
    keys = map(_find_key, value.readings)
    return any(_agree(value, other) for key in keys for other in places.get(key, ()))


def _find_key(reading: Hashable) -> Hashable:
    """Return a key that readings share if they can agree."""
    # A date (year, month, day) may lack its year or day, so the month decides; a time always has its minute.
    return reading[1] if isinstance(reading, tuple) else reading


def _agree(first: Value, second: Value) -> bool:
    return agree_units(first.unit, second.unit) and any(
        read_alike(a, b) for a in first.readings for b in second.readings
    )


def read_alike(first: Hashable, second: Hashable) -> bool:
    """Compare two readings; a part of a date or time that one of them leaves out agrees with any."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        return all(a == b or a is None or b is None for a, b in zip(first, second, strict=True))
    return first == second


def _compare_negations(observed: Sequence[str], expected: Sequence[str]) -> Iterator[str]:
    if len(observed) != len(expected):
        seen, wanted = (" ".join(dict.fromkeys(map(str.lower, words))) for words in (observed, expected))
        yield f"the negations (in the reference {wanted or 'none'}, in the output {seen or 'none'})"
