"""Limits the feedback to an executor to what its task says: the answer that a contract expects is masked.

An executor that is told the expected answer repeats it, and a retry then proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from orchestrator.judging.plain_contracts import list_checks
from orchestrator.state.evaluation_report import mapping
from orchestrator.state.records import Json, PlainContract

HIDDEN: Final = "[not shown]"
_TOKEN: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d]\w*")
_REPEATED: Final = re.compile(re.escape(HIDDEN) + r"(?:[\s,.'\"_-]*" + re.escape(HIDDEN) + ")+")
_PARTS: Final = ("reference_output", "keywords", "required_content", "expected_trajectory", "checks")
"""The parts of a contract that say what it expects."""
_VALUES: Final = frozenset({
    "reference_output", "keywords", "expected_trajectory", "name", "agent", "target", "args",
    "text", "texts", "options", "word", "words", "letter", "letters", "labels", "keys", "header", "marker",
    "separator", "pattern", "number", "const",
})  # fmt: skip
"""The fields within these parts that hold expected texts and numbers, also nested ones."""
_SHORT_WORD: Final = 4
"""Words of fewer letters are hidden only if the expected text is short: "the" gives nothing away."""
_SHORT_TEXT: Final = 3
"""Number of words of a short text, such as a name or "yes"."""


@dataclass(frozen=True, slots=True)
class Expectations:
    """The answer that a contract expects, without the words and numbers that the executor was given.

    Attributes:
        words: Words of the expected texts, of expected tools and of their arguments, in lower case.
        numbers: The expected numbers, without their signs.
        shown: Words and numbers of the task and the step.
    """

    words: frozenset[str]
    numbers: frozenset[float]
    shown: frozenset[str]

    def mask(self, text: str) -> str:
        """Returns the text with ``HIDDEN`` in place of each expected word and number."""
        masked = _TOKEN.sub(lambda match: HIDDEN if self._is_expected(match[0]) else match[0], text)
        return _REPEATED.sub(HIDDEN, masked)

    def _is_expected(self, token: str) -> bool:
        word = token.casefold()
        if word in self.shown:
            return False
        is_number = token[0].isdecimal()
        return not self.numbers.isdisjoint(_read_numbers(token)) if is_number else word in self.words


def read_expectations(contract: PlainContract, shown: str) -> Expectations:
    """Collects the answers that a contract expects.

    Args:
        contract: The contract of the step. Tools of ``must_call`` are no secret, nor are forbidden texts, nor
            checks whose ``quote`` stands in the task or the step.
        shown: The task and the step.
    """
    checks = [check for check in list_checks(contract) if not _is_stated(mapping(check), shown)]
    parts = {**contract, "checks": checks}
    texts = [text for name in _PARTS for text in _list_expected(name, parts.get(name))]
    tokens = {token for text in texts for token in _TOKEN.findall(text)}
    called = contract.get("must_call")
    tools = [str(name) for name in called] if isinstance(called, list) else []
    return Expectations(
        words=frozenset(word for text in texts for word in _list_words(text)),
        numbers=frozenset(n for token in tokens if token[0].isdecimal() for n in _read_numbers(token)),
        shown=frozenset(token.casefold() for text in (shown, *tools) for token in _TOKEN.findall(text)),
    )


def _list_expected(name: str, value: Json, *, is_value: bool = False) -> Iterator[str]:
    """Yields the texts and numbers that a part of a contract expects; counts and forms are no secret."""
    is_value = is_value or name in _VALUES
    if isinstance(value, Mapping):
        for key, inner in {**value, **_find_bounds(value)}.items():
            yield from _list_expected(key, inner, is_value=is_value and name != "expected_trajectory")
    elif isinstance(value, list):
        for inner in value:
            yield from _list_expected(name, inner, is_value=is_value)
    elif is_value and value is not None and not isinstance(value, bool):
        # Also without the backslash of a pattern before a point, which would end a number.
        yield from (str(value), str(value).replace("\\.", "."))


def _is_stated(check: Mapping[str, Json], shown: str) -> bool:
    """Returns whether a check is no secret: it forbids, is a function, or quotes the task or the step."""
    quote, text = (" ".join(each.split()).casefold() for each in (str(check.get("quote") or ""), shown))
    return check.get("check") in ("excludes", "function") or (quote != "" and quote in text)


def _find_bounds(value: Mapping[str, Json]) -> dict[str, Json]:
    """Returns the number of an object with the bounds of its tolerance, which a sentence may name."""
    number, tolerance = value.get("number"), value.get("tolerance", 0)
    if not isinstance(number, int | float) or not isinstance(tolerance, int | float):
        return {}
    return {"number": [number, number - tolerance, number + tolerance]}


def _list_words(text: str) -> set[str]:
    words = [token.casefold() for token in _TOKEN.findall(text) if not token[0].isdecimal()]
    long = {word for word in words if len(word) >= _SHORT_WORD}
    return long if long and len(words) > _SHORT_TEXT else {*words}


def _read_numbers(token: str) -> set[float]:
    """Returns the values of a number; the comma may separate thousands or decimals."""
    texts = {token.replace(",", ""), token.replace(".", "").replace(",", ".")}
    return {float(text) for text in texts if text.count(".") <= 1}
