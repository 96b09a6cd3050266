"""Checks that run code of the user: how a result becomes an outcome, and ``@check`` for a function."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial, reduce
from importlib import import_module
from time import monotonic
from typing import ClassVar, Final, Literal, SupportsIndex, TypeAlias, overload

from agents.parsing.loose_json import replace_surrogates
from agents.sync import DaemonExecutor, run_sync
from evaluation.checks.check_model import COVERS, CheckContext, CheckOutcome, find_missing
from evaluation.errors import ContractError
from evaluation.findings import CheckKind
from evaluation.sensitive.scanner import describe_raised, keep_end, quote_text, redact, shorten
from evaluation.values import Severity

CustomSource: TypeAlias = Literal["function", "command"]
_GRACE_S: Final = 1.0
"""Seconds that a cancelled function may clean up before it is left behind."""
_LONGEST_TEXT: Final = 1000
"""Characters of a text of the user's code in a report."""


@dataclass(frozen=True, kw_only=True)
class CustomCheck(ABC):
    """A check that runs code of the user; contracts can name it, and never contain it.

    Attributes:
        name: Its name in contracts and reports.
        description: The requirement as an instruction, which an executor reads if the check fails.
        kind: The kind of failure: "format", "content", "length", "language" or "tool".
        severity: The effect of a failure: "critical" fails the run, "warning" and "info" only tell.
        timeout: Most seconds of one evaluation.

    Raises:
        ContractError: The name is blank, or the timeout is not a positive number.
    """

    source: ClassVar[CustomSource]

    name: str
    description: str = ""
    kind: CheckKind = "content"
    severity: Severity = "critical"
    timeout: float = 10.0

    def __post_init__(self) -> None:
        """Check the name and the timeout."""
        if not self.name.strip():
            raise ContractError("the name of a check is blank; give a text")
        if not (math.isfinite(self.timeout) and self.timeout > 0):
            raise ContractError(f"timeout is {self.timeout}; give a positive number of seconds")

    def evaluate(self, context: CheckContext) -> CheckOutcome:
        """Check one output from blocking code, also inside of a running event loop."""
        return run_sync(lambda: self.aevaluate(context))

    async def aevaluate(self, context: CheckContext) -> CheckOutcome:
        """Check one output. An error of the check is an outcome, too; nothing is raised."""
        missing = find_missing(context, self.kind)
        return await self._decide(context) if missing is None else self.complete(CheckOutcome(None, missing))

    @abstractmethod
    async def _decide(self, context: CheckContext) -> CheckOutcome: ...

    def complete(self, outcome: CheckOutcome) -> CheckOutcome:
        """Return an outcome with the texts that the user's code left out, redacted and shortened."""
        wanted = outcome.wanted or self.description or f"pass the check {quote_text(self.name)}"
        seen = outcome.seen or f"the check {quote_text(self.name)} {_VERBS[outcome.passed]}"
        sentence = outcome.sentence or f"{wanted[0].upper()}{wanted[1:]}; {seen}."
        wanted, seen, sentence = map(_limit_text, (wanted, seen, sentence))
        covers = COVERS[self.kind]
        return replace(outcome, wanted=wanted, seen=seen, sentence=sentence, kind=self.kind, covers=covers)

    def fail_with_error(self, problem: str) -> CheckOutcome:
        """Return the outcome of a check that has no answer."""
        return self.complete(describe_problem(self.name, problem))


def _limit_text(text: str) -> str:
    # Half of a pair of surrogates cannot be stored.
    return shorten(redact(replace_surrogates(text)), _LONGEST_TEXT)


def describe_problem(name: str, problem: str) -> CheckOutcome:
    """Return the outcome of a check that has no answer, from its problem as a clause."""
    sentence = f"The check {quote_text(name)} has no result: {problem}."
    return CheckOutcome(None, problem, sentence=sentence, is_error=True)


_VERBS: Final = {True: "passed", False: "did not pass", None: "could not tell"}


@dataclass(frozen=True, slots=True)
class Returned:
    """The value that a user's code returned."""

    value: object


CheckCaller: TypeAlias = Callable[[CustomCheck, CheckContext], Awaitable[CheckOutcome]]
"""Calls a check, for instance within the limits of a run."""


async def call_check(check: CustomCheck, context: CheckContext) -> CheckOutcome:
    """Call a check without further limits."""
    return await check.aevaluate(context)


async def run_bounded(
    start: Callable[[], Coroutine[object, object, object]], seconds: float
) -> Returned | str:
    """Run a user's code for at most ``seconds``. Returns its value, or its problem as a clause."""
    begin = monotonic()
    task = asyncio.ensure_future(_catch(start))
    try:
        await asyncio.wait((task,), timeout=seconds)
    finally:
        task.cancel()
    # The clock decides: code that blocks the event loop keeps its timeout from firing.
    if not task.done() or monotonic() - begin > seconds:
        await asyncio.wait((task,), timeout=_GRACE_S)
        return f"it took more than {seconds:g} s"
    return "it was cancelled" if task.cancelled() else task.result()


