"""How near two texts are in meaning, by the vectors of an embedding model that the caller injects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from typing import SupportsFloat

from evaluation.plugins import Embedder
from evaluation.results.findings import Unscored, not_applicable, unscored_error


def semantic_similarity(embedder: Embedder | None, output: str, reference: str) -> float | Unscored:
    """Cosine of the angle between the vectors of two texts: a . b / (|a| |b|), from -1 to 1.

    Without an embedder it is not applicable. One that raises, or that does not give two vectors of finite
    numbers, of one length and not zero, makes it an error.
    """
    if embedder is None:
        return not_applicable("no embedder is given")
    try:
        vectors = embedder.embed_documents([output, reference])
        return _cosine(*_pair(vectors))
    except _MalformedError as error:
        return unscored_error(f"the embedder's answer cannot be used: {error}")
    except Exception as error:  # noqa: BLE001 - the caller's code; its text may quote the output
        return unscored_error(f"the embedder raised {type(error).__name__}")


class _MalformedError(Exception):
    """An answer that is not two vectors."""


def _pair(vectors: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    if len(vectors) != 2:  # noqa: PLR2004
        raise _MalformedError(f"{len(vectors)} vectors for 2 texts")
    first, second = ([_number(part) for part in vector] for vector in vectors)
    if len(first) != len(second):
        raise _MalformedError(f"vectors of {len(first)} and {len(second)} numbers")
    return first, second


def _number(part: object) -> float:
    """Read one number; those of NumPy and the like are numbers too."""
    if not isinstance(part, SupportsFloat):
        raise _MalformedError(f"a vector holds {type(part).__name__}")
    number = float(part)
    if not math.isfinite(number):
        raise _MalformedError(f"a vector holds {number}")
    return number


def _cosine(first: list[float], second: list[float]) -> float:
    cosine = math.fsum(map(mul, _unit(first), _unit(second)))
    return max(-1.0, min(1.0, cosine))


def _unit(vector: list[float]) -> list[float]:
    """Scale a vector to the length 1, first by its greatest part, so that no square overflows."""
    greatest = max(map(abs, vector), default=0.0)
    if not greatest:
        raise _MalformedError("a vector has the length 0")
    scaled = [part / greatest for part in vector]
    length = math.hypot(*scaled)
    return [part / length for part in scaled]
