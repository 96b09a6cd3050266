"""EvaluationOptions: everything that the evaluation of a run uses besides contracts and the judge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias, cast

from evaluation import ContractError, EvaluationReport, Price
from evaluation.checks.contract_checks import require_checks
from evaluation.checks.custom import CustomCheck
from evaluation.plugins import (
    AnyJudge,
    JudgeFunction,
    PluginOptions,
    check_judge,
)
from evaluation.sensitive.spans import Recognizer
from orchestrator.errors import ConfigurationError, ContractFunctionError
from orchestrator.state.plain_values import format_repr, format_text

Baseline: TypeAlias = Mapping[str, object] | EvaluationReport
BaselineFunction: TypeAlias = Callable[[str, str], Baseline | None]
"""Takes the task and the text of a step. Returns what the step is compared with, or None."""


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """The settings of the evaluation of each step, besides its contract and the judge.

    Attributes:
        baseline: What every step is compared with: an earlier report, metrics by name, several runs as
            ``{"runs": [...]}``, or a function of the task and the step.
            The ``baseline_metrics`` of an ``EvaluationCase`` that is a contract come first.
        prices: Prices by model, for ``cost_usd``. A budget's prices need not be repeated.
        recognizers: Further searches for sensitive data.
        named_checks: Functions with ``@check`` and ``CommandCheck`` objects that contracts can name.

    Raises:
        ConfigurationError: ``baseline`` is neither an object, nor a report, nor a function, or an item of
            ``named_checks`` is no check.
    """

    baseline: Baseline | BaselineFunction | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    recognizers: tuple[Recognizer, ...] = ()
    named_checks: Sequence[CustomCheck] = ()

    def __post_init__(self) -> None:
        """Checks the baseline and the checks; the evaluation checks the others."""
        baseline: object = self.baseline
        if not (baseline is None or callable(baseline) or isinstance(baseline, Mapping | EvaluationReport)):
            raise ConfigurationError(
                f"baseline is {format_repr(baseline, 80)}; give an earlier report, metrics by name, "
                "or a function of the task and the step"
            )
        _require_checks(self.named_checks, "named_checks")

    def with_checks(self, checks: Sequence[CustomCheck]) -> Self:
        """Returns the options with further checks that contracts can name.

        Raises:
            ConfigurationError: An item is no check, or has the name of another one.
        """
        return replace(self, named_checks=(*self.named_checks, *_require_checks(checks, "checks")))

    def list_plugins(self) -> PluginOptions:
        """Returns the plug-ins of the evaluation graph, by name."""
        return PluginOptions(prices=self.prices, recognizers=self.recognizers, named_checks=self.named_checks)

    async def find_baseline(self, task: str, step: str) -> Baseline | None:
        """Returns the baseline of a step. A function runs in a thread, because it may read a store.

        Raises:
            ContractFunctionError: The function raised.
        """
        if not callable(self.baseline):
            return self.baseline
        try:
            return await asyncio.to_thread(self.baseline, task, step)
        except Exception as error:
            # User code may raise anything; the run ends with this as its failure.
            raise ContractFunctionError(
                f"the baseline function raised {type(error).__name__}: {format_text(error)}"
            ) from error


def _require_checks(checks: object, option: str) -> tuple[CustomCheck, ...]:
    try:
        return require_checks(checks, option)
    except ContractError as error:
        raise ConfigurationError(str(error)) from None


def check_evaluation(options: object) -> None:
    """Checks the type of the option ``evaluation``.

    Raises:
        ConfigurationError: It is neither EvaluationOptions nor None.
    """
    if options is not None and not isinstance(options, EvaluationOptions):
        raise ConfigurationError(
            f"evaluation is {format_repr(options, 80)}; "
            "give EvaluationOptions(baseline=..., prices=...), or None"
        )


def read_judge(judge: object) -> AnyJudge | None:
    """Returns a judge as it is, a function as a judge, and None as None.

    Raises:
        ConfigurationError: It is neither a function nor an object with ``judge`` or ``ajudge``.
    """
    try:
        return check_judge(cast("AnyJudge | JudgeFunction | None", judge))
    except ContractError as error:
        raise ConfigurationError(f"{error}, or None for the monitor") from None
