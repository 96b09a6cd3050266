"""Whether a form is refused: "not as a list"."""

from __future__ import annotations

import regex

from evaluation.task_checks.sentences import Sentence


def is_negated(sentence: Sentence, start: int) -> bool:
    """Check whether the words directly before a place refuse the text there."""
    before = sentence.text[max(0, start - 45) : start]
    return bool(
        regex.search(
            r"(?:\b(?:not|never|no|avoid|without|don't|rather than|instead of)\b|n't\b)(?: \w+){0,4} ?$",
            before,
        )
    )
