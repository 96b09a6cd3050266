"""The decision about each call of a tool that acts, before it is made."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from langchain_core.messages import ToolCall

from agents.errors import CallHaltedError
from agents.loop.acting_tools import ActingTool
from agents.loop.effects import (
    NOT_ENDED,
    CallGate,
    CallQuestion,
    Decision,
    EarlierCall,
    Effect,
    Made,
    Withheld,
)
from agents.reply_types import HumanAnswer

_NOBODY: Final = "The call was denied: there is nobody to ask. Go on without it."
_LASTING: Final = frozenset({"acted", "unknown", "stated"})


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
