"""Protocols of user objects that take part in supervision. Any object with the methods works.

If an object also has an async method with the prefix ``a`` (``asupervise``), that method is called. A return
value is read like a model's reply: one that cannot be read never lets a step continue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from orchestrator.state.records import Commitment, SelfAssessment, SuperviseRequest


@runtime_checkable
class Supervisor(Protocol):
    """Compares an execution with its commitment, and decides how to continue."""

    def reconcile(
        self, commitment: Commitment, assessment: SelfAssessment, findings: Sequence[str], /
    ) -> Mapping[str, object]:
        """Returns ``{"triggers": [str, ...], "escalate": bool}``, without calling a model."""
        ...

    def supervise(self, request: SuperviseRequest, /) -> Mapping[str, object]:
        """Returns ``{"verdict": "continue" | "reorient" | "ask_human" | "halt", ...}``.

        "reorient" also needs a ``correction``, "ask_human" a ``question``; "halt" should have a ``reason``.
        """
        ...


@runtime_checkable
class CommittingExecutor(Protocol):
    """An executor that makes its own commitments."""

    def commit_step(self, step: str, /, context: str = "") -> Mapping[str, object]:
        """Returns ``{"interpretation": str}``, optionally with further keys of ``Commitment``."""
        ...


@runtime_checkable
class AssessingExecutor(Protocol):
    """An executor that assesses its own work."""

    def assess_step(self, step: str, commitment: Commitment, output: str, /) -> Mapping[str, object]:
        """Returns ``{"met_commitment": bool}``, optionally with further keys of ``SelfAssessment``."""
        ...
