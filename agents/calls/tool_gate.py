"""The gate before each tool call of a step: a forbidden, denied or repeated call does not run its tool.

Also the answers of tools: read from their output, or written in place of a tool that does not run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, cast

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langchain_core.tools.base import ArgsSchema
from langgraph.types import Command

from agents.calls.journal import read_values
from agents.calls.planned_call import PlannedCall
from agents.errors import CallHaltedError
from agents.reply_types import GateDecision, HumanAnswer

TOOL_GATE: Final = "tool_gate"
"""Name of the gate in ``config["configurable"]``, and of a decision in the metadata of a tool call."""
TOOL_ORIGIN: Final = "tool_origin"
"""Name of the execution that a reused answer is from, in the metadata of a tool call."""
TOOL_ANSWER: Final = "tool_answer"
"""Name of a person's answer about a call, in the metadata of the call and in the journal."""
_NOBODY: Final = "The call was denied: there is nobody to ask. Go on without it."
INTERRUPTED: Final = "the run was interrupted while the call was under way"


@dataclass(frozen=True, slots=True)
class Run:
    """The tool runs; ``approval`` is the answer of the person who approved the call."""

    approval: HumanAnswer | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """A person decides; ``doubt`` says why it is not known whether the same call had its effect before."""

    doubt: str = ""


@dataclass(frozen=True, slots=True)
class StandIn:
    """The tool does not run, and the model gets a text in its place.

    Attributes:
        text: The answer of the same call before, the result that a person stated, or why the call is refused.
        decision: Why the tool does not run; None if the call cannot run.
        answer: The answer of the person who denied the call or stated its result.
        origin: The execution that a reused answer is from.
    """

    text: str
    decision: GateDecision | None = None
    answer: HumanAnswer | None = None
    origin: Mapping[str, object] | None = None


Decision: TypeAlias = Run | Ask | StandIn
AskPerson: TypeAlias = Callable[[str, Mapping[str, object], str], HumanAnswer]
"""Asks a person about a call: its tool, its arguments, and why it is not known whether it ran before."""
FindBreach: TypeAlias = Callable[[str], str | None]
"""Takes the name of a tool. Returns in words for the model why it must not be called now, or None."""
FindEarlier: TypeAlias = Callable[[PlannedCall], StandIn | Ask | None]
"""Finds the same call before; None if the call is new. ``Ask`` has the doubt about its effect."""


class StartLog(Protocol):
    """Keeps which calls have started, so that a resumed run knows of a call in which the process died."""

    def count(self, key: str) -> int:
        """Counts the starts of a call before the run was resumed."""
        ...

    def add(self, key: str, number: int) -> None:
        """Adds to the count of a call; returns after it is stored."""
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
        if call.arguments is None:
            return Run()  # there is no such tool, which the answer says
        earlier = self.find_earlier(call) if self.find_earlier is not None and call.runs_tool else None
        is_reused = isinstance(earlier, StandIn) and earlier.decision == "reused"
        breach = None if is_reused or self.find_breach is None else self.find_breach(call.name)
        if breach is not None:
            return StandIn(breach, "forbidden")
        if isinstance(earlier, StandIn):
            return earlier
        if earlier is not None:
            return earlier if self.ask is not None else refuse_doubtful(earlier.doubt)
        if self.ask_before != "all" and call.name not in self.ask_before:
            return Run()
        return Ask() if self.ask is not None else StandIn(_NOBODY, "denied")


def refuse_doubtful(reason: str) -> StandIn:
    """Returns the decision about a call that may have had its effect before, if no person can be asked."""
    return StandIn(
        f"This call was made before, and it is not known whether it had its effect ({reason}), "
        "so it is not made again. Go on without it, and say so in your answer.",
        "unknown",
    )


def refuse_denied(answer: HumanAnswer, *, is_repeated: bool = False) -> StandIn:
    """Returns the decision about a call that a person has denied, now or earlier in the step."""
    denied = "The same call was denied before in this step" if is_repeated else "The call was denied"
    reason = f"{denied}: {answer['answered_by']} said: {answer['text']}. Go on without it."
    return StandIn(reason, "denied", answer)


def read_decision(answer: HumanAnswer) -> Run | StandIn:
    """Returns the decision of a person's answer about a call.

    Raises:
        CallHaltedError: The person ends the run.
    """
    if answer["answer"] == "approve":
        return Run(answer)
    if answer["answer"] == "correct":
        return StandIn(answer["text"], "stated", answer)
    if answer["answer"] == "halt":
        raise CallHaltedError(f"denied by {answer['answered_by']}: {answer['text']}")
    return refuse_denied(answer)


_OPEN: Final = ToolGate()


def find_gate() -> ToolGate:
    """Returns the gate in the config of the running call; an open gate if there is none."""
    gate = read_values().get(TOOL_GATE)
    return gate if isinstance(gate, ToolGate) else _OPEN


def read_answer(output: object) -> ToolMessage | None:
    """Returns the answer in the output of a tool; None if it has none.

    The last message is the answer: a Command may hand on an earlier conversation before it.
    """
    if isinstance(output, Command) and isinstance(output.update, dict):
        output = output.update.get("messages", [])
    messages = output if isinstance(output, list) else [output]
    answers = [message for message in messages if isinstance(message, ToolMessage)]
    return _format_lists(answers[-1]) if answers else None


def _format_lists(answer: ToolMessage) -> ToolMessage:
    """Returns the answer with a list as JSON, unless it is a list of content blocks.

    LangChain takes a list of texts for content blocks, whose text is one word after another.
    """
    content = answer.content
    if isinstance(content, str):
        return answer
    if content and all(isinstance(item, dict) and "type" in item for item in content):
        return answer
    return answer.model_copy(update={"content": json.dumps(content, ensure_ascii=False, default=str)})


def build_error(call: ToolCall, reason: str) -> ToolMessage:
    """Builds the answer to a call that failed."""
    return ToolMessage(reason, name=call["name"], tool_call_id=call["id"], status="error")


class _StandInTool(BaseTool):
    """Answers a call with a text, or refuses it with one; callbacks record it like any other call."""

    name: str
    description: str = "Answers a call."
    args_schema: ArgsSchema | None = {"type": "object", "properties": {}}  # noqa: RUF012 - a pydantic field
    handle_tool_error: bool = True
    text: str
    refuses: bool = False

    def _run(self, **_: object) -> str:
        if self.refuses:
            raise ToolException(self.text)
        return self.text


def answer_call(call: ToolCall, stand_in: StandIn) -> ToolMessage:
    """Answers a call whose tool does not run."""
    noted = {
        TOOL_GATE: stand_in.decision,
        TOOL_ORIGIN: stand_in.origin,
        TOOL_ANSWER: {"id": call["id"], "answer": stand_in.answer},
    }
    is_refused = stand_in.decision not in {"reused", "stated"}
    tool = _StandInTool(name=call["name"], text=stand_in.text, refuses=is_refused, metadata=noted)
    return cast("ToolMessage", tool.invoke({**call, "id": call["id"] or ""}))
