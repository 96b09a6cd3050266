"""The gate before each tool call of a step: a forbidden, denied or repeated call does not run its tool."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from agents.calls.journal import read_values
from agents.calls.planned_call import PlannedCall
from agents.contracts import GateDecision, HumanAnswer

TOOL_GATE: Final = "tool_gate"
"""Name of the gate in ``config["configurable"]``, and of a decision in the metadata of a tool call."""
TOOL_ORIGIN: Final = "tool_origin"
"""Name of the execution that a reused answer is from, in the metadata of a tool call."""
TOOL_ANSWER: Final = "tool_answer"
"""Name of a person's answer about a call, in the metadata of the call and in the journal."""
INTERRUPTED: Final = "the run was interrupted while the call was under way"


@dataclass(frozen=True, slots=True)
class EarlierCall:
    """The outcome of the same call before.

    Attributes:
        answer: Its answer; None if there is none.
        origin: The execution that it was made in.
        denial: The answer of the person who denied it.
        doubt: Why it is not known whether it had its effect.
    """

    answer: str | None = None
    origin: Mapping[str, object] | None = None
    denial: HumanAnswer | None = None
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """The tool runs; ``approval`` is the answer of the person who approved the call."""

    approval: HumanAnswer | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """A person decides; ``doubt`` says why it is not known whether the same call had its effect before."""

    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Refuse:
    """The tool does not run, and the model is told why; ``answer`` is a person's denial."""

    reason: str
    decision: GateDecision
    answer: HumanAnswer | None = None


@dataclass(frozen=True, slots=True)
class Reuse:
    """The tool does not run, and the model gets the answer of the same call before."""

    answer: str
    origin: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class StatedResult:
    """The tool does not run, and the model gets the result that a person states of the same call before."""

    answer: HumanAnswer


Decision: TypeAlias = Run | Ask | Refuse | Reuse
AskPerson: TypeAlias = Callable[[str, Mapping[str, object], str], HumanAnswer]
"""Asks a person about a call: its tool, its arguments, and why it is not known whether it ran before."""
FindBreach: TypeAlias = Callable[[str], str | None]
"""Takes the name of a tool. Returns in words for the model why it must not be called now, or None."""
FindEarlier: TypeAlias = Callable[[PlannedCall], EarlierCall | None]
"""Finds the same call before; None if the call is new."""


class StartLog(Protocol):
    """Keeps which calls have started, so that a resumed run knows of a call in which the process died."""

    def count(self, key: str) -> int:
        """Counts the starts of a call before the run was resumed."""
        ...

    def add(self, key: str, number: int) -> None:
        """Adds to the count of a call; returns after it is stored."""
        ...

    async def aadd(self, key: str, number: int) -> None:
        """Does the same without blocking the event loop."""
        ...


@dataclass(frozen=True, slots=True)
class ToolGate:
    """Decides before a tool runs whether it may.

    Attributes:
        find_breach: Says why a call must not be made; None if every call may be.
        counted: Names of the tools for which that depends on the calls before.
        ask_before: Names of the tools that run only if a person approves the call, or "all".
        once: Names of the tools that make the same call once.
        ask: Asks the person; None if nobody can be asked, so that such a call is denied.
        find_earlier: Finds the same call before; None if every call is new.
        starts: Keeps the starts of the tools in ``once``; None if the run cannot be resumed.
    """

    find_breach: FindBreach | None = None
    counted: Collection[str] = ()
    ask_before: Collection[str] = ()
    once: frozenset[str] = frozenset()
    ask: AskPerson | None = None
    find_earlier: FindEarlier | None = None
    starts: StartLog | None = None

    def decide(self, call: PlannedCall) -> Decision:
        """Decides whether the tool of a call may run."""
        earlier = self.find_earlier(call) if self.find_earlier is not None and call.runs_tool else None
        is_known, is_repeated = call.arguments is not None, earlier is not None and earlier.answer is not None
        breach = self.find_breach(call.name) if is_known and not is_repeated and self.find_breach else None
        if breach is not None:
            return Refuse(breach, "forbidden")
        if earlier is None:
            return self._ask(call) if is_known else Run()
        if earlier.denial is not None:
            return refuse_denied(earlier.denial, is_repeated=True)
        if earlier.answer is not None:
            return Reuse(earlier.answer, earlier.origin or {})
        return self.doubt(earlier.doubt)

    def doubt(self, reason: str) -> Ask | Refuse:
        """Decides about a call of which it is not known whether it had its effect before."""
        return refuse_doubtful(reason) if self.ask is None else Ask(reason)

    def ask_person(self, call: PlannedCall, doubt: str) -> HumanAnswer:
        """Asks a person about a call, after ``decide`` has returned ``Ask``.

        Raises:
            GraphInterrupt: The run waits for the answer.
        """
        if self.ask is None:
            raise LookupError("nobody can be asked")
        return self.ask(call.name, call.args, doubt)

    def _ask(self, call: PlannedCall) -> Decision:
        if self.ask_before != "all" and call.name not in self.ask_before:
            return Run()
        if self.ask is None:
            return Refuse("The call was denied: there is nobody to ask. Go on without it.", "denied")
        return Ask()


def refuse_denied(answer: HumanAnswer, *, is_repeated: bool = False) -> Refuse:
    """Returns the decision about a call that a person has denied, now or earlier in the step."""
    denied = "The same call was denied before in this step" if is_repeated else "The call was denied"
    reason = f"{denied}: {answer['answered_by']} said: {answer['text']}. Go on without it."
    return Refuse(reason, "denied", answer)


def refuse_doubtful(reason: str) -> Refuse:
    """Returns the decision about a call that may have had its effect before, if no person can be asked."""
    return Refuse(
        f"This call was made before, and it is not known whether it had its effect ({reason}), "
        "so it is not made again. Go on without it, and say so in your answer.",
        "unknown",
    )


_OPEN: Final = ToolGate()


def find_gate() -> ToolGate:
    """Returns the gate in the config of the running call; an open gate if there is none."""
    gate = read_values().get(TOOL_GATE)
    return gate if isinstance(gate, ToolGate) else _OPEN
