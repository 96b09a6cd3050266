"""A finding of a rule: both sides in words, and its level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from evaluation.sensitive.scanner import quote_text

Level = Literal["defect", "suspicion", "note"]
_LONGEST: Final = 160


@dataclass(frozen=True, slots=True)
class DefectFinding:
    """A contradiction between what a run says and what it did.

    Attributes:
        rule: The name of the rule.
        level: Its consequence; ``docs/reference/defects.md`` has the counts that it rests on.
        said: The sentence of the assistant, or the task.
        seen: The evidence against it, as a main clause.
        message: The number of the message that says it; None if the run has no messages.
        call: The number of the call that is the evidence; None if there is none.
    """

    rule: str
    level: Level
    said: str
    seen: str
    message: int | None = None
    call: int | None = None

    @property
    def reason(self) -> str:
        """Both sides in one sentence."""
        return f"The answer says {quote_text(self.said, _LONGEST)}; {self.seen}"
