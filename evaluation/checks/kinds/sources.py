"""The check that each fact of an output has a source."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar, Final, Literal

from pydantic import Field

from evaluation.checks.base import BaseCheck, CheckKind, Observation, Text
from evaluation.checks.context import CheckContext
from evaluation.facts.claimed_actions import find_claimed_actions
from evaluation.facts.sourced_facts import Source, Unsourced, find_unsourced
from evaluation.sensitive.quoting import quote_text, shorten

_MOST: Final = 3
"""Most facts and claims that a sentence names, each."""


class SourcedFacts(BaseCheck):
    """Whether each number, date, time, identifier, address and quotation has a source.

    It stands in the results of tools, the task or the context, or follows from them by one operation: of two
    numbers, or over a list in one result. Names and free prose are no facts, and a fact that has a source may
    be about something else: it covers the form.
    """

    check: Literal["sourced_facts"] = "sourced_facts"
    kind: ClassVar[CheckKind] = "content"
    form_alone: ClassVar[bool] = True

    tools: list[Text] = Field(default_factory=list)
    """Names of tools: an output that says that one of them has acted needs an answered call of it."""

    def _observe(self, context: CheckContext) -> Observation:
        try:
            missing = find_unsourced(context.text, _list_sources(context))
        except ValueError as error:
            return Observation(None, str(error))
        answered = [call.name for call in context.tool_calls if call.error is None]
        claims = find_claimed_actions(context.text, self.tools, answered)
        seen = [*map(_describe_fact, missing[:_MOST]), *map(_describe_claim, claims[:_MOST])]
        return Observation(not seen, "; ".join(seen) or "each fact has a source")

    def _describe(self) -> str:
        return "state only facts that stand in the task or in results, or follow from them by one operation"


def _list_sources(context: CheckContext) -> Sequence[Source]:
    answered = [call for call in context.tool_calls if call.error is None]
    # A result is about what was asked for: the date in the arguments is the date of the result.
    asked = [json.dumps(call.args, default=str) for call in answered if call.args]
    results = [Source(str(call.result), call.name) for call in answered]
    return [*map(Source, (context.task, *context.given, *asked)), *results]


def _describe_fact(fact: Unsourced) -> str:
    stated = f": {shorten(fact.stated)}" if fact.stated else ""
    return f"{quote_text(fact.shown)} stands in no result{stated}"


def _describe_claim(name: str) -> str:
    return f"it says that {quote_text(name)} was done, and no call of it was answered"
