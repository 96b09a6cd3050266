"""How steps are supervised: their modes, the limits, RECONCILE without a model call, and the protocols.

Any object with the methods works. If it also has an async method with the prefix ``a`` (``asupervise``), that
method is called. A return value is read like a model's reply: one that cannot be read never lets a step
continue.

An executor may have ``commit_step(step, context="")``, which returns ``{"interpretation": str}``, optionally
with further keys of ``Commitment``, and ``assess_step(step, commitment, output)``, which returns
``{"met_commitment": bool}``, optionally with further keys of ``SelfAssessment``. Both may take
``task=""``: the task and the outline of the plan, empty if the step is the whole task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, NotRequired, Protocol, TypeAlias, get_args, runtime_checkable

from pydantic import Field
from typing_extensions import TypedDict

from evaluation.sensitive.scanner import shorten
from orchestrator.errors import ConfigurationError
from orchestrator.runtime.settings_model import Flag, PositiveCount, SettingsModel
from orchestrator.state.plain_values import format_repr, format_text
from orchestrator.state.records import Commitment, Reconciliation, SelfAssessment, SupervisionMode

ModeFunction: TypeAlias = Callable[[str, int], SupervisionMode]
MODES: Final[tuple[SupervisionMode, ...]] = get_args(SupervisionMode)


class SupervisionPolicy(SettingsModel):
    """Limits how often a step is corrected, and says how a person is asked.

    Attributes:
        max_reorient_attempts: How often the supervisor may have one step redone with a correction.
        max_assumptions: A commitment with more assumptions than this triggers supervision; None is no bound.
        human: Whether a person can be asked; needs a checkpointer. If nobody can be asked, a step about
            which the supervisor wants to ask fails with the question as its reason.

    Raises:
        ConfigurationError: A value is not accepted.
    """

    max_reorient_attempts: PositiveCount = 2
    max_assumptions: Annotated[
        int | None, Field(ge=0, description="a whole number of at least 0, or None for no bound")
    ] = None
    human: Flag = True


@dataclass(frozen=True, slots=True)
class Modes:
    """The supervision modes of a run.

    Attributes:
        source: One mode for all steps, or a function of a step's text and index.
        possible: The modes that somebody can carry out, of which a step of a plan may name one.
    """

    source: SupervisionMode | ModeFunction
    possible: frozenset[SupervisionMode]

    def __post_init__(self) -> None:
        """Checks a mode that is known before the plan.

        Raises:
            ConfigurationError: The mode is unknown, or nobody can carry it out.
        """
        if not callable(self.source):
            self._check_mode(self.source, "supervision")

    def plan_modes(
        self, steps: Sequence[str], declared: Sequence[SupervisionMode | None] | None, first: int
    ) -> list[SupervisionMode | None] | None:
        """Returns the mode of each planned step, None for the default mode; None if all steps have that.

        Args:
            steps: Texts of the steps.
            declared: The mode that the plan gives each step. It comes before ``source``.
            first: Index of the first step.

        Raises:
            ConfigurationError: The function raised, or it or the plan gave a mode that nobody can carry out.
        """
        if declared is None and not callable(self.source):
            return None
        # All steps at once: an invalid mode ends the run before its first step, not halfway.
        own = declared or [None] * len(steps)
        return [
            self._choose_mode(step, index, mode)
            for index, (step, mode) in enumerate(zip(steps, own, strict=True), first)
        ]

    def _choose_mode(self, step: str, index: int, declared: SupervisionMode | None) -> SupervisionMode | None:
        place, mode = f"step {index + 1}: supervision", declared
        if declared is None and callable(self.source):
            try:
                mode = self.source(step, index)
            except (Exception, SystemExit) as error:
                # The function is user code, which may raise anything.
                message = f"{place} raised {type(error).__name__}: {format_text(error)}"
                raise ConfigurationError(message) from error
        return declared if mode is None and not callable(self.source) else self._check_mode(mode, place)

    def _check_mode(self, value: object, place: str) -> SupervisionMode:
        mode = next((known for known in self.possible if known == value), None)
        if mode is None:
            accepted = ", ".join(repr(known) for known in MODES if known in self.possible)
            raise ConfigurationError(
                f"{place} is {format_repr(value, 80)}; give {accepted} ('human' needs a checkpointer such as "
                "InMemorySaver(), 'llm' agents with a model, and the mode of a single step supervision= or "
                "supervisor= of the orchestrator)"
            )
        return mode


TRIGGER_TEXT_LIMIT: Final = 300
"""Maximum number of characters of a trigger's text."""

TRIGGER_LIMIT: Final = 50
"""Maximum number of triggers. One more trigger counts the rest."""


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


def reconcile(
    commitment: Commitment,
    assessment: SelfAssessment,
    findings: Sequence[str] = (),
    max_assumptions: int | None = None,
) -> Reconciliation:
    """Compares an execution with its commitment.

    Args:
        commitment: The executor's statement before the execution.
        assessment: The executor's statement after the execution.
        findings: Findings of the evaluation, in words.
        max_assumptions: Maximum number of assumptions in a commitment; None for no bound.

    Returns:
        The triggers, facts first: ``commitment_unreadable``, ``commitment_not_met``,
        ``evaluation:<finding>``, ``excess_assumptions:<number>``, then the executor's own words:
        ``deviation:<text>``, ``concern:<text>``, ``unexpected:<text>``. A text has at most
        ``TRIGGER_TEXT_LIMIT`` characters. After ``TRIGGER_LIMIT`` triggers, ``more:<number>`` follows.
        Any trigger escalates.
    """
    count = len(commitment["assumptions"])
    is_excess = max_assumptions is not None and count > max_assumptions
    # Facts first: a long list of the executor's own words must not push them over the limit.
    triggers = [
        *list_facts(commitment, assessment, findings),
        *([] if assessment["met_commitment"] or not assessment["readable"] else ["commitment_not_met"]),
        *([f"excess_assumptions:{count}"] if is_excess else []),
        *_label_texts("deviation", assessment["deviations"]),
        *_label_texts("concern", assessment["concerns"]),
        *_label_texts("unexpected", assessment["unexpected"]),
    ]
    if (rest := len(triggers) - TRIGGER_LIMIT) > 0:
        triggers = [*triggers[:TRIGGER_LIMIT], f"more:{rest}"]
    return Reconciliation(triggers=triggers, escalate=bool(triggers))


def list_facts(
    commitment: Commitment | None, assessment: SelfAssessment | None, findings: Sequence[str]
) -> list[str]:
    """Lists the triggers that a supervisor cannot dismiss: unreadable statements, and findings."""
    return [
        *(["commitment_unreadable"] if commitment and not commitment["readable"] else []),
        *(["commitment_not_met"] if assessment and not assessment["readable"] else []),
        *_label_texts("evaluation", findings),
    ]


def _label_texts(kind: str, texts: Sequence[str]) -> list[str]:
    return [f"{kind}:{shorten(text, TRIGGER_TEXT_LIMIT)}" for text in texts]


def describe_trigger(trigger: str) -> str:
    """Describes a trigger in words: "deviation:a title" is "deviation: a title"; a finding says it all."""
    name, colon, text = trigger.partition(":")
    return text if name == "evaluation" else f"{name.replace('_', ' ')}{colon} {text.strip()}".rstrip()
