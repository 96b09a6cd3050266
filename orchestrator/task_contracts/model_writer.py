"""ModelWriter: derives checks with a model, and lets none through that the task does not bear out."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from agents.base import DEFAULT_RETRY, BaseAgent
from agents.calls import conversation
from agents.models.transport_retry import TransportRetry
from agents.parsing.loose_json import load_json
from agents.parsing.objects import find_document
from agents.prompts import fence_text, find_boundary
from evaluation.task_checks import DerivedChecks, derive_checks
from orchestrator.task_contracts.written_checks import (
    Reviewed,
    build_schema,
    describe_kinds,
    find_quote,
    join_rules,
    review_items,
)

_log: Final = logging.getLogger(__name__)
_INSTRUCTIONS: Final = """\
You read a task and list the requirements on its answer that a program can check.
List only what the task demands of the answer, not what it describes, quotes or asks about.
Reply with one JSON object: {"checks": [...], "unchecked": [...]}.
Each check has "check", its kind; "quote", the words of the task that demand it, copied exactly, with its
numbers and texts in them; the fields of its kind; "passing", a short output that fulfils it; and "failing",
one that does not.
"unchecked" quotes the demands for which there is no kind. Numbers are min, max or exactly.
The kinds, each with an example without its two outputs:
"""
_REPAIR: Final = (
    "Some of this cannot be used:\n%s\nReply with the whole JSON object again, without these mistakes."
)
_NO_LIST: Final = 'there is no list "checks"'
_UNREADABLE: Final = "the model's list of checks could not be read, so that nothing is checked"
_NOTHING: Final = Reviewed()
_MOST: Final = 50
"""Most checks and phrases that are read from a reply."""
_SHOWN: Final = 8
"""Most problems that the model is told."""


class ModelWriter(BaseAgent):
    """Derives checks with a chat model.

    Each check has to quote the task, to have its numbers and texts in the quote, and to judge two examples
    of the model as it says; the model may repair its reply once. What is left over, what contradicts another
    check, and what the rules read differently or alone is unchecked.

    Args:
        llm: Any LangChain chat model.
        transport_retry: Retries after transient errors of the model's server.
    """

    def __init__(self, llm: conversation.Model, *, transport_retry: TransportRetry = DEFAULT_RETRY) -> None:
        super().__init__(llm, _build_instructions(), transport_retry=transport_retry)

    def write_checks(self, text: str) -> DerivedChecks:
        """Returns the checks that a text states.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: The server refused the request.
        """
        return conversation.run_conversation(self._derive(text))

    async def awrite_checks(self, text: str) -> DerivedChecks:
        """Like ``write_checks``, without blocking the event loop."""
        return await conversation.arun_conversation(self._derive(text))

    def _derive(self, text: str) -> conversation.Conversation[DerivedChecks]:
        messages = self._messages(fence_text("the task", text, find_boundary(text)))
        reply = yield from self._read_reply(messages, text)
        if reply.problems:
            note = "\n".join(f"- {problem}" for problem in islice(reply.problems, _SHOWN))
            repair = [AIMessage(reply.text or "(empty)"), HumanMessage(_REPAIR % note)]
            repaired = yield from self._read_reply([*messages, *repair], text)
            # A repair that breaks more is none.
            reply = min(repaired, reply, key=lambda each: (not each.is_readable, len(each.problems)))
        for problem in reply.problems:
            _log.info("ModelWriter: %s", problem)
        derived = join_rules(reply.reviewed, derive_checks(text), reply.unchecked)
        return derived if reply.is_readable else replace(derived, warnings=(_UNREADABLE,))

    def _read_reply(self, messages: Sequence[BaseMessage], text: str) -> conversation.Conversation[_Reply]:
        call = conversation.ModelCall(self.llm, messages, self.transport_retry, build_schema())
        [reply] = yield call
        raw = conversation.reply_text(reply)
        value = load_json(find_document(raw, [text]), any_case=True)
        fields = value if isinstance(value, dict) else {}
        items, phrases = fields.get("checks"), fields.get("unchecked")
        if not isinstance(items, list):
            return _Reply(raw, is_readable=False)
        quotes = (
            [find_quote(each, text) for each in islice(phrases, _MOST)] if isinstance(phrases, list) else []
        )
        return _Reply(raw, review_items(list(islice(items, _MOST)), text), tuple(filter(None, quotes)))


@dataclass(frozen=True, slots=True)
class _Reply:
    text: str
    reviewed: Reviewed = _NOTHING
    unchecked: tuple[str, ...] = ()
    is_readable: bool = True

    @property
    def problems(self) -> tuple[str, ...]:
        """The faults that the model has to mend."""
        return self.reviewed.problems if self.is_readable else (_NO_LIST,)


@cache
def _build_instructions() -> str:
    return _INSTRUCTIONS + describe_kinds()
