"""How each step is supervised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, get_args

from orchestrator.errors import ConfigurationError
from orchestrator.state.plain_values import shown, text_of
from orchestrator.state.records import SupervisionMode

ModeFunction: TypeAlias = Callable[[str, int], SupervisionMode]
MODES: Final[tuple[SupervisionMode, ...]] = get_args(SupervisionMode)


@dataclass(frozen=True, slots=True)
class Modes:
    """The mode of every step.

    Attributes:
        source: One mode for all steps, or a function of a step's text and index.
        human: Whether a person can be asked.
        model: Whether there is somebody to commit, to assess and to supervise.
    """

    source: SupervisionMode | ModeFunction
    human: bool
    model: bool

    def __post_init__(self) -> None:
        """Refuse what can be seen to fail before there is a plan.

        Raises:
            ConfigurationError: An unknown mode, or one that nobody can carry out.
        """
        if not callable(self.source):
            self._checked(self.source, "supervision")

    @property
    def default(self) -> SupervisionMode:
        """The mode of all steps; with a function, that of a plan that is not made yet."""
        return "none" if callable(self.source) else self.source

    @property
    def possible(self) -> frozenset[SupervisionMode]:
        """The modes that a step may have."""
        return frozenset(MODES if callable(self.source) else [self.source])

    @property
    def any(self) -> bool:
        """Whether any step may be supervised."""
        return self.source != "none"

    def of(self, steps: Sequence[str], first: int) -> list[SupervisionMode] | None:
        """The modes of planned steps; None where all have the same.

        Args:
            steps: Their texts.
            first: The index of the first.

        Raises:
            ConfigurationError: The function raised or returned no mode that can be carried out, by step.
        """
        if not callable(self.source):
            return None
        return [self._called(self.source, step, index) for index, step in enumerate(steps, first)]

    def _called(self, function: ModeFunction, step: str, index: int) -> SupervisionMode:
        where = f"step {index + 1}: supervision"
        try:
            mode = function(step, index)
        except Exception as error:
            # The caller's own code.
            raise ConfigurationError(f"{where} raised {type(error).__name__}: {text_of(error)}") from error
        return self._checked(mode, where)

    def _checked(self, mode: object, where: str) -> SupervisionMode:
        known = next((one for one in MODES if one == mode), None)
        if known is None:
            raise ConfigurationError(
                f"{where} is {shown(mode, 80)}; give 'none', 'llm', 'human', "
                "or a function of a step and its index"
            )
        if known == "human" and not self.human:
            raise ConfigurationError(
                f"{where} is 'human', and there is no checkpointer to keep the question; "
                "give LangGraphOrchestrator one, such as checkpointer=InMemorySaver()"
            )
        if known == "llm" and not self.model:
            raise ConfigurationError(
                f"{where} is 'llm', and there is no model for it; give agents that have an llm, "
                "or an executor with commit_step() and assess_step(), and a supervisor"
            )
        return known
