"""Decides about the calls of an agent outside of a run. Its questions have the form of LangChain's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal

from langchain_core.messages import BaseMessage, ToolCall
from langgraph.types import interrupt
from pydantic import BaseModel, Field, ValidationError

from agents.loop.acting_tools import ActingTools
from agents.loop.effects import Breach, CallQuestion, EarlierCall, Effect, read_process_id
from agents.loop.langgraph_internals import has_saver
from agents.reply_types import AnswerWord, HumanAnswer

_WORDS: dict[str, AnswerWord] = {"approve": "approve", "reject": "deny", "respond": "correct"}


class _Decision(BaseModel):
    type: Literal["approve", "reject", "respond"]
    message: str = ""


class _Response(BaseModel):
    """The answer to one action request, as ``HITLResponse`` of LangChain."""

    decisions: Annotated[list[_Decision], Field(min_length=1, max_length=1)]


class SingleAgentGate:
    """The gate of an agent that no orchestrator runs: ``agents.loop.effects.CallGate``."""

    acting: ActingTools | None = None

    @property
    def execution(self) -> str:
        """The process: a resumed graph in the same process is told apart by its open calls."""
        return read_process_id()

    @property
    def can_ask(self) -> bool:
        """Whether a saver keeps the question."""
        return has_saver()

    def now(self) -> str:
        """Returns the time, as ISO 8601 in UTC."""
        return datetime.now(UTC).isoformat()

    def find_breach(self, call: ToolCall, planned: Sequence[ToolCall]) -> Breach | None:  # noqa: ARG002
        """Returns None: there is no contract."""
        return None

    def find_earlier(self, call: ToolCall) -> EarlierCall | None:  # noqa: ARG002
        """Returns None: there are no other attempts."""
        return None

    def ask(self, question: CallQuestion) -> HumanAnswer:
        """Asks until an answer can be read, and returns it."""
        problem = ""
        while True:
            answer = interrupt(_build_request(question, problem))
            try:
                [decision] = _Response.model_validate(answer).decisions
            except ValidationError:
                problem = f'the answer is {answer!r:.120}; give {{"decisions": [{{"type": "approve"}}]}}'
                continue
            word, text = _WORDS[decision.type], decision.message or "no reason given"
            return HumanAnswer(answer=word, text=text, answered_by="a person", answered_at=self.now())

    def note_call(self, call: ToolCall, effect: Effect, told: str | None = None) -> None:
        """Does nothing: the state of the agent has the effects."""

    def note_history(self, messages: Sequence[BaseMessage], effects: Mapping[str, Effect]) -> None:
        """Does nothing: nobody counts the calls."""


def _build_request(question: CallQuestion, problem: str) -> dict[str, object]:
    name, args = question.call["name"], question.call["args"]
    parts = [f"May the tool {name} run?", question.doubt, *question.findings, problem]
    action = {"name": name, "args": args, "description": " ".join(part for part in parts if part)}
    allowed = ["approve", "reject", "respond"] if question.doubt else ["approve", "reject"]
    return {
        "action_requests": [action],
        "review_configs": [{"action_name": name, "allowed_decisions": allowed}],
    }
