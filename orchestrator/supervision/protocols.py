"""Protocol of a supervisor, and the methods of an executor that commits and assesses by itself.

Any object with the methods works. If it also has an async method with the prefix ``a`` (``asupervise``), that
method is called. A return value is read like a model's reply: one that cannot be read never lets a step
continue.

An executor may have ``commit_step(step, context="")``, which returns ``{"interpretation": str}``, optionally
with further keys of ``Commitment``, and ``assess_step(step, commitment, output)``, which returns
``{"met_commitment": bool}``, optionally with further keys of ``SelfAssessment``. Both may take
``task=""``: the task and the outline of the plan, empty if the step is the whole task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, Protocol, runtime_checkable

from typing_extensions import TypedDict

from orchestrator.state.supervision_records import Commitment, SelfAssessment


class SuperviseRequest(TypedDict):
    """Everything that a supervisor sees of a step that is not clean.

    ``output`` is complete; ``findings`` are the findings of the evaluation, in words. ``task`` holds the task
    and the outline of the plan; it is empty if the step is the whole task.
    """

    objective: str
    task: NotRequired[str]
    output: str
    commitment: Commitment | None
    assessment: SelfAssessment | None
    triggers: list[str]
    findings: list[str]


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
