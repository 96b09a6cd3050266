"""EvaluationOptions: everything that the evaluation of a run uses besides contracts and the judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, cast

from evaluation import ContractError, Price
from evaluation.checks.contract_checks import require_checks
from evaluation.checks.custom import CustomCheck
from evaluation.plugins import AnyJudge, JudgeFunction, check_judge
from evaluation.sensitive.spans import Recognizer
from orchestrator.errors import ConfigurationError
from orchestrator.state.plain_values import format_repr


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """The settings of the evaluation of each step, besides its contract and the judge.

    Attributes:
        prices: Prices by model, for ``cost_usd``. A budget's prices need not be repeated.
        recognizers: Further searches for sensitive data.
        named_checks: Functions with ``@check`` and ``CommandCheck`` objects that contracts can name.

    Raises:
        ConfigurationError: An item of ``named_checks`` is no check.
    """

    prices: Mapping[str, Price] = field(default_factory=dict)
    recognizers: tuple[Recognizer, ...] = ()
    named_checks: Sequence[CustomCheck] = ()

    def __post_init__(self) -> None:
        """Checks the checks; the evaluation checks the others."""
        _require_checks(self.named_checks, "named_checks")

    def with_checks(self, checks: Sequence[CustomCheck]) -> Self:
        """Returns the options with further checks that contracts can name.

        Raises:
            ConfigurationError: An item is no check, or has the name of another one.
        """
        return replace(self, named_checks=(*self.named_checks, *_require_checks(checks, "checks")))


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
            f"evaluation is {format_repr(options, 80)}; give EvaluationOptions(prices=...), or None"
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
