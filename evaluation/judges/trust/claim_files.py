"""Keeps the figures of each verifier in a file, and finds them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from evaluation.judges.trust.claim_figures import ClaimCount, VerifierFigures
from evaluation.judges.trust.trust_files import get_figures_folder, name_file, read_model, write_model
from evaluation.values import VersionOne


class _StoredFigures(BaseModel):
    """The content of a file. The threshold is computed from the counts, never read."""

    model_config = ConfigDict(extra="forbid")

    format: VersionOne
    verifier: str
    tasks: Annotated[int, Field(ge=0)]
    max_wrong: Annotated[float, Field(gt=0, lt=1)]
    counts: tuple[ClaimCount, ...]


def save_figures(figures: VerifierFigures) -> Path:
    """Stores the figures of a verifier for this user, in place of earlier ones, and returns the file.

    Raises:
        OSError: The file cannot be written. An earlier file is unchanged.
    """
    stored = _StoredFigures(
        format=1,
        verifier=figures.verifier,
        tasks=figures.tasks,
        max_wrong=figures.max_wrong,
        counts=figures.counts,
    )
    return write_model(_find_file(figures.verifier), stored)


def find_figures(verifier: str) -> VerifierFigures | None:
    """Finds the figures of a verifier on this machine; None if there are none, or the file is damaged."""
    stored = read_model(_find_file(verifier), _StoredFigures)
    if stored is None or stored.verifier != verifier:
        return None
    return VerifierFigures(stored.verifier, stored.tasks, stored.max_wrong, stored.counts)


def _find_file(verifier: str) -> Path:
    return get_figures_folder("verifiers") / name_file(verifier)
