"""Checks of tools: how often they were called, and which facts they gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import asdict
from difflib import get_close_matches
from itertools import product
from typing import ClassVar, Final, Literal

from pydantic import Field

from agents.parsing.outcomes import states_error
from evaluation.checks.check_model import NOT_RUN_WORDS, BaseCheck, CheckContext, CheckOutcome, Text, ToolUse
from evaluation.checks.kinds.wording import CountCheck, to_amount
from evaluation.defects.evidence import Evidence, build_call, build_evidence_of_answer
from evaluation.defects.rules import CLAIM_RULES, FACT_RULES, find_defects
from evaluation.findings import CheckKind
from evaluation.sensitive.scanner import quote_text, shorten
from evaluation.texts.normal import is_same_tool

_MOST: Final = 3
"""Most findings that a sentence names."""
_LIKENESS: Final = 0.8
"""The least ratio of ``difflib`` at which a name may be meant by another one."""
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
        spelled = self._describe_others(others or ([] if calls else made))
        times = self._describe_calls(calls, [*answered, *unknown])
        left = unknown[-1:] if passed is None else []
        open_ = "".join(f"; {describe_unknown(each.name, each.result, each.error)}" for each in left)
        return CheckOutcome(passed, f"it was called {times}{spelled}{advice}{open_}")

    def _describe_others(self, calls: list[ToolUse]) -> str:
        called = [*dict.fromkeys(call.name for call in calls)]
        spelled = ", ".join(quote_text(name) for name in called if self._is_other_spelling(name))
        near = get_close_matches(self.tool, called, 1, _LIKENESS)
        similar = f"; a tool of a similar name was called: {quote_text(near[0])}" if near else ""
        return f"; other spellings of it were called: {spelled}" if spelled else similar

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

    def _count(self, context: CheckContext) -> int:
        return sum(call.name == self.tool for call in context.tool_calls)


def _is_doubtful(call: ToolUse) -> bool:
    """Check whether an answer describes an error, which the tool may have been called to describe."""
    return call.outcome is None and states_error(call.result)


def describe_unknown(tool: str, answer: object, error: object) -> str:
    """Say in a clause that an answer or an error leaves open whether a tool acted."""
    told = error if answer is None else answer
    verb = "answered" if answer is not None else "failed with"
    words = "gave no answer" if told is None else f'{verb} "{shorten(str(told), _LONGEST_ANSWER)}"'
    return f"{tool} {words}: whether it acted is not known; check succeeded= or read_back= of its ActingTool"


class SourcedFacts(BaseCheck):
    """Whether the output agrees with what tools were called with and what they answered.

    No acting call has an address or identifier that differs from the known ones, or a value that differs from
    the claimed one, and no fact has another value, unit, currency or sign than a result gives. A number that
    merely has no source is no failure. Names and free prose are no facts: it covers the form.
    """

    check: Literal["sourced_facts"] = "sourced_facts"
    kind: ClassVar[CheckKind] = "content"
    form_alone: ClassVar[bool] = True

    tools: list[Text] = Field(default_factory=list)
    """Names of tools: an output that says that one of them has acted needs a call of it that did not fail."""

    def _observe(self, context: CheckContext) -> CheckOutcome:
        rules = (*FACT_RULES, *(CLAIM_RULES if self.tools else ()))
        found = find_defects(_build_evidence(context, self.tools), rules)
        seen = [shorten(each.reason, _LONGEST_REASON) for each in found if each.level == "defect"]
        return CheckOutcome(not seen, "; ".join(seen[:_MOST]) or "no fact contradicts its source")

    def _describe(self) -> str:
        return "state what the calls of tools did and answered"


_LONGEST_REASON: Final = 400


def _build_evidence(context: CheckContext, tools: Collection[str]) -> Evidence:
    calls = tuple(build_call(place, asdict(call)) for place, call in enumerate(context.tool_calls))
    has_calls = bool(calls or tools)
    return build_evidence_of_answer(context.task, context.raw, calls, context.given, has_calls=has_calls)
