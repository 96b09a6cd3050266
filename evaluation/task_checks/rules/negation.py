"""Whether a form is refused: "not as a list"."""

from __future__ import annotations

from typing import Final

import regex

from evaluation.task_checks.sentences import Sentence

_NEGATED: Final = regex.compile(
    r"(?:\b(?:not|never|no|avoid|without|don't|rather than|instead of)\b|n't\b)(?: \w+){0,4} ?$"
)


def is_negated(sentence: Sentence, start: int) -> bool:
    """Check whether the words directly before a place refuse the text there."""
    before = sentence.text[max(0, start - 45) : start]
    return bool(_NEGATED.search(before))
