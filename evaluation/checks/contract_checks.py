"""The checks of a contract: how they are read, and how the user's own are found."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal, TypeAlias, TypedDict, Unpack, get_args, overload

from pydantic import Field, TypeAdapter, ValidationError

from agents.parsing.loose_json import replace_surrogates
from agents.sync import run_in_thread, run_sync
from evaluation.checks.check_model import (
    COVERS,
    BaseCheck,
    CheckContext,
    CheckModel,
    CheckOutcome,
    Text,
    find_missing,
)
from evaluation.checks.kinds import style, tools, wording
from evaluation.errors import ContractError
from evaluation.findings import CheckKind
from evaluation.sensitive.scanner import describe_raised, keep_end, quote_text, redact, shorten
from evaluation.validation import describe_errors, find_similar
from evaluation.values import Severity

CheckResult: TypeAlias = bool | CheckOutcome
CheckFunction: TypeAlias = Callable[[CheckContext], CheckResult | Awaitable[CheckResult]]
_LONGEST_TEXT: Final = 1000
"""Characters of a text of the user's code in a report."""
_LONGEST_EVIDENCE: Final = 4000
_VERBS: Final = {True: "passed", False: "did not pass", None: "could not tell"}


@dataclass(frozen=True, kw_only=True)
class FunctionCheck:
    """A function of the user as a check; contracts can name it. ``@check`` builds it.

    Attributes:
        function: Takes a ``CheckContext`` and returns a bool or a ``CheckOutcome``; may be asynchronous. One
            that is not runs in a thread, which goes on after the timeout: Python cannot end a thread.
        name: Its name in contracts and reports.
        description: The requirement as an instruction, which an executor reads if the check fails.
        kind: The kind of failure: "format", "content", "length", "language" or "tool".
        severity: The effect of a failure: "critical" fails the run, "warning" and "info" only tell.
        timeout: Most seconds of one evaluation.

    Raises:
        ContractError: The function does not take one argument, the name is blank, or the timeout is not a
            positive number.
    """

    function: CheckFunction
    name: str
    description: str = ""
    kind: CheckKind = "content"
    severity: Severity = "critical"
    timeout: float = 10.0

    def __post_init__(self) -> None:
        """Check the name, the timeout and the function."""
        if not self.name.strip():
            raise ContractError("the name of a check is blank; give a text")
        if not (math.isfinite(self.timeout) and self.timeout > 0):
            raise ContractError(f"timeout is {self.timeout}; give a positive number of seconds")
        if not callable(self.function) or isinstance(self.function, type):
            raise ContractError(f"a check of {self.function!r:.80} is not possible; give a function")
        try:
            inspect.signature(self.function).bind(None)
        except (TypeError, ValueError) as error:
            raise ContractError(
                f"the check {self.name} cannot be called with one argument: {error}; "
                "let its only required parameter be the context"
            ) from None

    def evaluate(self, context: CheckContext) -> CheckOutcome:
        """Check one output from blocking code, also inside of a running event loop."""
        return run_sync(lambda: self.aevaluate(context))

    async def aevaluate(self, context: CheckContext) -> CheckOutcome:
        """Check one output. An error of the check is an outcome, too; nothing is raised."""
        missing = find_missing(context, self.kind)
        if missing is not None:
            return self._complete(CheckOutcome(None, missing))
        limit = asyncio.timeout(self.timeout)
        try:
            async with limit:
                return self._read_result(await self._call(context))
        except Exception as error:  # noqa: BLE001 - the user's code may raise anything
            late = f"it took more than {self.timeout:g} s"
            return self.fail_with_error(late if limit.expired() else f"it raised {describe_raised(error)}")

    async def _call(self, context: CheckContext) -> object:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(context)
        result = await run_in_thread(lambda: self.function(context))
        return await result if inspect.isawaitable(result) else result

    def _read_result(self, value: object) -> CheckOutcome:
        if isinstance(value, bool):
            return self._complete(CheckOutcome(value))
        if not isinstance(value, CheckOutcome):
            kind = "None" if value is None else f"a {type(value).__name__}"
            return self.fail_with_error(f"it returned {kind}; return True, False or a CheckOutcome")
        passed: object = value.passed
        if not (passed is None or isinstance(passed, bool)):
            return self.fail_with_error("it returned a CheckOutcome whose 'passed' is no bool and not None")
        evidence = keep_end(replace_surrogates(value.evidence), _LONGEST_EVIDENCE)
        answer = None if value.is_error else value.passed
        return self._complete(replace(value, passed=answer, evidence=evidence))

    def _complete(self, outcome: CheckOutcome) -> CheckOutcome:
        """Return an outcome with the texts that the function left out, redacted and shortened."""
        wanted = outcome.wanted or self.description or f"pass the check {quote_text(self.name)}"
        seen = outcome.seen or f"the check {quote_text(self.name)} {_VERBS[outcome.passed]}"
        sentence = outcome.sentence or f"{wanted[0].upper()}{wanted[1:]}; {seen}."
        wanted, seen, sentence = map(_limit_text, (wanted, seen, sentence))
        covers = COVERS[self.kind]
        return replace(outcome, wanted=wanted, seen=seen, sentence=sentence, kind=self.kind, covers=covers)

    def fail_with_error(self, problem: str) -> CheckOutcome:
        """Return the outcome of a check that has no answer."""
        return self._complete(describe_problem(self.name, problem))


def _limit_text(text: str) -> str:
    # Half of a pair of surrogates cannot be stored.
    return shorten(redact(replace_surrogates(text)), _LONGEST_TEXT)


