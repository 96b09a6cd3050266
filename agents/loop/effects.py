"""Effects of calls, marks of replies, and the gate that decides about calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, NotRequired, TypeAlias, cast
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command
from typing_extensions import TypedDict

from agents.errors import ToolLoopError
from agents.loop.acting_tools import ActingTools
from agents.reply_types import EffectOutcome, GateDecision, HumanAnswer, ReadBack
from agents.sync import Conversation, set_variable

Output: TypeAlias = ToolMessage | Command[Any] | list[Any]
"""What a tool of an agent gives."""
NOT_ENDED: Final = "the call did not end"
LOST_START: Final = "#start"
"""It stands in the id of an effect, between the id of a call and the number of a start that did not end."""
_REPLY_MARK: Final = "orchestrator_call"
LASTING: Final = frozenset({"acted", "unknown", "stated"})
"""The outcomes of calls that acted, or may have."""


class Effect(TypedDict):
    """One call of a tool that may act, as a store keeps it.

    It is written down before the call is made, as "unknown" and without an answer: nothing more is known if
    the process dies in the call. ``execution`` is the id of the execution of the graph that made the call.
    ``is_stated`` says that the tool acts by the caller's word or by its annotations, ``is_open`` that nothing
    says that it acts, and ``is_repeat`` that only its name says so and that an equal call before may have
    acted.
    ``gate`` says why the tool did not run, ``approval`` is the answer of a person, and ``made_in`` the
    execution whose answer is reused. ``attempt`` is the id of the attempt, and ``key`` is the same for equal
    calls.
    ``written`` has the arguments that were decided about, if a middleware gave the tool others.
    """

    name: str
    args: dict[str, object]
    outcome: EffectOutcome
    answer: str | None
    execution: str
    is_stated: NotRequired[bool]
    is_open: NotRequired[bool]
    is_repeat: NotRequired[bool]
    gate: NotRequired[GateDecision]
    approval: NotRequired[HumanAnswer]
    made_in: NotRequired[Mapping[str, int]]
    read_back: NotRequired[ReadBack]
    attempt: NotRequired[str]
    key: NotRequired[str]
    written: NotRequired[dict[str, object]]


@dataclass(frozen=True, slots=True)
class EarlierCall:
    """A call before, of a tool that acts.

    Attributes:
        outcome: Whether it acted.
        answer: Its answer or its error.
        made_in: The execution that made it.
        is_same_step: Whether it was made for the same step of the plan.
        is_same_attempt: Whether it was made in the same attempt at this step.
        is_latest: Whether no other call has acted since.
        denial: The answer of the person who denied it.
    """

    outcome: EffectOutcome
    answer: str
    made_in: Mapping[str, int]
    is_same_step: bool = True
    is_same_attempt: bool = False
    is_latest: bool = True
    denial: HumanAnswer | None = None


@dataclass(frozen=True, slots=True)
class CallQuestion:
    """A question to a person about a call.

    Attributes:
        call: The call.
        asked_at: Time of the question, as ISO 8601 in UTC; the same when the graph is resumed.
        doubt: A sentence about an equal call that acted, or may have acted, before; empty if there is none.
        breach: Why the contract excludes the call; empty if it may allow it.
        new_after: Number of answers that its task has, if it was not asked before; else None.
    """

    call: ToolCall
    asked_at: str
    doubt: str = ""
    breach: str = ""
    new_after: int | None = None


def utc_now() -> datetime:
    """Returns the current time in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallGate(ABC):
    """Decides about the calls of an execution, and learns what became of them.

    By default there is no contract, no other attempt, and nothing is noted.

    Attributes:
        execution: Id of this execution of the graph: another one after a crash and after each answer.
        can_ask: Whether a person can be asked.
        acting: The tools that act, for a middleware without its own.
    """

    execution: str
    can_ask: bool
    acting: ActingTools | None = None

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
        """Returns the equal call of the run before that decides about a call; None if there is none."""
        return None

    @abstractmethod
    def ask(self, question: CallQuestion) -> HumanAnswer:
        """Asks a person with ``interrupt``, until an answer can be read.

        Raises:
            CallHaltedError: The person ends the run.
        """

    def note_call(self, call: ToolCall, effect: Effect, told: str | None = None) -> None:  # noqa: ARG002
        """Takes the effect of a call, and with ``told`` the answer if its tool did not run."""
        return

    def keep_effects(self, request: ToolCallRequest, effects: Mapping[str, Effect]) -> Conversation[None]:  # noqa: ARG002
        """Stores the effects of a call before it is made, and after it ended, if its agent alone has them."""
        yield from ()

    def list_taken(self) -> Iterable[str]:
        """Lists the ids of calls that a new call must not have, besides those of its conversation."""
        return ()

    def note_history(self, messages: Sequence[BaseMessage], effects: Mapping[str, Effect]) -> None:  # noqa: ARG002
        """Takes the stored conversation, so that calls before a crash are counted."""
        return


