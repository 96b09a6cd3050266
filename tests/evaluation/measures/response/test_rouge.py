"""ROUGE-1."""

import pytest

from evaluation.measures.response_scores import rouge_1


def test_known_values(subtests):
    for output, reference, f1 in [
        ("police kill the gunman", "police killed the gunman", 3 / 4),
        ("the gunman kill police", "police killed the gunman", 3 / 4),
        ("the the the", "the cat sat", 1 / 3),
        ("a b", "a b c d", 2 / 3),
        ("a b a b", "a b a b x", 8 / 9),
        ("", "a", 0.0),
    ]:
        with subtests.test(output=output):
            assert rouge_1(output.split(), reference.split()) == pytest.approx(f1)