def describe_problem(name: str, problem: str) -> CheckOutcome:
    """Return the outcome of a check that has no answer, from its problem as a clause."""
    sentence = f"The check {quote_text(name)} has no result: {problem}."
    return CheckOutcome(None, problem, sentence=sentence, is_error=True)


CheckCaller: TypeAlias = Callable[[FunctionCheck, CheckContext], Coroutine[object, object, CheckOutcome]]
"""Calls a check, for instance within the limits of a run."""


class CheckOptions(TypedDict, total=False):
    """The options of ``check``; see there."""

    name: str
    kind: CheckKind
    severity: Severity
    timeout: float


@overload
def check(function: CheckFunction, /) -> FunctionCheck: ...


@overload
def check(**options: Unpack[CheckOptions]) -> Callable[[CheckFunction], FunctionCheck]: ...


def check(
    function: CheckFunction | None = None, /, **options: Unpack[CheckOptions]
) -> FunctionCheck | Callable[[CheckFunction], FunctionCheck]:
    """Make a check of a function, as ``@check`` or ``@check(name=..., ...)``.

    The function takes a ``CheckContext`` and returns a bool, or a ``CheckOutcome`` to say more, whose kind is
    replaced by the ``kind`` given here. The function may be asynchronous. If it raises, takes too long or
    returns anything else, the outcome is an error, never a pass.

    Args:
        function: The function. The first line of its docstring is the instruction that an executor reads if
            the check fails, such as "Start with a greeting".
        name: Name in contracts and reports. Default: the name of the function.
        kind: Kind of failure: "format", "content", "length", "language" or "tool".
        severity: "critical" fails the run, "warning" and "info" only tell.
        timeout: Most seconds of one evaluation. A thread cannot be ended: a function that is not asynchronous
            is left behind then.

    Raises:
        ContractError: The function does not take one argument, or an option is wrong.
    """

    def build(function: CheckFunction) -> FunctionCheck:
        name = getattr(function, "__name__", type(function).__name__)
        made = FunctionCheck(function=function, name=name, description=_describe(function))
        return replace(made, **options)

    return build if function is None else build(function)


def _describe(function: CheckFunction) -> str:
    """Return the first line of the docstring, without its full stop."""
    lines = (inspect.getdoc(function) or "").strip().splitlines()
    return lines[0].strip().removesuffix(".") if inspect.isroutine(function) and lines else ""


Check: TypeAlias = Annotated[
    wording.WordCount
    | wording.SentenceCount
    | wording.ParagraphCount
    | wording.LineCount
    | wording.CharacterCount
    | wording.Occurrences
    | tools.ToolCalls
    | tools.SourcedFacts
    | wording.Contains
    | wording.Excludes
    | wording.OneOf
    | style.StartsWith
    | style.EndsWith
    | style.LetterCase
    | style.Language
    | style.HeadingCount
    | style.ListItemCount
    | style.Markdown
    | style.Json
    | style.JsonSchema
    | style.Table
    | wording.Pattern
    | wording.StatesNumber,
    Field(discriminator="check"),
]
"""One check of the vocabulary."""

CHECKS: Final[Mapping[str, type[BaseCheck]]] = {
    model.model_fields["check"].default: model for model in get_args(get_args(Check)[0])
}
"""The models by the value of their field ``check``."""
CHECK_FIELDS: Final = tuple(dict.fromkeys(name for model in CHECKS.values() for name in model.model_fields))
"""The names of the fields of all checks."""
_LIST: Final = TypeAdapter(list[Check])


def read_checks(data: object) -> list[Check]:
    """Read checks from plain JSON data: a list of objects, each with its kind in the field ``check``.

    Raises:
        ContractError: A check cannot be used; one sentence for each problem, which begins with its path.
    """
    try:
        return _LIST.validate_python(data)
    except ValidationError as error:
        raise ContractError("; ".join(describe_errors(error, data, CHECK_FIELDS, "checks"))) from None


class NamedCheck(CheckModel):
    """A function of the user with ``@check``, by its name."""

    check: Literal["function"] = "function"
    name: Text
    severity: Severity | None = None
    """Default: the severity of the check itself."""


ContractChecks: TypeAlias = list[Annotated[Check | NamedCheck, Field(discriminator="check")]]
"""The checks of a contract: of the vocabulary, and by name."""
CONTRACT_CHECK_FIELDS: Final = (*CHECK_FIELDS, *NamedCheck.model_fields)


def require_checks(checks: object, option: str = "checks") -> tuple[FunctionCheck, ...]:
    """Return checks of the user's code as a tuple.

    Raises:
        ContractError: An item is none, or two have the same name.
    """
    items = checks if isinstance(checks, Sequence) and not isinstance(checks, str) else (checks,)
    wrong = [item for item in items if not isinstance(item, FunctionCheck)]
    if wrong or items is not checks:
        given = type(checks if items is not checks else wrong[0]).__name__
        raise ContractError(f"{option} has a {given}; give a list of functions with @check")
    found = tuple(item for item in items if isinstance(item, FunctionCheck))
    names = [item.name for item in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ContractError(
            f"{option} has two checks with the name {quote_text(twice)}; give one another name"
        )
    return found


def find_check(named: NamedCheck, given: Sequence[FunctionCheck]) -> FunctionCheck | str:
    """Find a check that the user gave by its name. Returns a clause why there is none."""
    match = next((check for check in given if check.name == named.name), None)
    if match is not None:
        return match
    if similar := find_similar(named.name, [check.name for check in given]):
        return f"no check has this name; did you mean {quote_text(similar)}?"
    return "no check has this name; pass it as checks=[...] or named_checks=[...]"
