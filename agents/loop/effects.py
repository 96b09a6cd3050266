"""Calls of tools that act: what is known of them, and the decision about each before it is made."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final, NotRequired, Protocol, TypeAlias, cast

from langchain_core.messages import BaseMessage, ToolCall, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
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

    def may_have_begun(self, intent: Effect, request: ToolCallRequest) -> bool:  # noqa: ARG002
        """Returns whether a call whose intent is stored may have been begun before."""
        return intent["execution"] != self.execution

    def note_begun(self, request: ToolCallRequest, *, is_begun: bool) -> None:  # noqa: ARG002
        """Takes whether a call is under way."""
        return

    def find_breach(self, call: ToolCall, planned: Sequence[ToolCall]) -> str | None:  # noqa: ARG002
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
        doubt: A sentence about an equal call before, for the person who decides instead if one can be asked;
            None if nobody is asked.
    """

    text: str
    gate: GateDecision | None
    answer: HumanAnswer | None = None
    earlier: EarlierCall | None = None
    doubt: str | None = None

    @property
    def is_error(self) -> bool:
        """Whether the model is told that the call failed."""
        return self.gate not in _ONLY_ANSWERED


Decision: TypeAlias = Made | Withheld


def decide_call(  # noqa: PLR0917
    gate: CallGate,
    call: ToolCall,
    tool: ActingTool,
    breach: str | None,
    asked_at: str,
    earlier: EarlierCall | None,
) -> Decision:
    """Decides about a call of a tool that acts: by the contract, by an equal call before, by a person.

    Args:
        gate: Knows the person.
        call: The call.
        tool: The treatment of its tool.
        breach: Why the contract excludes it; None if it may allow it.
        asked_at: Time of a question about it.
        earlier: The last equal call before.

    Raises:
        CallHaltedError: The person ends the run.
    """
    repeated = None if earlier is None else _decide_repetition(tool, earlier)
    if repeated is not None and repeated.gate == "reused" and repeated.doubt is None:
        return repeated
    if breach is not None and not (tool.approve and gate.can_ask):
        return Withheld(breach, "forbidden")
    if repeated is None and not tool.approve:
        return Made()
    shown = [] if earlier is None or repeated else [f"An equal call answered {earlier.answer[:200]!r}."]
    findings = [*shown, *([breach] if breach else [])]
    return ask_about(gate, call, repeated or Withheld(_NOBODY, "denied", doubt=""), asked_at, findings)


def ask_about(  # noqa: PLR0917
    gate: CallGate,
    call: ToolCall,
    otherwise: Withheld,
    asked_at: str,
    findings: Sequence[str] = (),
    new_after: int | None = None,
) -> Decision:
    """Asks a person about a call.

    Args:
        gate: Knows the person.
        call: The call.
        otherwise: The decision if nobody can be asked, with the doubt; it is final if there is no doubt.
        asked_at: Time of the question.
        findings: What else speaks against the call.
        new_after: As for ``ask_person``.

    Raises:
        CallHaltedError: The person ends the run.
    """
    if otherwise.doubt is None or not gate.can_ask:
        return otherwise
    answer = gate.ask(CallQuestion(call, asked_at, otherwise.doubt, findings, new_after))
    if answer["answer"] == "approve":
        return Made(answer)
    if answer["answer"] == "correct":
        return Withheld(answer["text"], "stated", answer)
    if answer["answer"] == "halt":
        raise CallHaltedError(f"denied by {answer['answered_by']}: {answer['text']}")
    return _deny(answer)


def doubt_effect(reason: str) -> Withheld:
    """Returns the decision about a call that may have acted before."""
    refusal = (
        f"This call was made before, and it is not known whether it had its effect ({reason}), "
        "so it is not made again. Go on without it, and say so in your answer."
    )
    doubt = f"The same call was made before, and it is not known whether it had its effect: {reason}"
    return Withheld(refusal, "unknown", doubt=doubt)


def find_earlier_effect(
    call: ToolCall, effects: Sequence[tuple[str, Effect]], refused: Collection[str]
) -> EarlierCall | None:
    """Returns the last equal call of a conversation that never ended, or of a refused attempt; else None.

    Args:
        call: The call.
        effects: The effects before, by the ids of their calls.
        refused: The ids of the calls of refused attempts at the same request.
    """
    for at, (key, effect) in reversed([*enumerate(effects)]):
        is_open = effect["outcome"] == "unknown" and effect["answer"] is None
        is_equal = (effect["name"], effect["args"]) == (call["name"], call["args"])
        if is_equal and (is_open or key in refused):
            is_latest = not any(each["outcome"] in _LASTING for _, each in effects[at + 1 :])
            denial = effect.get("approval") if effect["outcome"] == "denied" else None
            return EarlierCall(effect["outcome"], effect["answer"] or "", {}, True, is_latest, denial)
    return None


def build_effect(call: ToolCall, decision: Decision, execution: str) -> Effect:
    """Builds what is known of a call before it is made, or of one that is not made."""
    effect = Effect(name=call["name"], args=call["args"], outcome="unknown", answer=None, execution=execution)
    if isinstance(decision, Made):
        return effect if decision.approval is None else {**effect, "approval": decision.approval}
    gate, earlier = decision.gate, decision.earlier
    withheld: dict[str, object] = {
        **effect,
        "outcome": "refused" if gate is None or gate == "forbidden" else gate,
        "answer": decision.text if earlier is None else earlier.answer,
        "gate": gate,
        "approval": decision.answer,
        "made_in": None if earlier is None else earlier.made_in,
    }
    return cast("Effect", {name: value for name, value in withheld.items() if value is not None})


def _decide_repetition(tool: ActingTool, earlier: EarlierCall) -> Withheld | None:
    """Returns the decision about a call after an equal one; None if it is a call like any other."""
    if earlier.outcome == "denied" and earlier.denial is not None and earlier.is_same_step:
        return _deny(earlier.denial, "The same call was denied before in this step")
    if tool.repeat == "allow" or earlier.outcome in ("refused", "denied"):
        return None
    if earlier.outcome == "unknown":
        return doubt_effect(earlier.answer or NOT_ENDED)
    if tool.repeat == "reuse" and earlier.is_same_step and earlier.is_latest:
        answer = f"{earlier.answer}\n(This call was not made again: it was made in an earlier attempt.)"
        return Withheld(answer, "reused", earlier=earlier)
    refusal = (
        f"This call was made before and answered: {earlier.answer}\n"
        "It is not made again. Go on without it, and say so in your answer."
    )
    doubt = f"The same call was made before and acted; it answered {earlier.answer[:200]!r}"
    return Withheld(refusal, "reused", earlier=earlier, doubt=doubt)


def _deny(answer: HumanAnswer, denied: str = "The call was denied") -> Withheld:
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
