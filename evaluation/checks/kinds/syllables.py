"""The check of a poem's rhythm: the syllables of its lines."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from evaluation.checks import segmentation
from evaluation.checks.base import BaseCheck, CheckKind, Observation
from evaluation.checks.context import CheckContext
from evaluation.checks.kinds.counts import add_noun
from evaluation.values import Count


class LineSyllables(BaseCheck):
    """The number of English syllables of each line: 5, 7, 5 for a haiku."""

    check: Literal["line_syllables"] = "line_syllables"
    kind: ClassVar[CheckKind] = "length"

    syllables: Annotated[list[Count], Field(min_length=1)]

    def _observe(self, context: CheckContext) -> Observation:
        if len(context.lines) != len(self.syllables):
            return Observation(False, f"the text has {add_noun(len(context.lines), ('line', 'lines'))}")
        counts = [segmentation.count_syllables(line) for line in context.lines]
        seen = ", ".join("an unknown number" if count is None else str(count) for count in counts)
        known = [pair for pair in zip(counts, self.syllables, strict=True) if pair[0] is not None]
        if any(count != wanted for count, wanted in known):
            return Observation(False, f"the lines have {seen} syllables")
        return Observation(True if len(known) == len(counts) else None, f"the lines have {seen} syllables")

    def _describe(self) -> str:
        lines = add_noun(len(self.syllables), ("line", "lines"))
        return f"write {lines} with {', '.join(map(str, self.syllables))} syllables"