_gate: Final[ContextVar[CallGate | None]] = ContextVar("call_gate", default=None)


def use_gate(gate: CallGate) -> AbstractContextManager[CallGate]:
    """Lets a gate decide about the calls of every agent in this context, also of an agent within a tool."""
    return set_variable(_gate, gate)


def find_gate() -> CallGate | None:
    """Returns the gate of this context; None outside of a run."""
    return _gate.get()


@dataclass(frozen=True, slots=True)
class Made:
    """The call is made.

    Attributes:
        approval: The answer of the person who approved it.
        is_repeat: Whether an equal call may have acted before, and only the tool's name says that it acts.
    """

    approval: HumanAnswer | None = None
    is_repeat: bool = False


@dataclass(frozen=True, slots=True)
class Withheld:
    """The call is not made, and the model gets a text in its place.

    Attributes:
        text: The answer of an equal call, the words of a person, or why the call is not made.
        gate: Why the call is not made; None if it cannot be.
        approval: The answer of the person who decided.
        earlier: The equal call whose answer is reused.
        doubt: A sentence about an equal call before, for the person who decides instead if one can be asked;
            None if there is none.
    """

    text: str
    gate: GateDecision | None
    approval: HumanAnswer | None = None
    earlier: EarlierCall | None = None
    doubt: str | None = None

    @property
    def is_error(self) -> bool:
        """Whether the model is told that the call failed."""
        return self.gate not in ("reused", "stated")


Decision: TypeAlias = Made | Withheld


def build_effect(call: ToolCall, decision: Decision, execution: str) -> Effect:
    """Builds the effect of a call before it is made, or of one that is not made."""
    effect = Effect(name=call["name"], args=call["args"], outcome="unknown", answer=None, execution=execution)
    noted: dict[str, object] = {"approval": decision.approval}
    if isinstance(decision, Made):
        noted["is_repeat"] = decision.is_repeat or None
    else:
        gate, earlier = decision.gate, decision.earlier
        noted["outcome"] = "refused" if gate is None or gate == "forbidden" else gate
        noted["answer"] = decision.text if earlier is None else earlier.answer
        noted["gate"] = gate
        noted["made_in"] = None if earlier is None else earlier.made_in
    return cast("Effect", {**effect, **{name: each for name, each in noted.items() if each is not None}})


def add_effects(output: Output, effects: Mapping[str, Effect]) -> Output:
    """Returns the output of a tool with the effects, as an update of the agent's state."""
    update = {"effects": effects}
    if isinstance(output, ToolMessage):
        return Command(update={**update, "messages": [output]})
    # Middleware around this one, such as that of deepagents, takes one command and no list.
    if isinstance(output, Command) and output.graph is None and isinstance(output.update, Mapping):
        return replace(output, update={**output.update, **update})
    return [*(output if isinstance(output, list) else [output]), Command(update=update)]


def read_call_id(name: str) -> str:
    """Returns the id of the call that an effect is of, also of a start that did not end."""
    return name.partition(LOST_START)[0]


def merge_effects(current: dict[str, Effect] | None, update: dict[str, Effect]) -> dict[str, Effect]:
    """Adds the effects of an update, by the ids of their calls; earlier starts of a call stand before it."""
    merged = {**(current or {}), **update}
    places = {read_call_id(name): place for place, name in reversed([*enumerate(merged)])}
    return dict(sorted(merged.items(), key=lambda each: (places[read_call_id(each[0])], each[0] in places)))


