"""The decision about each call of a tool that acts, before it is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.tools import ToolException
from langgraph.types import interrupt

from agents.errors import NoEffectError
from agents.loop.acting_tools import DEFAULT, ActingTool, ActingTools, describe_tool, tell_error
from agents.loop.call_marks import CallMarks
from agents.loop.effects import (
    LASTING,
    LOST_START,
    NOT_ENDED,
    CallGate,
    CallQuestion,
    Decision,
    EarlierCall,
    Effect,
    Made,
    Withheld,
    list_outputs,
)
from agents.loop.tool_answers import name_error, read_answer, read_decision
from agents.loop.tool_arguments import ToolRun, build_key
from agents.parsing.prose_outcomes import may_have_acted
from agents.reply_types import HumanAnswer

_INTERRUPTED: Final = "the run was interrupted while the call was under way"
_NOBODY: Final = "The call was denied: there is nobody to ask. Go on without it."


def decide_call(
    gate: CallGate, tool: ActingTool, question: CallQuestion, earlier: EarlierCall | None
) -> Decision:
    """Decides about a call of a tool that acts: by the contract, by an equal call before, by a person.

    Args:
        gate: Knows the person.
        tool: The treatment of the tool.
        question: The call, and why the contract excludes it.
        earlier: The equal call before that decides.

    Raises:
        CallHaltedError: The person ends the run.
    """
    repeated = None if earlier is None else _decide_repetition(tool, earlier)
    if repeated is not None and repeated.doubt is None:
        return repeated
    if question.breach and not (tool.approve and gate.can_ask):
        return Withheld(question.breach, "forbidden")
    if repeated is None and not tool.approve:
        return Made()
    return _ask_about(gate, question, repeated or Withheld(_NOBODY, "denied"))


def _ask_about(gate: CallGate, question: CallQuestion, otherwise: Withheld) -> Decision:
    """Asks a person about a call; ``otherwise`` is the decision if nobody can be asked, with the doubt."""
    if not gate.can_ask:
        return otherwise
    answer = gate.ask(replace(question, doubt=otherwise.doubt or ""))
    if answer["answer"] == "approve":
        return Made(answer)
    if answer["answer"] == "correct":
        return Withheld(answer["text"], "stated", answer)
    return _deny(answer)


def ask_again(gate: CallGate, call: ToolCall, marks: CallMarks, now: str) -> Decision:
    """Asks whether a call is made that was begun before and has no answer."""
    asked_at, before = (now, marks.answers) if marks.is_unasked else marks.asked[-1]
    for _ in range(before):
        # They are for questions about earlier starts, and for those of the tool itself.
        interrupt(None)
    # An approval is for one further start.
    reason = _INTERRUPTED if marks.starts == 1 else f"{_INTERRUPTED}, {marks.starts} times"
    # An answer that is stored is for another question, if this one has not reached the store.
    new_after = before if marks.is_unasked or not marks.has_question else None
    return _ask_about(gate, CallQuestion(call, asked_at, new_after=new_after), _doubt_effect(reason))


def _doubt_effect(reason: str) -> Withheld:
    """Returns the decision about a call that may have acted before."""
    refusal = (
        f"This call was made before, and it is not known whether it had its effect ({reason}), "
        "so it is not made again. Go on without it, and say so in your answer."
    )
    doubt = f"The same call was made before, and it is not known whether it had its effect: {reason}"
    return Withheld(refusal, "unknown", doubt=doubt)


def choose_earlier(calls: Sequence[tuple[EarlierCall, bool]]) -> EarlierCall | None:
    """Returns the earlier call that decides about a call: the last equal one that acted or may have.

    One that a person denied in this step decides as well. Two equal calls in one attempt are two calls,
    unless the first was denied, or it is not known whether it acted.

    Args:
        calls: The calls before of tools that act, in their order, and whether each is equal.
    """
    read = [(_read_doubt(each), is_equal) for each, is_equal in calls]
    deciding = [at for at, (each, is_equal) in enumerate(read) if is_equal and _decides(each)]
    if not deciding:
        return None
    at = deciding[-1]
    return replace(read[at][0], is_latest=not any(each.outcome in LASTING for each, _ in read[at + 1 :]))


def _read_doubt(earlier: EarlierCall) -> EarlierCall:
    is_open = earlier.outcome == "refused" and may_have_acted(earlier.answer)
    return replace(earlier, outcome="unknown") if is_open else earlier


def _decides(earlier: EarlierCall) -> bool:
    if earlier.outcome == "denied":
        return earlier.denial is not None and earlier.is_same_step
    is_lasting = earlier.outcome in LASTING or earlier.outcome == "reused"
    return is_lasting and (not earlier.is_same_attempt or earlier.outcome == "unknown")


def find_earlier_effect(key: str, effects: Iterable[Effect], attempts: Sequence[str]) -> EarlierCall | None:
    """Returns the equal call of a conversation that decides about a call; None if there is none.

    It is one for the same request, or one for another that never ended.

    Args:
        key: The key of the call.
        effects: The effects before of tools that act.
        attempts: The ids of the attempts at the request; the last one is under way.
    """
    earlier = list[tuple[EarlierCall, bool]]()
    for effect in effects:
        is_open = effect["outcome"] == "unknown" and effect["answer"] is None
        attempt = effect.get("attempt")
        denial = effect.get("approval") if effect["outcome"] == "denied" else None
        each = EarlierCall(
            effect["outcome"],
            effect["answer"] or "",
            {},
            is_same_attempt=attempt == attempts[-1],
            denial=denial,
        )
        received = [build_key(effect["name"], effect["args"])] if "written" in effect else []
        is_equal = key in (effect.get("key"), *received)
        earlier.append((each, is_equal and (is_open or attempt in attempts)))
    return choose_earlier(earlier)


def tell_effect(acting: ActingTools, intent: Effect, run: ToolRun | None, output: object) -> Effect:
    """Returns the effect of a call after it was made, by the answer or the error of its tool.

    Args:
        acting: The tools that act.
        intent: The effect as it was stored before.
        run: The last run of the tool; None if there was none.
        output: What the model is told, or the error if it is told nothing.
    """
    effect = intent if run is None else _add_received(intent, run)
    own = None if run is None else run.answer
    error = output if run is None else run.error
    if own is None and isinstance(error, BaseException):
        words = name_error(error)
        kind = next((each.__name__ for each in (NoEffectError, ToolException) if isinstance(error, each)), "")
        return {**effect, "outcome": tell_error(effect["name"], f"{kind}: {words}"), "answer": words}
    answer = read_answer(output)
    told, tool = own or answer, describe_tool(acting, effect["name"]).treatment or DEFAULT
    text, is_error = (None, False) if told is None else (str(told.text), told.status == "error")
    outcome = tool.tell_outcome(effect["name"], text, is_error=is_error)
    shown = text if answer is None else str(answer.text)
    if run is None and (decision := read_decision(answer)) == "reject":
        return {**effect, "answer": shown, "outcome": "denied", "gate": "denied"}
    if run is None and (decision or outcome != "refused"):  # a person or a middleware answered for the tool
        return {**effect, "answer": shown, "outcome": "stated", "gate": "stated"}
    return {**effect, "answer": shown, "outcome": outcome}


def _add_received(intent: Effect, run: ToolRun) -> Effect:
    if (run.name, run.args) == (intent["name"], intent["args"]):
        return intent
    return {**intent, "name": run.name, "args": run.args, "written": intent["args"]}


def list_answered(
    reply: AIMessage, messages: Sequence[BaseMessage], effects: Mapping[str, Effect]
) -> Iterator[tuple[ToolCall, Decision]]:
    """Yields the calls that another middleware answered: a person rejected one, or stated its answer."""
    answers = {each.tool_call_id: each for each in messages if isinstance(each, ToolMessage)}
    known = {*effects, *list_outputs(reply)}
    for call in reply.tool_calls:
        answer = answers.get(str(call["id"]))
        if answer is not None and call["id"] not in known:
            yield call, Withheld(str(answer.text), "denied" if answer.status == "error" else "stated")


def note_lost(gate: CallGate, call: ToolCall, intent: Effect, lost: int) -> dict[str, Effect]:
    """Returns the effects of starts in which the process died: nobody knows whether they acted, too."""
    effects = dict[str, Effect]()
    for number in range(1, lost + 1):
        name = name_start(call["id"], number)
        effects[name] = intent
        gate.note_call({**call, "id": name}, intent, NOT_ENDED)
    return effects


def name_start(call_id: str | None, number: int) -> str:
    """Returns the id of an effect for a start of a call before the last one."""
    return f"{call_id}{LOST_START}{number}"


def _decide_repetition(tool: ActingTool, earlier: EarlierCall) -> Withheld | None:
    """Returns the decision about a call after an equal one; None if it is a call like any other."""
    if earlier.outcome == "denied" and earlier.denial is not None:
        return _deny(earlier.denial, "The same call was denied before in this step")
    if earlier.outcome == "unknown" and not earlier.answer:
        return _doubt_effect(NOT_ENDED)
    is_current, is_stated = earlier.is_same_step and earlier.is_latest, earlier.outcome == "stated"
    is_allowed = tool.repeat == "allow" and not (is_current and is_stated)
    if is_allowed:
        return None
    if earlier.outcome == "unknown":
        return _doubt_effect(earlier.answer)
    if tool.repeat != "ask" and is_current:
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
