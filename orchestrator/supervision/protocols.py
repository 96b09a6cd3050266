"""What supervision needs of others. Any object with these methods will do.

An async twin with the name's ``a`` prefix is used where there is one. What they return is read as a
model's reply is: what cannot be read fails closed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from orchestrator.state.records import Commitment, SelfAssessment, SuperviseRequest


@runtime_checkable
class Supervisor(Protocol):
    """Finds what went otherwise than committed to, and decides on it."""

    def reconcile(
        self, commitment: Commitment, assessment: SelfAssessment, findings: Sequence[str], /
    ) -> Mapping[str, object]:
        """Return ``{"triggers": [str, ...], "escalate": bool}``, without asking a model."""
        ...

    def supervise(self, request: SuperviseRequest, /) -> Mapping[str, object]:
        """Return ``{"verdict": "continue" | "reorient" | "ask_human" | "halt", ...}``.

        With it the ``correction`` of "reorient", the ``question`` of "ask_human", the ``reason`` of "halt".
        """
        ...


@runtime_checkable
class CommittingExecutor(Protocol):
    """An executor that makes its own commitments."""

    def commit_step(self, step: str, /, context: str = "") -> Mapping[str, object]:
        """Return at least ``{"interpretation": str}``; further keys are those of ``Commitment``."""
        ...


@runtime_checkable
class AssessingExecutor(Protocol):
    """An executor that assesses its own work."""

    def assess_step(self, step: str, commitment: Commitment, output: str, /) -> Mapping[str, object]:
        """Return at least ``{"met_commitment": bool}``; further keys are those of ``SelfAssessment``."""
        ...
