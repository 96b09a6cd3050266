"""Calls of tools that act: what is known of them, and the decision about each before it is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final, NotRequired, Protocol, TypeAlias

from langchain_core.messages import BaseMessage, ToolCall, ToolMessage
from langgraph.types import Command
from typing_extensions import TypedDict

from agents.errors import CallHaltedError
from agents.loop.acting_tools import ActingTool, ActingTools
from agents.reply_types import EffectOutcome, GateDecision, HumanAnswer

Output: TypeAlias = ToolMessage | Command[Any] | list[Any]
"""What a tool of an agent gives."""
LOST_START: Final = "#start"
"""It stands in the id of an effect, between the id of a call and the number of a start that did not end."""
NOT_ENDED: Final = "the call did not end"
_NOBODY: Final = "The call was denied: there is nobody to ask. Go on without it."
_LASTING: Final = frozenset({"acted", "unknown", "stated"})
_ONLY_ANSWERED: Final = frozenset({"reused", "stated"})


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
    ``is_stated`` says that the tool acts by the caller's word or by its annotations.
    ``gate`` says why the tool did not run, ``approval`` is the answer of a person, and ``made_in`` the
    execution whose answer is reused.
    """

    name: str
    args: dict[str, object]
    outcome: EffectOutcome
    answer: str | None
    execution: str
    is_stated: NotRequired[bool]
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
        new_after: Number of answers that its task has, if it was not asked before; else None.
    """

    call: ToolCall
    asked_at: str
    doubt: str = ""
    findings: Sequence[str] = ()
    new_after: int | None = None


class CallGate(Protocol):
    """Decides about the calls of an execution, and learns what became of them.

    By default there is no contract, no other attempt, and nothing is noted.

    Attributes:
        execution: Id of this execution of the graph: another one after a crash and after each answer.
        acting: The tools that act, for a middleware without its own.
        can_ask: Whether a person can be asked.
    """

    @property
    def execution(self) -> str: ...  # noqa: D102

    @property
    def acting(self) -> ActingTools | None:  # noqa: D102
        return None

    @property
    def can_ask(self) -> bool: ...  # noqa: D102

    def now(self) -> str:
        """Returns the time, as ISO 8601 in UTC."""
        ...

    def find_breach(self, call: ToolCall, planned: Sequence[ToolCall]) -> Breach | None:  # noqa: ARG002
        """Returns why the contract excludes a call after the calls of this reply before it; else None."""
        return None

    def find_earlier(self, call: ToolCall) -> EarlierCall | None:  # noqa: ARG002
        """Returns the last equal call in another execution of the run; None if there is none."""
        return None

    def ask(self, question: CallQuestion) -> HumanAnswer:
        """Asks a person with ``interrupt``."""
        ...

    def note_call(self, call: ToolCall, effect: Effect, told: str | None = None) -> None:  # noqa: ARG002
        """Takes what is known of a call, and with ``told`` the answer to one whose tool did not run."""
        return

    def note_history(self, messages: Sequence[BaseMessage], effects: Mapping[str, Effect]) -> None:  # noqa: ARG002
        """Takes the stored conversation, so that calls before a crash are counted."""
        return


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


@dataclass(frozen=True, slots=True)
class Made:
    """The call is made; ``approval`` is the answer of the person who approved it."""

    approval: HumanAnswer | None = None


@dataclass(frozen=True, slots=True)
class Withheld:
    """The call is not made, and the model gets a text in its place.

    Attributes:
        text: The answer of an equal call, what a person stated, or why the call is not made.
        gate: Why the call is not made; None if it cannot be.
        answer: The answer of the person who decided.
        earlier: The equal call whose answer is reused.
    """

    text: str
    gate: GateDecision | None
    answer: HumanAnswer | None = None
    earlier: EarlierCall | None = None

    @property
    def recorded(self) -> str:
        """The answer as records have it."""
        return self.text if self.earlier is None else self.earlier.answer

    @property
    def is_error(self) -> bool:
        """Whether the model is told that the call failed."""
        return self.gate not in _ONLY_ANSWERED

    @property
    def outcome(self) -> EffectOutcome:
        """What is known of the call."""
        return "refused" if self.gate is None or self.gate == "forbidden" else self.gate


Decision: TypeAlias = Made | Withheld


def decide_call(  # noqa: PLR0917
    gate: CallGate,
    call: ToolCall,
    tool: ActingTool | None,
    planned: Sequence[ToolCall],
    asked_at: str,
    effects: Iterable[Effect] = (),
    refused: Sequence[Effect] = (),
) -> Decision:
    """Decides about a call: by the contract, then by an equal call before, then by a person.

    Args:
        gate: Knows the contract, the calls before and the person.
        call: The call.
        tool: The treatment of its tool; None if the tool does not act.
        planned: The calls of this reply that come before.
        asked_at: Time of a question about it.
        effects: What is stored of the calls of the conversation before.
        refused: Of these, the calls of refused attempts at the same request, in their order.

    Raises:
        CallHaltedError: The person ends the run.
    """
    earlier = gate.find_earlier(call) or _find_open(call, effects) or _find_refused(call, refused)
    repeated = None if earlier is None else _decide_repetition(tool, earlier)
    if isinstance(repeated, Withheld) and repeated.gate == "reused":
        return repeated
    breach, needs_approval = gate.find_breach(call, planned), tool is not None and tool.approve
    if breach is not None and not (needs_approval and gate.can_ask):
        return Withheld(breach.told, "forbidden")
    if isinstance(repeated, Withheld):
        return repeated
    if repeated is None and not needs_approval:
        return Made()
    if not gate.can_ask:
        return Withheld(_NOBODY, "denied") if repeated is None else repeated.otherwise
    shown = [] if earlier is None or repeated else [f"An equal call answered {earlier.answer[:200]!r}."]
    findings = [*shown, *([breach.finding] if breach else [])]
    return read_decision(gate.ask(CallQuestion(call, asked_at, repeated.text if repeated else "", findings)))


def ask_again(gate: CallGate, call: ToolCall, reason: str, asked_at: str, new_after: int | None) -> Decision:
    """Asks a person whether a call that may have acted is made again; without one, it is not made.

    Raises:
        CallHaltedError: The person ends the run.
    """
    doubt = doubt_effect(reason)
    if not gate.can_ask:
        return doubt.otherwise
    return read_decision(gate.ask(CallQuestion(call, asked_at, doubt.text, new_after=new_after)))


def read_decision(answer: HumanAnswer) -> Decision:
    """Returns the decision of a person.

    Raises:
        CallHaltedError: The person ends the run.
    """
    if answer["answer"] == "approve":
        return Made(answer)
    if answer["answer"] == "correct":
        return Withheld(answer["text"], "stated", answer)
    if answer["answer"] == "halt":
        raise CallHaltedError(f"denied by {answer['answered_by']}: {answer['text']}")
    return _refuse_denied(answer)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a person is asked about a call that was made before, and the decision if there is none."""

    text: str
    otherwise: Withheld


