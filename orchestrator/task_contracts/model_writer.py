"""ModelWriter: derives checks with a model, over the same vocabulary as the rules."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Final

from pydantic import TypeAdapter

from agents.base import DEFAULT_RETRY, BaseAgent
from agents.calls.conversation import Conversation, Model, arun_conversation, run_conversation
from agents.contracts import JsonSchema
from agents.models.transport_retry import TransportRetry
from agents.parsing.loose_json import load_unambiguous
from agents.parsing.objects import remove_own_thoughts, unwrap_fence
from agents.prompts import fence_text, find_boundary
from evaluation import ContractError
from evaluation.checks import CHECKS, BaseCheck, Check, read_checks
from evaluation.task_checks import DerivedChecks, derive_checks

_log: Final = logging.getLogger(__name__)
_INSTRUCTIONS: Final = """\
You read a task and list the requirements on its answer that a program can check.
List only what the task demands of the answer, not what it describes, quotes or asks about.
Reply with one JSON object: {"checks": [...]}. Each check has "check", its kind, "quote", the words of the
task that demand it, copied exactly, and the fields of its kind. Reply {"checks": []} if there is none.
The kinds and their fields:
"""
_UNREADABLE: Final = "the model's list of checks could not be read, so that nothing is checked"
_COMMON: Final = frozenset({"check", "severity", "quote"})
_SENTENCE_END: Final = re.compile(r"[.!?;]\s+\S|\n|[。！？]\S")
_MOST: Final = 50
"""Most checks that are read from a reply."""


class ModelWriter(BaseAgent):
    """Derives checks with a chat model.

    A check that does not quote the task literally, or that cannot be read, is dropped. What the rules
    recognise, and no check of the model demands in the same way, is unchecked.

    Args:
        llm: Any LangChain chat model.
        transport_retry: Retries after transient errors of the model's server.
    """

    def __init__(self, llm: Model, *, transport_retry: TransportRetry = DEFAULT_RETRY) -> None:
        super().__init__(llm, _build_instructions(), "ModelWriter", transport_retry=transport_retry)

    def write_checks(self, text: str) -> DerivedChecks:
        """Returns the checks that a text states.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: The server refused the request.
        """
        return run_conversation(self._derive(text))

    async def awrite_checks(self, text: str) -> DerivedChecks:
        """Like ``write_checks``, without blocking the event loop."""
        return await arun_conversation(self._derive(text))

    def _derive(self, text: str) -> Conversation[DerivedChecks]:
        reply = yield from self._ask(fence_text("the task", text, find_boundary(text)), _build_schema())
        items = _find_items(unwrap_fence(remove_own_thoughts(reply, [text])))
        if items is None:
            _log.warning("ModelWriter: the reply of %d characters cannot be read", len(reply))
        checks = tuple(check for check in _read_items(items or ()) if check.quote and check.quote in text)
        warnings = (_UNREADABLE,) if items is None else ()
        return DerivedChecks(checks, tuple(_list_uncovered(derive_checks(text), checks)), warnings)


def _find_items(reply: str) -> Sequence[object] | None:
    value = load_unambiguous(reply)
    items = value.get("checks") if isinstance(value, dict) else None
    return list(islice(items, _MOST)) if isinstance(items, list) else None


def _read_items(items: Sequence[object]) -> Iterator[Check]:
    """Yields the checks that can be read, each of the default severity."""
    for item in items:
        fields = (
            {name: value for name, value in item.items() if name != "severity"}
            if isinstance(item, dict)
            else item
        )
        try:
            yield from read_checks([fields])
        except ContractError as error:
            _log.info("ModelWriter: a check of the model is dropped: %s", error)


def _list_uncovered(stated: DerivedChecks, checks: Sequence[Check]) -> Iterator[str]:
    """Yields the requirements that the rules recognise and no check of the model covers."""
    # A check of the same kind with another bound would make "at least 300 words" one word.
    demands = [_read_demand(check) for check in checks]
    for own in stated.checks:
        if _read_demand(own) not in demands:
            yield own.quote or ""
    for phrase in stated.unchecked:
        if not any(_is_about(check.quote or "", phrase) for check in checks):
            yield phrase


def _read_demand(check: Check) -> dict[str, object]:
    return check.model_dump(exclude={"quote", "severity"})


def _is_about(quote: str, phrase: str) -> bool:
    """Returns whether a quote has the phrase within one sentence; a quote of the whole task says nothing."""
    return phrase in quote and not _SENTENCE_END.search(quote.replace(phrase, ""))


@cache
def _build_instructions() -> str:
    return _INSTRUCTIONS + "\n".join(f"- {name}: {_describe_fields(model)}" for name, model in CHECKS.items())


def _describe_fields(model: type[BaseCheck]) -> str:
    names = (
        f"{name}{' (required)' if field.is_required() else ''}"
        for name, field in model.model_fields.items()
        if name not in _COMMON
    )
    return ", ".join(names) or "no field"


@cache
def _build_schema() -> JsonSchema:
    schema = TypeAdapter(list[Check]).json_schema()
    definitions = schema.pop("$defs", {})
    return {
        "type": "object",
        "properties": {"checks": schema},
        "required": ["checks"],
        "$defs": definitions,
    }
