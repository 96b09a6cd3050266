"""Checks of the tools that were called."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import ClassVar, Literal

from evaluation.checks.base import CheckKind, Observation, Text
from evaluation.checks.context import NOT_RUN_WORDS, CheckContext, ToolUse
from evaluation.checks.kinds.counts import CountCheck, to_amount
from evaluation.checks.segmentation import Amount
from evaluation.importers.tool_answers import describes_error
from evaluation.sensitive.quoting import quote_text
from evaluation.texts.tool_names import is_same_tool


class ToolCalls(CountCheck):
    """How often a tool was called without an error; a call that failed counts for ``max`` alone.

    A call that was kept from running counts for neither. If a bound is broken only together with calls under
    another spelling of the name, the check is undecided.
    """

    check: Literal["tool_calls"] = "tool_calls"
    kind: ClassVar[CheckKind] = "tool"
    things: ClassVar[tuple[str, str]] = ("time", "times")

    tool: Text

    def _observe(self, context: CheckContext) -> Observation:
        calls = [call for call in context.tool_calls if call.name == self.tool]
        succeeded = [call for call in calls if call.error is None]
        answered = [call for call in succeeded if not describes_error(call.result)]
        others = [call for call in context.tool_calls if self._is_other_spelling(call.name)]
        readings = product((succeeded, answered), ([], others))
        answers = {self._fits_calls(len(number), calls, spelled) for number, spelled in readings}
        # An answer that describes an error may be what the tool was called for.
        passed = answers.pop() if len(answers) == 1 else None
        # To call it again would be denied again.
        is_denied = bool(calls) and {call.not_run for call in calls} == {"denied"}
        advice = "; go on without it, and say so" if is_denied else ""
        names = ", ".join(dict.fromkeys(quote_text(call.name) for call in others))
        spelled = f"; other spellings of it were called: {names}" if others else ""
        return Observation(passed, f"it was called {self._describe_calls(calls, answered)}{spelled}{advice}")

    def _is_other_spelling(self, name: str) -> bool:
        return name != self.tool and is_same_tool(name, self.tool)

    def _describe(self) -> str:
        return f"call the tool {quote_text(self.tool)} {self._describe_bounds()}"

    def _fits_calls(self, successful: int, calls: list[ToolUse], spelled: list[ToolUse]) -> bool | None:
        most = 0 if self.exactly == 0 else self.max
        if most is not None and sum(call.not_run is None for call in (*calls, *spelled)) > most:
            return False
        is_more = self.exactly is not None and any(call.error is None for call in spelled)
        return False if is_more else self._fits(to_amount(successful))

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
