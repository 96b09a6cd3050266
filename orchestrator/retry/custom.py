"""Strategies of installed packages: found by their entry point, and called with the refused step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Final, Protocol, cast

from orchestrator.errors import ConfigurationError, RetryStrategyError
from orchestrator.retry.attempts import Attempt, read_attempts
from orchestrator.retry.correction import read_reason
from orchestrator.retry.request import StepRequest, list_wanted
from orchestrator.retry.rules import BaseRule, CustomRule, Scalar
from orchestrator.state.current_step import current_records
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.plain_values import format_repr, format_text

ENTRY_POINTS: Final = "orchestrator.retry_strategies"
"""The group of entry points whose names are names of strategies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedStep:
    """A step whose last output was refused.

    Attributes:
        request: The step as it would be executed without the strategy, with its own seed.
        output: The refused output.
        feedback: Why it was refused.
        wanted: The requirements that it does not meet, the most severe first.
        history: All executions of the step.
        options: Options of the rule.
    """

    request: StepRequest
    output: str
    feedback: str
    wanted: tuple[str, ...]
    history: tuple[Attempt, ...]
    options: Mapping[str, Scalar]


class RetryStrategy(Protocol):
    """Says how a refused step is executed again. It is called for each retry, and again after a crash."""

    def __call__(self, step: RefusedStep, /) -> StepRequest:
        """Returns the next execution, usually ``dataclasses.replace(step.request, instruction=...)``."""
        ...


def check_strategies(rules: Sequence[BaseRule]) -> None:
    """Loads the strategies that the rules name.

    Raises:
        ConfigurationError: One is not installed, or cannot be imported.
    """
    for rule in rules:
        if isinstance(rule, CustomRule):
            load_strategy(rule.name)


@cache
def load_strategy(name: str) -> RetryStrategy:
    """Loads the strategy of an installed package.

    Raises:
        ConfigurationError: It is not installed, or cannot be imported.
    """
    points = entry_points(group=ENTRY_POINTS)
    if name not in points.names:
        known = ", ".join(sorted(points.names)) or "none"
        raise ConfigurationError(
            f"no installed package has a retry strategy {format_repr(name, 80)}; "
            f"give one of the group {ENTRY_POINTS} of entry points ({known})"
        )
    try:
        loaded: object = points[name].load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - importing a package runs its code
        raise ConfigurationError(
            f"the retry strategy {name!r} cannot be imported: {format_text(error)}"
        ) from None
    if not callable(loaded):
        raise ConfigurationError(f"the retry strategy {name!r} is a {type(loaded).__name__}; give a function")
    return cast("RetryStrategy", loaded)


def build_custom_request(rule: CustomRule, state: OrchestratorState, request: StepRequest) -> StepRequest:
    """Calls the strategy that a rule names.

    Raises:
        RetryStrategyError: The strategy raised, or returned something else than a StepRequest.
    """
    records = current_records(state)
    step = RefusedStep(
        request=request,
        output=records[-1]["result"],
        feedback=read_reason(records[-1]),
        wanted=tuple(list_wanted(records[-1])),
        history=read_attempts(records),
        options=dict(rule.options),
    )
    try:
        answer: object = load_strategy(rule.name)(step)
    except (Exception, SystemExit) as error:
        text = f"{type(error).__name__}: {format_text(error)}"
        raise RetryStrategyError(f"the retry strategy {rule.name!r} raised {text}") from error
    if not isinstance(answer, StepRequest):
        raise RetryStrategyError(
            f"the retry strategy {rule.name!r} returned a {type(answer).__name__}; "
            "it has to return a StepRequest"
        )
    return answer
