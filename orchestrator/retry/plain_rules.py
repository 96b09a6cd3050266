"""Rules as plain dicts: their types, for type checkers and editors, and how they are read.

The constructors of the rules and of ``RetryPolicy`` take the same types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, Required, TypeAlias, cast, get_args

from typing_extensions import TypedDict

from agents.models.transport_retry import TransportRetry, WaitName
from orchestrator.errors import ConfigurationError
from orchestrator.judging.report import RefusalKind
from orchestrator.retry.rules import BaseRule, LastOutput, RetryRule, Scalar, StartFrom, ToldChecks
from orchestrator.retry.stalls import StallRules
from orchestrator.state.plain_values import format_repr


class BaseOptions(TypedDict, total=False):
    """The fields of every rule besides ``use``."""

    after: RefusalKind | Sequence[RefusalKind] | None
    times: int | None


class FeedbackOptions(BaseOptions, total=False):
    """Fields of a ``FeedbackRule``."""

    last_output: LastOutput
    checks: ToldChecks
    start_from: StartFrom
    temperature: float | None


class FeedbackRuleDict(FeedbackOptions):
    """A ``FeedbackRule``."""

    use: Literal["feedback"]


class ResampleOptions(BaseOptions, total=False):
    """Fields of a ``ResampleRule``."""

    temperature: float | None


class ResampleRuleDict(ResampleOptions):
    """A ``ResampleRule``."""

    use: Literal["resample"]


class RepairOptions(BaseOptions, total=False):
    """Fields of a ``RepairRule``."""

    start_from: StartFrom
    temperature: float | None


class RepairRuleDict(RepairOptions):
    """A ``RepairRule``."""

    use: Literal["repair"]


class EscalateOptions(BaseOptions, total=False):
    """Fields of an ``EscalateRule``."""

    model: Required[str]
    last_output: LastOutput
    checks: ToldChecks
    start_from: StartFrom
    temperature: float | None


class EscalateRuleDict(EscalateOptions):
    """An ``EscalateRule``."""

    use: Literal["escalate"]


class ParallelOptions(BaseOptions, total=False):
    """Fields of a ``ParallelRule``."""

    n: Required[int]
    temperature: float | None


class ParallelRuleDict(ParallelOptions):
    """A ``ParallelRule``."""

    use: Literal["parallel"]


class CustomOptions(BaseOptions, total=False):
    """Fields of a ``CustomRule``."""

    name: Required[str]
    options: Mapping[str, Scalar]
    temperature: float | None


class CustomRuleDict(CustomOptions):
    """A ``CustomRule``."""

    use: Literal["custom"]


class DecomposeRuleDict(BaseOptions):
    """A ``DecomposeRule``."""

    use: Literal["decompose"]


class AskHumanRuleDict(BaseOptions):
    """An ``AskHumanRule``."""

    use: Literal["ask_human"]


class StopRuleDict(BaseOptions):
    """A ``StopRule``."""

    use: Literal["stop"]


RetryRuleDict: TypeAlias = (
    FeedbackRuleDict
    | ResampleRuleDict
    | RepairRuleDict
    | EscalateRuleDict
    | ParallelRuleDict
    | CustomRuleDict
    | DecomposeRuleDict
    | AskHumanRuleDict
    | StopRuleDict
)
"""One rule of ``RetryPolicy.strategies``."""


class StallRulesDict(TypedDict, total=False):
    """``StallRules``."""

    same_output: int | None
    same_tool_call: int | None
    no_improvement: int | None


class TransportRetryDict(TypedDict, total=False):
    """A ``TransportRetry``."""

    max_attempts: int
    initial_seconds: float
    max_seconds: float
    wait: WaitName


class RetryPolicyDict(TypedDict, total=False):
    """A ``RetryPolicy``."""

    max_retries: int
    strategies: Sequence[RetryRule | RetryRuleDict]
    judge_attempts: int
    needs_review: Literal["fail", "retry", "human"]
    reveal: Literal["task", "all"]
    transport: TransportRetry | TransportRetryDict
    stall: StallRules | StallRulesDict | None
    max_replans: int
    exhausted: Literal["fail", "accept_best"]
    seed: int


_RULES: Final[Mapping[str, type[BaseRule]]] = {
    rule.model_fields["use"].default: rule for rule in get_args(get_args(RetryRule)[0])
}


def read_rules(value: object) -> object:
    """Reads rules from plain data; returns anything else as it is, which pydantic then refuses.

    Raises:
        ConfigurationError: A rule is not accepted; the message begins with its place.
    """
    if not isinstance(value, list | tuple):
        return value
    return tuple(_read_place(item, place) for place, item in enumerate(value))


def _read_place(value: object, place: int) -> BaseRule:
    if isinstance(value, BaseRule):
        return value
    if not isinstance(value, Mapping) or value.get("use") not in [*_RULES]:
        names = ", ".join(_RULES)
        raise ConfigurationError(
            f"strategies[{place}] is {format_repr(value, 80)}; "
            f"give a rule, or an object whose 'use' is one of {names}"
        )
    try:
        return read_rule(value)
    except ConfigurationError as error:
        raise ConfigurationError(f"strategies[{place}]: {error}") from None


def read_rule(values: Mapping[str, object]) -> BaseRule:
    """Reads one rule from plain data.

    Raises:
        ConfigurationError: A value is not accepted, or ``use`` names no strategy.
    """
    use = values.get("use")
    if use not in [*_RULES]:
        raise ConfigurationError(f"use is {format_repr(use, 80)}; give one of {', '.join(_RULES)}")
    build = cast("Callable[..., BaseRule]", _RULES[str(use)])
    return build(**{str(name): value for name, value in values.items()})
