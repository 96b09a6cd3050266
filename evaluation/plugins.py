"""The plug-ins of an evaluation: judge, prices, checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, TypedDict, runtime_checkable

from agents.credentials.detector import Recognizer
from evaluation.checks.contract_checks import CheckCaller, FunctionCheck, require_checks
from evaluation.contract.rubric import Rubric
from evaluation.errors import ContractError
from evaluation.report.report_model import Action
from evaluation.validation import InputModel
from evaluation.values import Quantity


class Turn(TypedDict):
    """One message of a conversation."""

    role: str
    """``user``, ``assistant``, ``system`` or ``tool``."""
    content: str
    """The texts of the message."""
    media: list[str]
    """The types of its parts that are no text, such as ``image_url``."""


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """The question to a judge: one run and the rubric to score it by."""

    rubric: Rubric
    input: str
    output: str
    reference: str | None = None
    actions: tuple[Action, ...] = ()
    conversation: tuple[Turn, ...] = ()
    """The messages before the output, in order. Empty if they say no more than ``input`` and ``actions``."""
    checks: tuple[str, ...] = ()
    """What code has decided about the output, one line for each check of the contract."""


@runtime_checkable
class Judge(Protocol):
    """Scores one run by a rubric.

    The answer is an object of JSON values, or its text: ``score`` (a number on the rubric's scale),
    ``rationale`` (text), and optionally ``criteria`` (a score by criterion name), ``concerns`` (texts),
    ``recommended_action`` (text) and ``usage`` (input_tokens, output_tokens, cost_usd, model). A text has to
    be the object alone. An answer that denies the success in another field (``"verdict": "fail"``), or lacks
    the score of one of several criteria, cannot approve. Other fields are kept as
    details. ``validate_judge_result`` checks the answer. An exception is recorded as a judge error, a
    ``JudgeError`` with its kind.
    """

    def judge(self, request: JudgeRequest) -> object:
        """Score ``request``."""


@runtime_checkable
class AsyncJudge(Protocol):
    """A judge that is awaited; one object may be both."""

    async def ajudge(self, request: JudgeRequest) -> object:
        """Score ``request``; the answer has the form described in ``Judge``."""


AnyJudge: TypeAlias = Judge | AsyncJudge
JudgeFunction: TypeAlias = Callable[[JudgeRequest], object]
"""Does the work of ``judge`` (or of ``ajudge``, if it is asynchronous)."""


@dataclass(frozen=True, slots=True)
class FunctionJudge:
    """Makes a judge of a function; of an asynchronous one, the answer has to be awaited."""

    function: JudgeFunction

    def judge(self, request: JudgeRequest) -> object:
        """Score ``request``."""
        return self.function(request)


def check_judge(judge: AnyJudge | JudgeFunction | None) -> AnyJudge | None:
    """Return a judge as it is, and a function as a judge.

    Raises:
        ContractError: It is neither a function nor an object with ``judge`` or ``ajudge``.
    """
    if isinstance(judge, type):
        raise ContractError(f"judge is the class {judge.__name__}; give an instance of it")
    if judge is None or isinstance(judge, Judge | AsyncJudge):
        return judge
    if callable(judge):
        return FunctionJudge(judge)
    raise ContractError(
        f"judge is a {type(judge).__name__}; give an object with judge() or ajudge(), or a function"
    )


class Price(InputModel):
    """Price of one model in US dollars for a million tokens.

    Raises:
        ContractError: A price is negative or not finite.
    """

    input_usd: Quantity
    output_usd: Quantity

    def cost(self, input_tokens: float, output_tokens: float) -> float:
        """Return the US dollars for tokens."""
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / 1e6


@dataclass(frozen=True, slots=True)
class Plugins:
    """The plug-ins of an evaluation: everything that is not data.

    Raises:
        ContractError: A price is no ``Price``, an item of ``checks`` or ``named_checks`` is no check, or two
            have the same name.
    """

    judge: Judge | AsyncJudge | None = None
    """Scores what no program can score. Without a judge, a run that needs one ends as ``needs_review``."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """By model; used to compute ``cost_usd`` if the run does not record it."""
    recognizers: tuple[Recognizer, ...] = ()
    """Further searches for sensitive data, besides the built-in one."""
    checks: Sequence[FunctionCheck] = ()
    """Functions with ``@check`` that each output has to pass."""
    named_checks: Sequence[FunctionCheck] = ()
    """Checks that run if a contract names them: ``{"check": "function", "name": ...}``."""
    call_check: CheckCaller = FunctionCheck.aevaluate
    """Calls the checks of the user's code; a run of an orchestrator bounds them by its own limits."""

    @classmethod
    def of(cls, judge: AnyJudge | JudgeFunction | None, options: PluginOptions) -> Plugins:
        """Build the plug-ins of the options of a caller.

        Raises:
            ContractError: An option or a plug-in is not accepted.
        """
        if unknown := options.keys() - PluginOptions.__annotations__.keys():
            accepted = ", ".join(PluginOptions.__annotations__)
            raise ContractError(f"{min(unknown)!r} is no option; the further options are {accepted}")
        return cls(check_judge(judge), **options)

    def __post_init__(self) -> None:
        """Check the prices, and the checks of the user's code."""
        prices: object = self.prices
        if not isinstance(prices, Mapping):
            raise ContractError(f"prices is {prices!r:.80}; give Price objects by the name of the model")
        for model, price in prices.items():
            if not isinstance(price, Price):
                given = f"prices[{model!r:.80}] is {price!r:.80}"
                raise ContractError(f"{given}; give Price(input_usd=..., output_usd=...)")
        if self.checks or self.named_checks:
            require_checks([*require_checks(self.checks), *require_checks(self.named_checks, "named_checks")])


class PluginOptions(TypedDict, total=False):
    """The plug-ins by name, without the judge; the fields of ``Plugins``."""

    prices: Mapping[str, Price]
    recognizers: tuple[Recognizer, ...]
    checks: Sequence[FunctionCheck]
    named_checks: Sequence[FunctionCheck]
    call_check: CheckCaller
