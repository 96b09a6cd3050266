"""Similarity in meaning, by an injected embedder."""

import math

import pytest

from evaluation.metrics.response.semantic import semantic_similarity


class Vectors:
    def __init__(self, *vectors):
        self.vectors = list(vectors)
        self.texts = []

    def embed_documents(self, texts):
        self.texts.append(texts)
        return self.vectors


class Failing:
    def embed_documents(self, texts):
        raise RuntimeError(f"no quota for {texts[0]}")


@pytest.mark.parametrize(
    ("first", "second", "cosine"),
    [
        ([1.0, 0.0], [1.0, 0.0], 1.0),
        ([1.0, 0.0], [0.0, 3.0], 0.0),
        ([1.0, 0.0], [-2.0, 0.0], -1.0),
        ([1.0, 1.0], [1.0, 0.0], math.sqrt(0.5)),
        ([3, 4], [4, 3], 0.96),
    ],
)
def test_it_is_the_cosine_of_the_vectors(first, second, cosine):
    assert semantic_similarity(Vectors(first, second), "a", "b") == pytest.approx(cosine)


def test_rounding_takes_no_cosine_beyond_one():
    vector = [0.4, -0.5, 0.9]

    assert semantic_similarity(Vectors(vector, vector), "a", "a") == 1.0
    assert semantic_similarity(Vectors(vector, [-part for part in vector]), "a", "b") == -1.0


@pytest.mark.parametrize(
    "vectors",
    [
        [[1.0]],
        [[1.0], [1.0, 2.0]],
        [[1.0], [math.nan]],
        [[1.0], [math.inf]],
        [[1.0, 0.0], [0.0, math.inf]],
        [[1.0], ["x"]],
        [[1.0], [None]],
        [[0.0], [1.0]],
        [[], []],
        [1.0, 2.0],
        [[10**400], [1.0]],
    ],
)
def test_a_malformed_answer_is_an_error_that_says_what_it_must_be(vectors):
    assert semantic_similarity(Vectors(*vectors), "a", "b") == {
        "status": "error",
        "reason": "the embedder's answer cannot be used; it must be two vectors of the same length, of "
        "finite numbers, and not zero",
    }


def test_both_texts_are_embedded_in_one_call_whose_error_is_named_without_its_text():
    embedder = Vectors([1.0], [1.0])
    semantic_similarity(embedder, "the output", "the reference")

    assert embedder.texts == [["the output", "the reference"]]
    assert semantic_similarity(None, "a", "b") == {
        "status": "not_applicable",
        "reason": "no embedder is given",
    }
    failed = {"status": "error", "reason": "the embedder raised RuntimeError"}
    assert semantic_similarity(Failing(), "secret", "b") == failed
