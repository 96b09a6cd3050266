"""The rules of a retry policy: the next action after a failed execution, and after which failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias, get_args

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from orchestrator.runtime.settings_model import LARGEST, SettingsModel
from orchestrator.state.evaluation_report import RefusalKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refused output, and the reason that its author is told."""

    output: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRequest:
    """One execution of a step.

    Attributes:
        instruction: The step, with additions.
        context: Results of earlier steps.
        refused: The output to correct, which the executor gets apart; None if it gets none.
        temperature: Temperature of the model; None for its own.
        seed: Seed of the model; None for its own.
        model: Specification or name of another model; None for the executor's.
    """

    instruction: str
    context: str
    refused: Refusal | None = None
    temperature: float | None = None
    seed: int | None = None
    model: str | None = None


_KINDS: Final = ", ".join(get_args(RefusalKind))


def _read_kinds(value: object) -> object:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


_Kinds: TypeAlias = Annotated[
    Annotated[tuple[RefusalKind, ...], Field(min_length=1)] | None,
    BeforeValidator(_read_kinds),
    Field(description=f"kinds of failures ({_KINDS}), or leave it out for all"),
]
_Times: TypeAlias = Annotated[
    int | None,
    Field(ge=1, le=LARGEST, description="a whole number of at least 1, or leave it out for no bound"),
]
Temperature: TypeAlias = Annotated[
    int | float | None,
    Field(ge=0, le=2, description="a number from 0 to 2, or None for the model's own temperature"),
]
LastOutput = Literal["auto", "turn", "none"]

_DEFAULT_TEMPERATURE: Final = 0.7
"""A second try at temperature 0 repeats the first one."""


class BaseRule(SettingsModel):
    """One rule of ``RetryPolicy.strategies``. The first rule that matches a failure decides.

    Attributes:
        after: Kinds of failures; the rule matches if one of the failed checks has one of them. None matches
            every failed check. A missing verdict matches only a rule that names "unverified".
        times: How often the rule may decide in one step; None is no bound but ``max_retries``.

    Raises:
        ConfigurationError: A value is not accepted.
    """

    # Not "on", which other readers of YAML take for True.
    after: _Kinds = None
    times: _Times = None

    @model_serializer(mode="wrap")
    def _write_use(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        # Also if only the values that differ from the default are written: without it, no rule can be read.
        return {"use": type(self).model_fields["use"].default, **write(self)}


class FeedbackRule(BaseRule):
    """Executes the step again and tells the executor what failed.

    Attributes:
        last_output: "turn" shows the refused output as the executor's own message of the chat, and the failed
            checks as the answer to it; "none" adds the requirements that failed to the instruction and does
            not show the output. "auto" is "none" if only checks of the vocabulary failed, whose requirements
            say it all, and the step called no tool, which a second execution could call again; else it is
            "turn".
        temperature: Temperature of the executor's model; None keeps its own.
    """

    use: Literal["feedback"] = "feedback"
    last_output: LastOutput = "auto"
    temperature: Temperature = _DEFAULT_TEMPERATURE


class ResampleRule(BaseRule):
    """Executes the step again as if it were the first time, with another seed.

    Attributes:
        temperature: Temperature of the executor's model; None keeps its own.
    """

    use: Literal["resample"] = "resample"
    temperature: Temperature = _DEFAULT_TEMPERATURE


class EscalateRule(BaseRule):
    """Executes the step again with another model.

    Attributes:
        model: A model specification such as "ollama:qwen3", or a name in ``models`` of the orchestrator.
        last_output: As of ``FeedbackRule``.
        temperature: Temperature of that model; None keeps its own.
    """

    use: Literal["escalate"] = "escalate"
    model: Annotated[str, Field(pattern=r"\S", description="a model specification, or a name of `models`")]
    last_output: LastOutput = "none"
    temperature: Temperature = None


class AskHumanRule(BaseRule):
    """Asks a person, who approves, corrects or denies. Needs a checkpointer."""

    use: Literal["ask_human"] = "ask_human"


ExecutingRule: TypeAlias = FeedbackRule | ResampleRule | EscalateRule
"""The rules that execute the step again."""
RetryRule: TypeAlias = Annotated[ExecutingRule | AskHumanRule, Field(discriminator="use")]
