"""Decides about the calls of an agent outside of a run. Its questions have the form of LangChain's."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from typing import Annotated, Final, Literal
from uuid import uuid4

from langgraph.prebuilt.tool_node import ToolCallRequest
from pydantic import BaseModel, Field, ValidationError

from agents.loop.effects import CallGate, CallQuestion, Effect, utc_now
from agents.loop.langgraph_internals import ask_person, find_checkpoint, has_saver
from agents.reply_types import AnswerWord, HumanAnswer

_WORDS: dict[str, AnswerWord] = {"approve": "approve", "reject": "deny", "respond": "correct"}


_open: Final[set[tuple[str, str]]] = set()
"""The stored calls that are under way in this process, by the ids of their checkpoints and their own."""


class _Decision(BaseModel):
    type: Literal["approve", "reject", "respond"]
    message: str = ""


class _Response(BaseModel):
    """The answer to one action request, as ``HITLResponse`` of LangChain."""

    decisions: Annotated[list[_Decision], Field(min_length=1, max_length=1)]


class SingleAgentGate(CallGate):
    """The gate of an agent that no orchestrator runs: without a contract and other attempts."""

    def may_have_begun(self, intent: Effect, request: ToolCallRequest) -> bool:
        """Returns whether another process may have begun a call, or this one has in an earlier run."""
        return super().may_have_begun(intent, request) or _find_place(request) in _open

    def note_begun(self, request: ToolCallRequest, *, is_begun: bool) -> None:
        """Takes whether a stored call is under way."""
        place = _find_place(request)
        (_open.add if is_begun and place[0] else _open.discard)(place)

    def ask(self, question: CallQuestion) -> HumanAnswer:
        """Asks until an answer can be read, and returns it."""
        return ask_decision(partial(_build_request, question), question.new_after)


def build_single_gate() -> SingleAgentGate:
    """Builds the gate: the execution is the process, and its open calls tell its resumed graphs apart."""
    return SingleAgentGate(execution=_build_process_id(os.getpid()), can_ask=has_saver())


def ask_decision(build_request: Callable[[str], object], new_after: int | None = None) -> HumanAnswer:
    """Asks a person until an answer can be read, and returns it.

    Args:
        build_request: Returns the request, with a sentence about the fault of the last answer.
        new_after: As for ``ask_person``.
    """
    problem = ""
    while True:
        answer = ask_person(build_request(problem), new_after)
        try:
            [decision] = _Response.model_validate(answer).decisions
        except ValidationError:
            problem = f'the answer is {answer!r:.120}; give {{"decisions": [{{"type": "approve"}}]}}'
            continue
        word, text = _WORDS[decision.type], decision.message or "no reason given"
        return HumanAnswer(answer=word, text=text, answered_by="a person", answered_at=utc_now().isoformat())


def _find_place(request: ToolCallRequest) -> tuple[str, str]:
    """Returns the ids of the checkpoint and of the call, which are the same when the graph is resumed."""
    place = find_checkpoint(request.runtime.config)
    checkpoint = "" if place is None else str(place[1]["configurable"]["checkpoint_id"])
    return checkpoint, str(request.tool_call["id"])


@cache
def _build_process_id(pid: int) -> str:  # noqa: ARG001 - a forked process has another number, same module
    return uuid4().hex


def _build_request(question: CallQuestion, problem: str) -> dict[str, object]:
    name, args = question.call["name"], question.call["args"]
    parts = [f"May the tool {name} run?", question.doubt, *question.findings, problem]
    action = {"name": name, "args": args, "description": " ".join(part for part in parts if part)}
    allowed = ["approve", "reject", "respond"] if question.doubt else ["approve", "reject"]
    return {
        "action_requests": [action],
        "review_configs": [{"action_name": name, "allowed_decisions": allowed}],
    }
