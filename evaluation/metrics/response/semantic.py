"""Compares the meaning of two texts by the vectors of an embedding model that the user provides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from typing import SupportsFloat

from evaluation.plugins import Embedder
from evaluation.results.findings import Unscored, not_applicable, unscored_error


def semantic_similarity(embedder: Embedder | None, output: str, reference: str) -> float | Unscored:
    """Cosine of the angle between the vectors of two texts: a . b / (|a| |b|), from -1 to 1.

    Not applicable without an embedder. An error if the embedder raises, or does not return two vectors of
    the same length, of finite numbers, and not zero.
    """
    if embedder is None:
        return not_applicable("no embedder is given")
    try:
        vectors = embedder.embed_documents([output, reference])
        return _compute_cosine(*_read_vectors(vectors))
    except _UnusableVectorsError as error:
        return unscored_error(f"the embedder's answer cannot be used: {error}")
    except Exception as error:  # noqa: BLE001 - the user's code may raise anything; its text may quote the output
        return unscored_error(f"the embedder raised {type(error).__name__}")


class _UnusableVectorsError(Exception):
    """The embedder did not return two usable vectors."""


def _read_vectors(vectors: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    if len(vectors) != 2:  # noqa: PLR2004
        raise _UnusableVectorsError(f"{len(vectors)} vectors for 2 texts")
    first, second = ([_read_number(part) for part in vector] for vector in vectors)
    if len(first) != len(second):
        raise _UnusableVectorsError(f"vectors of {len(first)} and {len(second)} numbers")
    return first, second


def _read_number(part: object) -> float:
    """Read one number of any numeric type, such as NumPy's."""
    if not isinstance(part, SupportsFloat):
        raise _UnusableVectorsError(f"a vector holds {type(part).__name__}")
    number = float(part)
    if not math.isfinite(number):
        raise _UnusableVectorsError(f"a vector holds {number}")
    return number


def _compute_cosine(first: list[float], second: list[float]) -> float:
    cosine = math.fsum(map(mul, _unit_vector(first), _unit_vector(second)))
    # Rounding may put the cosine of parallel vectors just above 1.
    return max(-1.0, min(1.0, cosine))


def _unit_vector(vector: list[float]) -> list[float]:
    """Scale a vector to the length 1."""
    # By its greatest part first, so that no square overflows.
    greatest = max(map(abs, vector), default=0.0)
    if not greatest:
        raise _UnusableVectorsError("a vector has the length 0")
    scaled = [part / greatest for part in vector]
    length = math.hypot(*scaled)
    return [part / length for part in scaled]
