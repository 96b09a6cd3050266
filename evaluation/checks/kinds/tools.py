"""Checks of tools: how often they were called, what they answer afterwards, and which facts they gave."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import product
from typing import ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from agents.parsing.outcomes import read_outcome, states_error
from agents.parsing.tool_names import guess_kind, list_past_forms
from evaluation.checks.check_model import (
    NOT_RUN_WORDS,
    BaseCheck,
    CheckContext,
    CheckKind,
    CheckOutcome,
    Covers,
    Text,
    ToolUse,
)
from evaluation.checks.kinds.counts import CountCheck, to_amount
from evaluation.checks.segmentation import Amount, has_phrase
from evaluation.facts.sourced_facts import Source, Unsourced, find_unsourced
from evaluation.patterns.json_schema import AnySchema, find_schema_problem
from evaluation.sensitive.scanner import quote_text, shorten
from evaluation.texts.disguises import is_same_tool
from evaluation.texts.json_texts import parse_json
from evaluation.values import as_list

_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_DOER: Final = r"\b(?:i|we)(?:['’]ve| have)?"
_DONE: Final = r"\b(?:has|have|was|were)(?: been)?"
_BETWEEN: Final = r"(?: (?:now|just|also|already|successfully))?"
_LEAST_LETTERS: Final = 3
_ADMISSION: Final = re.compile(
    r"\b(?:not|no|cannot|unable|fail\w*|errors?|refus\w*|declin\w*|reject\w*|denied|unfortunately|sorry"
    r"|nicht|kein\w*|leider|fehler\w*|abgelehnt|verweigert)\b|n['’]t\b",
    re.IGNORECASE,
)


def find_claimed_actions(output: str, tools: Collection[str], answered: Collection[str]) -> list[str]:
    """Finds the tools whose action an output claims, although no call of them was answered.

    A claim is the past form of the verb that a tool's name begins with, in the first person or the passive
    perfect: "I refunded", "the order has been refunded" for the tool ``refund_order``. A tool that was
    answered and has the same verb stands for the claim.

    Args:
        output: The output.
        tools: The names of the tools that the executor has.
        answered: The names of those that were called and answered without an error.
    """
    done = {_read_verb(name) for name in answered}
    idle = {name: verb for name in tools if (verb := _read_verb(name)) and verb not in done}
    return [name for name, verb in idle.items() if _claims(output, verb)]


def admits_failure(output: str) -> bool:
    """Returns whether an output has a word that says that something was not done, or not wholly."""
    return _ADMISSION.search(output) is not None


def _read_verb(name: str) -> str:
    words = _WORD.findall(name)
    return words[0].lower() if words and len(words[0]) >= _LEAST_LETTERS else ""


def _claims(output: str, verb: str) -> bool:
    forms = "|".join(map(re.escape, list_past_forms(verb)))
    return re.search(rf"(?:{_DOER}|{_DONE}){_BETWEEN} (?:{forms})\b", output, re.IGNORECASE) is not None


_MOST: Final = 3
"""Most facts and claims that a sentence names, each."""
_LONGEST_ANSWER: Final = 80
"""Characters of an answer that are shown."""


class ToolCalls(CountCheck):
    """How often a tool was called without an error; a call that failed counts for ``max`` alone.

    A call that was kept from running counts for neither. Of a tool that the contract states to act, effects
    are counted: a refused call counts for neither, and one whose outcome is unknown may count. If a bound is
    broken only together with those, or with calls under another spelling of the name, the check is undecided.
    """

    check: Literal["tool_calls"] = "tool_calls"
    kind: ClassVar[CheckKind] = "tool"
    things: ClassVar[tuple[str, str]] = ("time", "times")

    tool: Text

    def _observe(self, context: CheckContext) -> CheckOutcome:
        made = [call for call in context.tool_calls if call.outcome != "reused"]
        calls = [call for call in made if call.name == self.tool]
        unknown = [call for call in calls if call.outcome == "unknown"]
        succeeded = [call for call in calls if call.error is None or call in unknown]
        answered = [call for call in succeeded if call not in unknown and not _is_doubtful(call)]
        others = [call for call in made if self._is_other_spelling(call.name)]
        readings = product((succeeded, answered), ([], others))
        answers = {self._fits_calls(number, calls, spelled) for number, spelled in readings}
        passed = answers.pop() if len(answers) == 1 else None
        # To call it again would be denied again.
        is_denied = bool(calls) and {call.not_run for call in calls} == {"denied"}
        advice = "; go on without it, and say so" if is_denied else ""
        names = ", ".join(dict.fromkeys(quote_text(call.name) for call in others))
        spelled = f"; other spellings of it were called: {names}" if others else ""
        times = self._describe_calls(calls, [*answered, *unknown])
        open_ = "".join(
            f"; {describe_unknown(each.name, each.result)}" for each in unknown[-1:] if passed is None
        )
        return CheckOutcome(passed, f"it was called {times}{spelled}{advice}{open_}")

    def _is_other_spelling(self, name: str) -> bool:
        return name != self.tool and is_same_tool(name, self.tool)

    def _describe(self) -> str:
        return f"call the tool {quote_text(self.tool)} {self._describe_bounds()}"

    def _fits_calls(
        self, successful: list[ToolUse], calls: list[ToolUse], spelled: list[ToolUse]
    ) -> bool | None:
        most = 0 if self.exactly == 0 else self.max
        effects = sum(call.outcome is not None for call in successful)
        ran = sum(call.outcome is None and call.not_run is None for call in (*calls, *spelled))
        if most is not None and effects + ran > most:
            return False
        is_more = self.exactly is not None and any(call.error is None for call in spelled)
        return False if is_more else self._fits(to_amount(len(successful)))

    def _describe_calls(self, calls: list[ToolUse], answered: list[ToolUse]) -> str:
        idle = [call for call in calls if call.not_run is not None]
        failed = len(calls) - len(answered) - len(idle)
        rest = f", with an error {self._show(to_amount(failed))}" if failed else ""
        kinds = Counter(call.not_run for call in idle)
        rest += "".join(
            f", {NOT_RUN_WORDS[kind]} {self._show(to_amount(n))}" for kind, n in kinds.items() if kind
        )
        return f"{self._show(to_amount(len(calls)))}{rest}"

    def _count(self, context: CheckContext) -> Amount | int | None:
        return sum(call.name == self.tool for call in context.tool_calls)


def _is_doubtful(call: ToolUse) -> bool:
    """Check whether an answer describes an error, which may be what the tool was called for."""
    return call.outcome is None and states_error(call.result)


def describe_unknown(tool: str, answer: object) -> str:
    """Say in a clause that an answer leaves open whether a tool acted."""
    words = "gave no answer" if answer is None else f'answered "{shorten(str(answer), _LONGEST_ANSWER)}"'
    return f"{tool} {words}: whether it acted is not known; give succeeded= or read_back="


class ProbeCheck(BaseCheck):
    """Whether a tool that only reads answers as expected after the step.

    ``expect`` is an object whose fields the answer has, a number, a list, or a text that the answer contains;
    ``json_schema`` is a JSON Schema that the answer fulfils. The orchestrator asks the tool; a recorded run
    has its answers in ``probes``. Without an answer, after an error, or if an answer that describes an error
    fits, the check is undecided.
    """

    check: Literal["probe"] = "probe"
    kind: ClassVar[CheckKind] = "tool"

    tool: Text
    args: dict[str, object] = Field(default_factory=dict)
    expect: object = None
    json_schema: AnySchema | None = None

    @model_validator(mode="after")
    def _require_expectation(self) -> Self:
        if ("expect" in self.model_fields_set) == ("json_schema" in self.model_fields_set):
            raise ValueError("give either 'expect', what the tool has to answer, or 'json_schema'")
        if self.expect == {} or self.json_schema in ({}, True) or not str(self.expect).strip():
            raise ValueError("every answer fits; give the words or fields that the tool has to answer")
        return self

    @property
    def covers(self) -> Covers:
        """The content: the effect that was asked for is read back."""
        return "content"

    def _observe(self, context: CheckContext) -> CheckOutcome:
        asked = [each for each in context.probes if each.name == self.tool and (each.args or {}) == self.args]
        if not asked:
            return CheckOutcome(None, "the tool was not asked")
        answer = asked[-1]
        if answer.error is not None:
            return CheckOutcome(None, f"the tool answered with an error: {shorten(answer.error)}")
        fits = self._fits(answer)
        # An error may have the words or fields of the effect that it denies.
        is_doubtful = fits and states_error(answer.result) and not states_error(self.expect)
        return CheckOutcome(None if is_doubtful else fits, f"it answered {shorten(str(answer.result))}")

    def _describe(self) -> str:
        wanted = "JSON of the schema" if self.json_schema is not None else shorten(str(self.expect))
        return f"make the tool {quote_text(self.tool)} answer {wanted} to {shorten(str(self.args))}"

    def _fits(self, answer: ToolUse) -> bool | None:
        text = answer.result if isinstance(answer.result, str) else None
        values = [answer.result] if text is None else parse_json(text)
        if self.json_schema is not None:
            schema = self.json_schema
            return bool(values) and not any(find_schema_problem(schema, value) for value in values)
        if text is not None and isinstance(self.expect, str):
            return has_phrase(text, self.expect, ignore_case=True, whole_words=True)
        return bool(values) and all(_contains(value, self.expect) for value in values)


def _contains(value: object, wanted: object) -> bool:
    """Returns whether a value is the wanted one; of objects, at least the wanted fields."""
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(
            key in value and _contains(value[key], wanted[key]) for key in wanted
        )
    if isinstance(wanted, list):
        is_list = isinstance(value, list) and len(value) == len(wanted)
        return is_list and all(_contains(*pair) for pair in zip(as_list(value), wanted, strict=True))
    # Python takes True for 1.
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


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

    def _observe(self, context: CheckContext) -> CheckOutcome:
        try:
            missing = find_unsourced(context.text, _list_sources(context))
        except ValueError as error:
            return CheckOutcome(None, str(error))
        answered = [call for call in context.tool_calls if call.error is None]
        claims = find_claimed_actions(context.text, self.tools, [call.name for call in answered])
        seen = [*map(_describe_fact, missing[:_MOST]), *map(_describe_claim, claims[:_MOST])]
        if seen:
            return CheckOutcome(False, "; ".join(seen))
        known = [call.name for call in answered if not _may_have_failed(call)]
        if doubtful := find_claimed_actions(context.text, self.tools, known):
            answers = [call.result for call in answered if call.name == doubtful[0]]
            return CheckOutcome(None, describe_unknown(doubtful[0], *answers[-1:] or [None]))
        if (refused := self._find_refused(context)) and not admits_failure(context.text):
            problem = f"no call of {quote_text(refused[0])} acted, and the text does not say so"
            return CheckOutcome(None, problem)
        return CheckOutcome(True, "each fact has a source")

    def _find_refused(self, context: CheckContext) -> list[str]:
        """Find the acting tools that were called, and of which each call failed."""
        called = {call.name for call in context.tool_calls}
        answered = {call.name for call in context.tool_calls if call.error is None}
        return [name for name in self.tools if name in called - answered and guess_kind(name) == "acting"]

    def _describe(self) -> str:
        return "state only facts that stand in the task or in results, or follow from them by one operation"


def _may_have_failed(call: ToolUse) -> bool:
    """Check whether a tool that acts, by its name at least, leaves open whether it acted."""
    if call.outcome is not None or call.result is None or guess_kind(call.name) != "acting":
        return call.outcome == "unknown"
    return read_outcome(call.name, call.result) == "unknown"


def _list_sources(context: CheckContext) -> Sequence[Source]:
    answered = [call for call in context.tool_calls if call.error is None]
    # A result is about what was asked for: the date in the arguments is the date of the result.
    asked = [json.dumps(call.args, default=str) for call in answered if call.args]
    results = [Source(_write_result(call.result), call.name) for call in answered]
    return [*map(Source, (context.task, *context.given, *asked)), *results]


def _write_result(result: object) -> str:
    return result if isinstance(result, str) else json.dumps(result, default=str, ensure_ascii=False)


def _describe_fact(fact: Unsourced) -> str:
    stated = f": {shorten(fact.stated)}" if fact.stated else ""
    return f"{quote_text(fact.shown)} stands in no result{stated}"


def _describe_claim(name: str) -> str:
    return f"it says that {quote_text(name)} was done, and no call of it was answered"