class ReplyMark(TypedDict):
    """The model that gave a reply, the id of the execution that got it, and when, as ISO 8601 in UTC.

    ``unmade`` names a call that the reply has in another place than its calls. ``received`` has the hash of
    a call with the arguments that its tool receives, by its hash as the model wrote it, if the two differ:
    who decides about the call does not know the tools. ``annotations`` has those of the tools by name.
    ``outputs``: ``list_outputs``. ``round`` counts the replies with calls up to this one, also those that a
    middleware removes later.
    """

    model: str
    execution: str
    replied_at: str
    unmade: NotRequired[str]
    received: NotRequired[Mapping[str, str]]
    annotations: NotRequired[Mapping[str, Mapping[str, bool]]]
    outputs: NotRequired[Sequence[str]]
    round: NotRequired[int]


def mark_reply(
    reply: AIMessage, messages: Sequence[BaseMessage], mark: ReplyMark, taken: Iterable[str] = ()
) -> AIMessage:
    """Returns a reply with a mark, which is stored with it and sent to no server, and with ids of its own.

    Some servers send none or repeat one. An answer needs the id of its call, and LangGraph replaces a message
    by one with the same id.

    Args:
        reply: The reply.
        messages: The conversation before it.
        mark: The mark.
        taken: The ids of calls whose messages are gone.
    """
    calls = list[object]()
    ids: set[object] = {*taken, *(call["id"] for each in messages for call in _list_calls(each))}
    for call in _list_calls(reply):
        call_id = call["id"] if call["id"] and call["id"] not in ids else uuid4().hex
        ids = {*ids, call_id}
        calls.append({**call, "id": call_id})
    if calls:
        mark = {**mark, "round": 1 + max(map(_read_round, messages), default=0)}
    valid = len(reply.tool_calls)
    update = {
        "id": None if reply.id in {each.id for each in messages} else reply.id,
        "response_metadata": {**reply.response_metadata, _REPLY_MARK: mark},
        "tool_calls": calls[:valid],
        "invalid_tool_calls": calls[valid:],
    }
    return reply.model_copy(update=update)


def _list_calls(message: BaseMessage) -> list[Mapping[str, object]]:
    calls = [*message.tool_calls, *message.invalid_tool_calls] if isinstance(message, AIMessage) else []
    return cast("list[Mapping[str, object]]", calls)


def read_reply_mark(reply: AIMessage | None) -> ReplyMark | None:
    """Returns the mark of a reply; None for none, and for a message that is a part of the request."""
    mark = None if reply is None else reply.response_metadata.get(_REPLY_MARK)
    return cast("ReplyMark", mark) if isinstance(mark, Mapping) else None


def list_outputs(reply: AIMessage) -> Sequence[str]:
    """Lists the ids of the calls in a reply that are the structured output of the agent, and call no tool."""
    mark = read_reply_mark(reply)
    return () if mark is None else mark.get("outputs", ())


def find_last_reply(messages: Sequence[BaseMessage]) -> tuple[AIMessage | None, set[str]]:
    """Returns the last reply of the model, and the ids of its calls that have answers."""
    answered = set[str]()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return message, answered
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
    return None, answered


def check_rounds(messages: Sequence[BaseMessage], limit: int) -> None:
    """Checks that a conversation has no more replies with calls than allowed.

    Raises:
        ToolLoopError: It has more.
    """
    if max(map(_read_round, messages), default=0) > limit:
        raise ToolLoopError(limit)


def _read_round(message: BaseMessage) -> int:
    mark = read_reply_mark(message) if isinstance(message, AIMessage) else None
    return 0 if mark is None else mark.get("round", 0)


def is_request(message: BaseMessage) -> bool:
    """Returns whether a message is the words of a user, and not those of a middleware."""
    return isinstance(message, HumanMessage) and "lc_source" not in message.additional_kwargs


def list_attempts(state: Mapping[str, Any]) -> list[str]:
    """Lists the ids of the attempts at the last request; all but the last were refused.

    Where nothing refuses an answer, the request stands for the attempt; a middleware may have removed it.
    """
    if attempts := state.get("attempts"):
        return list(attempts)
    requests = [str(message.id) for message in state["messages"] if is_request(message)]
    earlier = [effect.get("attempt", "") for effect in (state.get("effects") or {}).values()]
    return (requests or earlier or [""])[-1:]
