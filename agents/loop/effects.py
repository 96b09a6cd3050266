"""The types of calls of tools that act: an effect, an equal call before it, and who decides about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NotRequired, Protocol
from uuid import uuid4

from langchain_core.messages import BaseMessage, ToolCall
from typing_extensions import TypedDict

from agents.reply_types import EffectOutcome, GateDecision, HumanAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agents.loop.acting_tools import ActingTools


class ReadBack(TypedDict):
    """The answer of a reading tool that was asked after a call, or its error."""

    name: str
    args: dict[str, object]
    result: str | None
    error: str | None


class Effect(TypedDict):
    """One call of a tool that may act, as a store keeps it.

    It is written down before the call is made, as "unknown" and without an answer: that is what is known if
    the process dies in the call. ``execution`` is the id of the execution of the graph that made the call.
    ``gate`` says why the tool did not run, ``approval`` is the answer of a person, and ``made_in`` the
    execution whose answer is reused.
    """

    name: str
    args: dict[str, object]
    outcome: EffectOutcome
    answer: str | None
    execution: str
    gate: NotRequired[GateDecision]
    approval: NotRequired[HumanAnswer]
    made_in: NotRequired[Mapping[str, int]]
    read_back: NotRequired[ReadBack]


@dataclass(frozen=True, slots=True)
class Breach:
    """A call that the contract excludes.

    Attributes:
        told: Why, in words for the model, without an expected value that it may not know.
        finding: Why, in words for a person who decides about the call.
    """

    told: str
    finding: str


@dataclass(frozen=True, slots=True)
class EarlierCall:
    """The last equal call in another execution of the run.

    Attributes:
        outcome: What is known of it.
        answer: Its answer or its error.
        made_in: The execution that made it.
        is_same_step: Whether it was made for the same step of the plan.
        is_latest: Whether no other call has acted since.
        denial: The answer of the person who denied it.
    """

    outcome: EffectOutcome
    answer: str
    made_in: Mapping[str, int]
    is_same_step: bool = True
    is_latest: bool = True
    denial: HumanAnswer | None = None


@dataclass(frozen=True, slots=True)
class CallQuestion:
    """A question to a person about a call.

    Attributes:
        call: The call.
        asked_at: Time of the question, as ISO 8601 in UTC; the same when the graph is resumed.
        doubt: A sentence about an equal call that acted, or may have acted, before; empty if there is none.
        findings: What else speaks against the call.
    """

    call: ToolCall
    asked_at: str
    doubt: str = ""
    findings: Sequence[str] = ()


class CallGate(Protocol):
    """Decides about the calls of an execution, and learns what became of them.

    Attributes:
        execution: Id of this execution of the graph: another one after a crash and after each answer.
        acting: The tools that act, for a middleware without its own.
        can_ask: Whether a person can be asked.
    """

    @property
    def execution(self) -> str: ...  # noqa: D102

    @property
    def acting(self) -> ActingTools | None: ...  # noqa: D102

    @property
    def can_ask(self) -> bool: ...  # noqa: D102

    def now(self) -> str:
        """Returns the time, as ISO 8601 in UTC."""
        ...

    def find_breach(self, call: ToolCall, planned: Sequence[ToolCall]) -> Breach | None:
        """Returns why the contract excludes a call after the calls of this reply before it; else None."""
        ...

    def find_earlier(self, call: ToolCall) -> EarlierCall | None:
        """Returns the last equal call in another execution of the run; None if there is none."""
        ...

    def ask(self, question: CallQuestion) -> HumanAnswer:
        """Asks a person with ``interrupt``."""
        ...

    def note_call(self, call: ToolCall, effect: Effect, told: str | None = None) -> None:
        """Takes what is known of a call, and with ``told`` the answer to one whose tool did not run."""
        ...

    def note_history(self, messages: Sequence[BaseMessage], effects: Mapping[str, Effect]) -> None:
        """Takes the stored conversation, so that calls before a crash are counted."""
        ...


LOST_START: Final = "#start"
"""It stands in the id of an effect, between the id of a call and the number of a start that did not end."""
_PROCESS: Final = uuid4().hex
_gate: Final[ContextVar[CallGate | None]] = ContextVar("call_gate", default=None)


@contextmanager
def use_gate(gate: CallGate) -> Iterator[None]:
    """Lets a gate decide about the calls of every agent in this context, also of an agent within a tool."""
    token = _gate.set(gate)
    try:
        yield
    finally:
        _gate.reset(token)


def find_gate() -> CallGate | None:
    """Returns the gate of this context; None outside of a run."""
    return _gate.get()


def read_execution() -> str:
    """Returns the id of this execution of the run; outside of a run, the id of the process."""
    gate = find_gate()
    return read_process_id() if gate is None else gate.execution


def read_process_id() -> str:
    """Returns the id of this process, which stands for an execution outside of a run."""
    return _PROCESS
