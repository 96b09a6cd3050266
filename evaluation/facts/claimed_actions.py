"""Finds the actions that an output claims, although no tool did them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_VOWELS: Final = "aeiou"
_DOER: Final = r"\b(?:i|we)(?:['’]ve| have)?"
_DONE: Final = r"\b(?:has|have|was|were)(?: been)?"
_BETWEEN: Final = r"(?: (?:now|just|also|already|successfully))?"
_LEAST_LETTERS: Final = 3


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


def _read_verb(name: str) -> str:
    words = _WORD.findall(name)
    return words[0].lower() if words and len(words[0]) >= _LEAST_LETTERS else ""


def _claims(output: str, verb: str) -> bool:
    forms = "|".join(map(re.escape, _list_past_forms(verb)))
    return re.search(rf"(?:{_DOER}|{_DONE}){_BETWEEN} (?:{forms})\b", output, re.IGNORECASE) is not None


def _list_past_forms(verb: str) -> Iterator[str]:
    """Yields the forms that the past of a verb may have, by the rules of spelling."""
    stem, end = verb[:-1], verb[-1]
    yield f"{stem}ed" if end == "e" else f"{verb}ed"
    if end == "y":
        yield from (f"{stem}ied", f"{stem}id")
    if end == "d":
        yield f"{stem}t"
    if end not in _VOWELS:
        yield f"{verb}{end}ed"
