"""CustomCheck: a check that runs code of the user, and how its result becomes an outcome."""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from time import monotonic
from typing import ClassVar, Final, Literal, TypeAlias

from agents.parsing.loose_json import replace_surrogates
from agents.sync import run_sync
from evaluation.checks.check_context import CheckContext
from evaluation.checks.check_model import COVERS, CheckKind, CheckOutcome, find_missing
from evaluation.errors import ContractError
from evaluation.sensitive.quoting import describe_raised, quote_text, redact, shorten
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
