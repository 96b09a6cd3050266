"""ROUGE-1 and token F1."""

import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.response_scores import rouge_1, score_against_reference
from evaluation.texts.normal import split_words


def test_known_values(subtests):
    for output, reference, unigrams in [
        ("police kill the gunman", "police killed the gunman", (3 / 4,) * 3),
        ("the gunman kill police", "police killed the gunman", (3 / 4,) * 3),
        ("the the the", "the cat sat", (1 / 3,) * 3),
        ("a b", "a b c d", (1.0, 1 / 2, 2 / 3)),
        ("a b a b", "a b a b x", (1.0, 4 / 5, 8 / 9)),
        ("", "a", (None, 0.0, 0.0)),
    ]:
        with subtests.test(output=output):
            overlap = rouge_1(output.split(), reference.split())

            assert (overlap.precision, overlap.recall, overlap.f1) == pytest.approx(unigrams)


def token_f1(output, reference):
    score = score_against_reference(output, reference, split_words(output))["token_f1"]
    return None if isinstance(score, dict) else score


def squad_f1(output, reference):
    """Token F1 as the evaluation script of SQuAD computes it."""

    def tokens(text):
        bare = "".join(char for char in text.lower() if char not in string.punctuation)
        return re.sub(r"\b(a|an|the)\b", " ", bare).split()

    observed, expected = tokens(output), tokens(reference)
    shared = (Counter(observed) & Counter(expected)).total()
    return 2 * shared / (len(observed) + len(expected)) if expected else None


WORDS = st.sampled_from(
    ["the", "The", "a", "an", "cat", "Cat.", "well-known", "(3.14)", "U.S.", "snake_case", "x"]
)


@given(st.lists(WORDS).map(" ".join), st.lists(WORDS).map(" ".join))
def test_token_f1_is_the_one_of_squad(output, reference):
    assert token_f1(output, reference) == pytest.approx(squad_f1(output, reference))


def test_token_f1_of_articles_and_other_scripts(subtests):
    for output, reference, f1 in [
        ("The cat sat", "a cat sat", 1.0),
        ("the", "the", None),
        ("", "cat", 0.0),
        ("東京 です", "東京", 2 * 2 / 6),
    ]:
        with subtests.test(output=output):
            assert token_f1(output, reference) == f1
