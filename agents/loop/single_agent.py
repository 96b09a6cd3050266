"""Decides about the calls of an agent outside of a run. Its questions have the form of LangChain's."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final
from uuid import uuid4

from langchain.agents.middleware.human_in_the_loop import (
    ActionRequest,
    Decision,
    DecisionType,
    HITLRequest,
    HITLResponse,
    ReviewConfig,
)
from langgraph.prebuilt.tool_node import ToolCallRequest
from pydantic import TypeAdapter, ValidationError

from agents.loop.effects import (
    CallGate,
    CallQuestion,
    Effect,
    find_last_reply,
    read_reply_mark,
    utc_now,
)
from agents.loop.langgraph_internals import ask_person, find_checkpoint, has_saver
from agents.reply_types import AnswerWord, HumanAnswer

DECISIONS: Final[Mapping[AnswerWord, str]] = {"approve": "approve", "correct": "respond", "deny": "reject"}
"""LangChain's words for the answers about a call."""
_WORDS: Final = {decision: word for word, decision in DECISIONS.items()}
_RESPONSE: Final = TypeAdapter(HITLResponse)

_begun: Final[dict[tuple[str, str], tuple[str, bool]]] = {}
"""The last stored calls that this process began, by the times of their replies and their ids.

Each has the id of its checkpoint, and whether it is under way.
"""
_KEPT: Final = 10_000


class SingleAgentGate(CallGate):
    """The gate of an agent that no orchestrator runs: without a contract and other attempts."""

    def may_have_begun(self, intent: Effect, request: ToolCallRequest) -> bool:
        """Returns whether another process may have begun a call, or this one has.

        A graph that goes on from an earlier checkpoint has the call in another one.
        """
        name, checkpoint = _find_place(request)
        before, is_open = _begun.get(name, (checkpoint, False))
        return intent["execution"] != self.execution or is_open or before != checkpoint

    def note_begun(self, request: ToolCallRequest, *, is_begun: bool) -> None:
        """Takes whether a stored call is under way."""
        name, checkpoint = _find_place(request)
        _begun.pop(name, None)
        if checkpoint:
            _begun[name] = checkpoint, is_begun
        if len(_begun) > _KEPT:
            _begun.pop(next(iter(_begun)), None)

    def ask(self, question: CallQuestion) -> HumanAnswer:
        """Asks until an answer can be read, and returns it."""
        return ask_decision(partial(_build_request, question), question.new_after)


def build_single_gate() -> SingleAgentGate:
    """Builds the gate: the execution is the process, and its open calls tell its resumed graphs apart."""
    return SingleAgentGate(execution=_build_process_id(os.getpid()), can_ask=has_saver())


def read_decisions(answer: object, allowed: Sequence[Sequence[str]]) -> Sequence[Decision] | None:
    """Reads LangChain's decisions about calls; None if the answer has another form, or one is not allowed.

    Args:
        answer: The answer.
        allowed: The types of decisions that are allowed for each call.
    """
    try:
        decisions = _RESPONSE.validate_python(answer)["decisions"]
    except ValidationError:
        return None
    is_whole = len(decisions) == len(allowed)
    is_allowed = is_whole and all(
        each["type"] in kinds for each, kinds in zip(decisions, allowed, strict=True)
    )
    return decisions if is_allowed else None


def ask_decision(build_request: Callable[[str], HITLRequest], new_after: int | None = None) -> HumanAnswer:
    """Asks a person until an answer can be read, and returns it.

    Args:
        build_request: Returns the request, with a sentence about the fault of the last answer.
        new_after: As for ``ask_person``.
    """
    problem = ""
    while True:
        request = build_request(problem)
        answer = ask_person(request, new_after)
        allowed = [each["allowed_decisions"] for each in request["review_configs"]]
        if decisions := read_decisions(answer, allowed):
            word, text = _WORDS[decisions[0]["type"]], str(decisions[0].get("message") or "no reason given")
            time = utc_now().isoformat()
            return HumanAnswer(answer=word, text=text, answered_by="a person", answered_at=time)
        problem = f"the answer is {answer!r:.120}; give {_describe_forms(allowed[0])}"


def _describe_forms(allowed: Sequence[DecisionType]) -> str:
    """Describes the forms of an answer that a question accepts."""
    message = {"reject": ', "message": "the reason"', "respond": ', "message": "the answer of the call"'}
    return " or ".join(f'{{"decisions": [{{"type": "{each}"{message.get(each, "")}}}]}}' for each in allowed)


def _find_place(request: ToolCallRequest) -> tuple[tuple[str, str], str]:
    """Returns the name of a call and the id of its checkpoint; both stay the same in a resumed graph."""
    place = find_checkpoint(request.runtime.config)
    messages = request.state.get("messages", []) if isinstance(request.state, Mapping) else []
    mark = read_reply_mark(find_last_reply(messages)[0])
    name = "" if mark is None else mark["replied_at"], str(request.tool_call["id"])
    return name, "" if place is None else str(place[1]["configurable"]["checkpoint_id"])


@cache
def _build_process_id(pid: int) -> str:  # noqa: ARG001 - a forked process has another number, same module
    return uuid4().hex


def _build_request(question: CallQuestion, problem: str) -> HITLRequest:
    name, args = question.call["name"], question.call["args"]
    parts = [f"May the tool {name} run?", question.doubt, question.breach, problem]
    return build_decision_request(name, args, " ".join(filter(None, parts)), can_respond=bool(question.doubt))


def build_decision_request(
    name: str, args: dict[str, Any], description: str, *, can_respond: bool = False
) -> HITLRequest:
    """Builds the request for a decision about one action."""
    allowed: list[DecisionType] = ["approve", "reject", "respond"]
    return HITLRequest(
        action_requests=[ActionRequest(name=name, args=args, description=description)],
        review_configs=[ReviewConfig(action_name=name, allowed_decisions=allowed[: 3 if can_respond else 2])],
    )