def doubt_effect(reason: str) -> Doubt:
    """Returns the doubt about a call that may have acted before."""
    refusal = (
        f"This call was made before, and it is not known whether it had its effect ({reason}), "
        "so it is not made again. Go on without it, and say so in your answer."
    )
    text = f"The same call was made before, and it is not known whether it had its effect: {reason}"
    return Doubt(text, Withheld(refusal, "unknown"))


def _find_open(call: ToolCall, effects: Iterable[Effect]) -> EarlierCall | None:
    """Returns an equal call of the conversation that never ended; None if there is none."""
    for effect in effects:
        is_open = effect["outcome"] == "unknown" and effect["answer"] is None
        if is_open and (effect["name"], effect["args"]) == (call["name"], call["args"]):
            return EarlierCall("unknown", "", {})
    return None


def _find_refused(call: ToolCall, refused: Sequence[Effect]) -> EarlierCall | None:
    """Returns the last equal call of a refused attempt; None if there is none."""
    for at, effect in reversed([*enumerate(refused)]):
        if (effect["name"], effect["args"]) == (call["name"], call["args"]):
            is_latest = not any(each["outcome"] in _LASTING for each in refused[at + 1 :])
            denial = effect.get("approval") if effect["outcome"] == "denied" else None
            return EarlierCall(effect["outcome"], effect["answer"] or "", {}, True, is_latest, denial)
    return None


def _doubt_repetition(earlier: EarlierCall) -> Doubt:
    refusal = (
        f"This call was made before and answered: {earlier.answer}\n"
        "It is not made again. Go on without it, and say so in your answer."
    )
    text = f"The same call was made before and acted; it answered {earlier.answer[:200]!r}"
    return Doubt(text, Withheld(refusal, "reused", earlier=earlier))


def build_effect(call: ToolCall, decision: Decision, execution: str) -> Effect:
    """Builds what is known of a call before it is made, or of one that is not made."""
    effect = Effect(name=call["name"], args=call["args"], outcome="unknown", answer=None, execution=execution)
    if isinstance(decision, Made):
        return effect if decision.approval is None else {**effect, "approval": decision.approval}
    withheld: Effect = {
        **effect,
        "outcome": decision.outcome,
        "answer": decision.recorded,
    }
    if decision.gate is not None:
        withheld = {**withheld, "gate": decision.gate}
    if decision.answer is not None:
        withheld = {**withheld, "approval": decision.answer}
    return withheld if decision.earlier is None else {**withheld, "made_in": decision.earlier.made_in}


def _decide_repetition(tool: ActingTool | None, earlier: EarlierCall) -> Withheld | Doubt | None:
    """Returns the decision about an equal call, the doubt to ask about, or None for a call like any other."""
    if earlier.outcome == "denied" and earlier.denial is not None and earlier.is_same_step:
        return _refuse_denied(earlier.denial, is_repeated=True)
    if tool is None or tool.repeat == "allow" or earlier.outcome in ("refused", "denied"):
        return None
    if earlier.outcome == "unknown":
        return doubt_effect(earlier.answer or NOT_ENDED)
    if tool.repeat == "reuse" and earlier.is_same_step and earlier.is_latest:
        answer = f"{earlier.answer}\n(This call was not made again: it was made in an earlier attempt.)"
        return Withheld(answer, "reused", earlier=earlier)
    return _doubt_repetition(earlier)


def _refuse_denied(answer: HumanAnswer, *, is_repeated: bool = False) -> Withheld:
    denied = "The same call was denied before in this step" if is_repeated else "The call was denied"
    reason = f"{denied}: {answer['answered_by']} said: {answer['text']}. Go on without it."
    return Withheld(reason, "denied", answer)


def add_effects(output: Output, effects: Mapping[str, Effect]) -> Output:
    """Returns the output of a tool with the effects, as an update of the agent's state."""
    update = {"effects": effects}
    if isinstance(output, ToolMessage):
        return Command(update={**update, "messages": [output]})
    # Middleware around this one, such as that of deepagents, takes one command and no list.
    if isinstance(output, Command) and output.graph is None and isinstance(output.update, Mapping):
        return replace(output, update={**output.update, **update})
    return [*(output if isinstance(output, list) else [output]), Command(update=update)]
