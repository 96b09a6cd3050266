"""What an arm is given, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from langchain_core.language_models import BaseChatModel

from benchmarks.effect.prompts import Prompt


@dataclass(frozen=True, slots=True)
class Trial:
    """One prompt for an arm.

    Attributes:
        prompt: The prompt. Only ``official-contract`` may read its instructions.
        model: The model, new for each trial.
        retries: Answers that may follow the first.
        is_right: The official checkers. Only ``blind-retries`` may call them.
    """

    prompt: Prompt
    model: BaseChatModel
    retries: int
    is_right: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of an arm.

    Attributes:
        output: The output; the last one if none was accepted.
        claimed: Whether the arm says that the output is right; None if it says nothing.
        basis: What the claim rests on, if the arm says it.
        checks: Number of checks of the output, if the arm has checks.
        unchecked: Number of requirements that were recognised and are not checked.
        is_whole: Whether the model ended the output before its limit of tokens, if the arm says it.
    """

    output: str
    claimed: bool | None = None
    basis: str | None = None
    checks: int | None = None
    unchecked: int | None = None
    is_whole: bool | None = None


class Arm(Protocol):
    """One way to get a prompt answered."""

    name: ClassVar[str] | str
    package: ClassVar[str] | str
    """The package to install, empty if nothing is needed besides this project."""
    module: ClassVar[str] | str

    def answer(self, trial: Trial) -> Answer:
        """Answer a prompt."""
        ...
