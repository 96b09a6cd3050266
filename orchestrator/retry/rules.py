"""The rules of a retry policy: what is done after a failed execution, and after which failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, Unpack, get_args

from pydantic import (
    BeforeValidator,
    Field,
    FiniteFloat,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from orchestrator.judging.report import RefusalKind
from orchestrator.runtime.settings_model import LARGEST, SettingsModel

if TYPE_CHECKING:
    from orchestrator.retry import plain_rules

_KINDS: Final = ", ".join(get_args(RefusalKind))
Scalar: TypeAlias = str | int | float | bool | None


def _read_kinds(value: object) -> object:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


def _read_options(value: object) -> object:
    return tuple(sorted(value.items())) if isinstance(value, Mapping) else value


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
LastOutput = Literal["auto", "turn", "quoted", "none"]
_LastOutput: TypeAlias = Annotated[LastOutput, Field(description="'auto', 'turn', 'quoted' or 'none'")]
ToldChecks = Literal["all", "next", "worst"]
_ToldChecks: TypeAlias = Annotated[ToldChecks, Field(description="'all', 'next' or 'worst'")]
StartFrom = Literal["last", "best"]
_StartFrom: TypeAlias = Annotated[StartFrom, Field(description="'last' or 'best'")]
# Each decision stores the options of its rule.
_Option: TypeAlias = str | Annotated[int, Field(ge=-LARGEST, le=LARGEST)] | FiniteFloat | bool | None
_Options: TypeAlias = Annotated[
    tuple[tuple[str, _Option], ...],
    BeforeValidator(_read_options),
    PlainSerializer(dict, return_type=dict[str, Scalar]),
    Field(description="an object whose values are texts, finite numbers, True, False or None"),
]

_DEFAULT_TEMPERATURE: Final = 0.7
"""A second try at temperature 0 repeats the first one."""


class BaseRule(SettingsModel):
    """One rule of ``RetryPolicy.strategies``. The first rule that matches a failure decides.

    Attributes:
        after: Kinds of failures; the rule matches if one of the failed checks has one of them. None matches
            every failed check. A missing verdict matches only a rule that names "unverified", and every rule
            if ``needs_review`` of the policy is "retry".
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
            checks as the answer to it; "quoted" shows both within the context; "none" adds the requirements
            that failed to the instruction and does not show the output. "auto" is "none" if only checks of
            the vocabulary failed, whose requirements say it all, and the step called no tool, which a second
            execution could call again; else it is "turn".
        checks: "all" failed checks; only the "worst" one; or the "next" one, another on each retry.
        start_from: The "last" output, or the "best" one so far.
        temperature: Temperature of the executor's model; None keeps its own.
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[plain_rules.FeedbackOptions]) -> None: ...

    use: Literal["feedback"] = "feedback"
    last_output: _LastOutput = "auto"
    checks: _ToldChecks = "all"
    start_from: _StartFrom = "last"
    temperature: Temperature = _DEFAULT_TEMPERATURE


class ResampleRule(BaseRule):
    """Executes the step again as if it were the first time, with another seed.

    Attributes:
        temperature: Temperature of the executor's model; None keeps its own.
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[plain_rules.ResampleOptions]) -> None: ...

    use: Literal["resample"] = "resample"
    temperature: Temperature = _DEFAULT_TEMPERATURE


class RepairRule(BaseRule):
    """Has only the parts rewritten that fail; the other paragraphs or lines stay as they are.

    Attributes:
        start_from: The "last" output, or the "best" one so far.
        temperature: Temperature of the executor's model; None keeps its own.
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[plain_rules.RepairOptions]) -> None: ...

    use: Literal["repair"] = "repair"
    start_from: _StartFrom = "best"
    temperature: Temperature = _DEFAULT_TEMPERATURE


class EscalateRule(BaseRule):
    """Executes the step again with another model.

    Attributes:
        model: A model specification such as "ollama:qwen3", or a name in ``models`` of the orchestrator.
        last_output: As of ``FeedbackRule``.
        checks: As of ``FeedbackRule``.
        start_from: As of ``FeedbackRule``.
        temperature: Temperature of that model; None keeps its own.
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[plain_rules.EscalateOptions]) -> None: ...

    use: Literal["escalate"] = "escalate"
    model: Annotated[str, Field(pattern=r"\S", description="a model specification, or a name of `models`")]
    last_output: _LastOutput = "none"
    checks: _ToldChecks = "all"
    start_from: _StartFrom = "last"
    temperature: Temperature = None


class ParallelRule(BaseRule):
    """Draws several samples, and accepts the first that passes. Each of them counts as a retry.

    Attributes:
        n: Number of samples, at least 2.
        temperature: Temperature of the executor's model; None keeps its own.
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[plain_rules.ParallelOptions]) -> None: ...

    use: Literal["parallel"] = "parallel"
    n: Annotated[int, Field(ge=2, description="a whole number of at least 2")]
    temperature: Temperature = _DEFAULT_TEMPERATURE


class CustomRule(BaseRule):
    """Executes the step again as a strategy of an installed package says.

    Attributes:
        name: Name in the group ``orchestrator.retry_strategies`` of entry points.
        options: Options of the strategy.
        temperature: Temperature of the executor's model; None keeps its own.
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[plain_rules.CustomOptions]) -> None: ...

    use: Literal["custom"] = "custom"
    name: Annotated[str, Field(pattern=r"\S", description="the name of an entry point")]
    options: _Options = ()
    temperature: Temperature = _DEFAULT_TEMPERATURE


class DecomposeRule(BaseRule):
    """Has the planner split the step; counts as one of ``max_replans``."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[plain_rules.BaseOptions]) -> None: ...

    use: Literal["decompose"] = "decompose"


class AskHumanRule(BaseRule):
    """Asks a person, who approves, corrects or denies. Needs a checkpointer."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[plain_rules.BaseOptions]) -> None: ...

    use: Literal["ask_human"] = "ask_human"


class StopRule(BaseRule):
    """Ends the retries of the step, as if none were left."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[plain_rules.BaseOptions]) -> None: ...

    use: Literal["stop"] = "stop"


ExecutingRule: TypeAlias = FeedbackRule | ResampleRule | RepairRule | EscalateRule | ParallelRule | CustomRule
"""The rules that execute the step again."""
RetryRule: TypeAlias = Annotated[
    ExecutingRule | DecomposeRule | AskHumanRule | StopRule, Field(discriminator="use")
]
