"""Matches regular expressions of users without the risk of hanging the process.

RE2 matches in time proportional to text times program; it does not backtrack. A contract with a construct
that it does not support is refused.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Final, Protocol, TypeAlias, cast

import re2
from pydantic import AfterValidator

from agents.parsing.loose_json import replace_surrogates
from evaluation.errors import ContractError
from evaluation.sensitive.quoting import quote_text, redact

MAX_STEPS: Final = 1_000_000_000
"""Greatest product of a text's bytes and a program's instructions: 17 s at worst, and mostly far less."""
_CACHED: Final = 256
_ACCEPTED: Final = (
    "use the syntax of RE2 (https://github.com/google/re2/wiki/Syntax), which has no lookahead or "
    "lookbehind, no back-reference, no possessive quantifier or atomic group, and at most 1000 repetitions"
)
_UNKNOWN_SIZE: Final = 3_000


class _Program(Protocol):
    programsize: int

    def search(self, text: bytes) -> object: ...


def check_pattern(text: str) -> str:
    """Return ``text`` if RE2 accepts it as a regular expression.

    Raises:
        ContractError: RE2 refuses it; the message says which syntax it accepts.
    """
    _compile(text)
    return text


def matches_pattern(pattern: str, text: str) -> bool | None:
    """Check whether ``pattern`` matches anywhere in ``text``; None if that may take more than ``MAX_STEPS``.

    Raises:
        ContractError: RE2 refuses the pattern.
    """
    program, data = _compile(pattern), replace_surrogates(text).encode()
    if program.programsize * len(data) > MAX_STEPS:
        return None
    return program.search(data) is not None


def _check_field(pattern: str) -> str:
    check_pattern(pattern)
    # An empty text and a letter that no contract names have nothing in common.
    if all(matches_pattern(pattern, text) for text in ("", "\ue000")):
        raise ValueError("the pattern matches every text, so it checks nothing; require a part of it")
    return pattern


PatternText: TypeAlias = Annotated[str, AfterValidator(_check_field)]
"""A regular expression in RE2's syntax that does not match every text."""


@lru_cache(_CACHED)
def _compile(pattern: str) -> _Program:
    options = re2.Options()
    # RE2 would write a refused pattern to stderr.
    options.log_errors = False
    # Only whether a pattern matches is asked, which RE2 answers faster without groups.
    options.never_capture = True
    try:
        return cast("_Program", re2.compile(replace_surrogates(pattern).encode(), options))
    except re2.error:
        # Its message may quote the middle of a secret, which no search would recognise.
        quoted = quote_text(redact(pattern))
        raise ContractError(f"the pattern {quoted} cannot be used; {_ACCEPTED}") from None


def count_instructions(pattern: str) -> int:
    """Count the instructions of a pattern; those that only the engine of JSON Schemas knows count as many."""
    try:
        return _compile(pattern).programsize
    except ContractError:
        return _UNKNOWN_SIZE
