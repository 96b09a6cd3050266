"""Decides about each call of a reply before any of them is made: pure functions and a person's answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from langchain_core.messages import ToolCall

from agents.errors import CallHaltedError
from agents.loop.acting_tools import ActingTool
from agents.loop.effects import CallGate, CallQuestion, EarlierCall, Effect
from agents.reply_types import EffectOutcome, GateDecision, HumanAnswer

_NOBODY: Final = "The call was denied: there is nobody to ask. Go on without it."
_ONLY_ANSWERED: Final = frozenset({"reused", "stated"})
NOT_ENDED: Final = "the call did not end"


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
) -> Decision:
    """Decides about a call: by the contract, then by an equal call before, then by a person.

    Args:
        gate: Knows the contract, the calls before and the person.
        call: The call.
        tool: The treatment of its tool; None if the tool does not act.
        planned: The calls of this reply that come before.
        asked_at: Time of a question about it.
        effects: What is stored of the calls of the conversation before.

    Raises:
        CallHaltedError: The person ends the run.
    """
    earlier = gate.find_earlier(call) or _find_open(call, effects)
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


def ask_again(gate: CallGate, call: ToolCall, reason: str, asked_at: str) -> Decision:
    """Asks a person whether a call that may have acted is made again; without one, it is not made.

    Raises:
        CallHaltedError: The person ends the run.
    """
    doubt = doubt_effect(reason)
    if not gate.can_ask:
        return doubt.otherwise
    return read_decision(gate.ask(CallQuestion(call, asked_at, doubt.text)))


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