async def _catch(start: Callable[[], Awaitable[object]]) -> Returned | str:
    try:
        return Returned(await start())
    except BaseException as error:  # noqa: BLE001 - the user's code may raise anything
        return f"it raised {describe_raised(error)}"


CheckResult: TypeAlias = bool | CheckOutcome
CheckFunction: TypeAlias = Callable[[CheckContext], CheckResult | Awaitable[CheckResult]]
_TIMEOUT: Final = 10.0
_RESULTS: Final = "return True, False or a CheckOutcome"
_LONGEST_EVIDENCE: Final = 4000
_THREADS: Final = DaemonExecutor()


@dataclass(frozen=True, kw_only=True)
class FunctionCheck(CustomCheck):
    """A function as a check; ``@check`` builds it. Calling it calls the function.

    Attributes:
        function: Takes a ``CheckContext`` and returns a bool or a ``CheckOutcome``; may be asynchronous. One
            that is not runs in a thread, which goes on after the timeout: Python cannot end a thread.
    """

    source: ClassVar[CustomSource] = "function"

    function: CheckFunction

    def __post_init__(self) -> None:
        """Check the function."""
        super().__post_init__()
        if not callable(self.function) or isinstance(self.function, type | CustomCheck):
            raise ContractError(f"a check of {self.function!r:.80} is not possible; give a function")
        try:
            inspect.signature(self.function).bind(None)
        except (TypeError, ValueError) as error:
            raise ContractError(
                f"the check {self.name} cannot be called with one argument: {error}; "
                "let its only required parameter be the context"
            ) from None

    def __call__(self, context: CheckContext) -> CheckResult | Awaitable[CheckResult]:
        """Call the function."""
        return self.function(context)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        """Pickle a decorated function by its name, under which the module has this object."""
        names = (self.function.__module__, getattr(self.function, "__qualname__", ""))
        try:
            is_global = _load_global(*names) is self
        except (AttributeError, ImportError):
            is_global = False
        return (_load_global, names) if is_global else super().__reduce_ex__(protocol)

    async def _decide(self, context: CheckContext) -> CheckOutcome:
        # A function that changes its arguments must not change the record.
        own = replace(context, tool_calls=deepcopy(context.tool_calls))
        ended = await run_bounded(lambda: self._run(own), self.timeout)
        result = ended if isinstance(ended, str) else _read_result(ended.value)
        return self.fail_with_error(result) if isinstance(result, str) else self.complete(result)

    async def _run(self, context: CheckContext) -> object:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(context)
        call = partial(contextvars.copy_context().run, _call_in_thread, self.function, context)
        result = await asyncio.wrap_future(_THREADS.submit(call))
        return await result if inspect.isawaitable(result) else result


@overload
def check(function: CheckFunction, /) -> FunctionCheck: ...


@overload
def check(
    *,
    name: str | None = None,
    kind: CheckKind = "content",
    severity: Severity = "critical",
    timeout: float = _TIMEOUT,
) -> Callable[[CheckFunction], FunctionCheck]: ...


def check(
    function: CheckFunction | None = None,
    /,
    *,
    name: str | None = None,
    kind: CheckKind = "content",
    severity: Severity = "critical",
    timeout: float = _TIMEOUT,
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
        return FunctionCheck(
            function=function,
            name=getattr(function, "__name__", type(function).__name__) if name is None else name,
            description=_describe(function),
            kind=kind,
            severity=severity,
            timeout=timeout,
        )

    return build if function is None else build(function)


def _describe(function: CheckFunction) -> str:
    """Return the first line of the docstring, without its full stop."""
    lines = (inspect.getdoc(function) or "").strip().splitlines()
    return lines[0].strip().removesuffix(".") if inspect.isroutine(function) and lines else ""


def _call_in_thread(function: CheckFunction, context: CheckContext) -> object:
    try:
        return function(context)
    except StopIteration as error:
        # A future cannot carry StopIteration: awaiting it would never end.
        raise RuntimeError("StopIteration") from error


def _read_result(value: object) -> CheckOutcome | str:
    """Read the return value of a function: an outcome, or its problem as a clause."""
    if isinstance(value, bool):
        return CheckOutcome(value)
    if not isinstance(value, CheckOutcome):
        kind = "None" if value is None else f"a {type(value).__name__}"
        return f"it returned {kind}; {_RESULTS}"
    texts: list[object] = [value.seen, value.wanted, value.sentence, value.evidence]
    passed: object = value.passed
    if not (passed is None or isinstance(passed, bool)) or not all(isinstance(text, str) for text in texts):
        return "it returned a CheckOutcome with a field of a wrong type; give a bool or None, and texts"
    evidence = keep_end(replace_surrogates(value.evidence), _LONGEST_EVIDENCE)
    return replace(value, passed=None if value.is_error else value.passed, evidence=evidence)


def _load_global(module: str, qualname: str) -> object:
    return reduce(getattr, qualname.split("."), import_module(module))
