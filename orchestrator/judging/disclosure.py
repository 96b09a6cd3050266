"""Limits the feedback to an executor to what its task says: the answer that a contract expects is masked.

An executor that is told the expected answer repeats it, and a retry then proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeAlias

from orchestrator.state.records import Json, PlainContract

HIDDEN: Final = "[not shown]"
_WITHHELD: Final = "[a sentence that quotes the expected answer is not shown]"
_TOKEN: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d]\w*")
_SENTENCE: Final = re.compile(r"(?<=[.!?;\n])\s+")
_REPEATED: Final = re.compile(re.escape(HIDDEN) + r"(?:[\s,.'\"_-]*" + re.escape(HIDDEN) + ")+")
_TEXTS: Final = (
    *("texts", "text", "options", "word", "words", "letter", "letters"),
    *("labels", "keys", "columns", "header", "marker", "separator"),
)
"""The fields of checks that hold expected texts."""
_SHORT_WORD: Final = 4
"""Words of fewer letters are hidden only if the expected text is short: "the" gives nothing away."""
_SHORT_TEXT: Final = 3
"""Number of words of a short text, such as a name or "yes"."""


@dataclass(frozen=True, slots=True)
class Expectations:
    """The answer that a contract expects, without the words and numbers that the executor was given.

    Attributes:
        words: Words of the expected texts, of expected tools and of their arguments, in lower case.
        ranges: Lower and upper bounds of the expected numbers.
        shown: Words and numbers of the task and the step.
        signs: Expected texts without any word or number, such as emoji.
    """

    words: frozenset[str]
    ranges: tuple[tuple[float, float], ...]
    shown: frozenset[str]
    signs: tuple[str, ...] = ()

    def mask(self, text: str) -> str:
        """Returns the text with ``HIDDEN`` in place of each expected word, number and row of signs."""
        for sign in self.signs:
            text = text.replace(sign, HIDDEN)
        masked = _TOKEN.sub(lambda match: HIDDEN if self._is_expected(match[0]) else match[0], text)
        return _REPEATED.sub(HIDDEN, masked)

    def withhold_sentences(self, text: str) -> str:
        """Returns the words of a model without the sentences that contain an expected word or number."""
        # The rest of such a sentence may say the same in other words.
        sentences = [
            _WITHHELD if self._quotes_answer(sentence) else sentence for sentence in _SENTENCE.split(text)
        ]
        return " ".join(dict.fromkeys(sentences)) if _WITHHELD in sentences else text

    def _quotes_answer(self, sentence: str) -> bool:
        has_sign = any(sign in sentence for sign in self.signs)
        return has_sign or any(self._is_expected(token) for token in _TOKEN.findall(sentence))

    def _is_expected(self, token: str) -> bool:
        word = token.casefold()
        if word in self.shown:
            return False
        if not token[0].isdecimal():
            return word in self.words
        return any(low <= value <= high for value in _read_numbers(token) for low, high in self.ranges)


def read_expectations(contract: PlainContract, shown: str) -> Expectations:
    """Collects what a contract expects.

    Args:
        contract: The contract of the step. Tools of ``must_call`` are no secret, nor are forbidden texts, nor
            the texts of a check whose ``quote`` stands in the task or the step.
        shown: The task and the step.
    """
    stated, unstated = _split_checks(contract, shown)
    texts = [*_list_texts(contract), *chain.from_iterable(map(_list_check_texts, unstated))]
    numbers = [*_list_numbers(contract, unstated)]
    known = "\n".join([shown, *chain.from_iterable(map(_list_check_texts, stated))])
    tokens = {token for text in texts for token in _TOKEN.findall(text)}
    named = (value for token in tokens if token[0].isdecimal() for value in _read_numbers(token))
    tools = {
        word.casefold() for name in _list(contract.get("must_call")) for word in _TOKEN.findall(str(name))
    }
    return Expectations(
        words=frozenset(chain.from_iterable(map(_list_words, texts))) - tools,
        ranges=(*((value, value) for value in named), *numbers),
        shown=frozenset(token.casefold() for token in _TOKEN.findall(known)),
        signs=tuple(text for text in texts if _is_sign(text) and text not in known),
    )


_Checks: TypeAlias = Sequence[Mapping[str, Json]]


def _split_checks(contract: PlainContract, shown: str) -> tuple[_Checks, _Checks]:
    """Returns the checks whose quote stands in the task or the step, and the others."""
    checks = [check for check in _list(contract.get("checks")) if isinstance(check, Mapping)]
    text = _collapse(shown)
    are_stated = [
        bool(quote := _collapse(str(check.get("quote") or ""))) and quote in text for check in checks
    ]
    pairs = [*zip(checks, are_stated, strict=True)]
    return [check for check, stated in pairs if stated], [check for check, stated in pairs if not stated]


def _collapse(text: str) -> str:
    return " ".join(text.split()).casefold()


def _list_check_texts(check: Mapping[str, Json]) -> Iterator[str]:
    """Yields the texts that a check expects. Its counts and forms are no secret, nor are forbidden texts."""
    if check.get("check") != "excludes":
        # A number of columns is no text.
        yield from _list_scalars([check.get(name) for name in _TEXTS if not isinstance(check.get(name), int)])
        yield from _list_pattern(str(check.get("pattern") or ""))
        yield from _list_constants(check.get("json_schema"))


def _list_pattern(pattern: str) -> Iterator[str]:
    # Also without the backslash before a point, which would end a number.
    yield from (pattern, pattern.replace("\\.", "."))


def _list_words(text: str) -> set[str]:
    words = [token.casefold() for token in _TOKEN.findall(text) if not token[0].isdecimal()]
    long = {word for word in words if len(word) >= _SHORT_WORD}
    return long if long and len(words) > _SHORT_TEXT else {*words}


def _is_sign(text: str) -> bool:
    """Returns whether a text has no word. A single character of ASCII is punctuation, which is no answer."""
    return not _TOKEN.search(text) and not (text.isascii() and len(text.strip()) < 2)  # noqa: PLR2004


def _read_numbers(token: str) -> set[float]:
    """Returns the values of a number; the comma may separate thousands or decimals."""
    texts = {token.replace(",", ""), token.replace(".", "").replace(",", ".")}
    return {float(text) for text in texts if text.count(".") <= 1}


def _list_texts(contract: PlainContract) -> Iterator[str]:
    yield from _list_scalars([contract.get("reference_output"), contract.get("keywords")])
    for rule in _list(contract.get("required_content")):
        if isinstance(rule, Mapping):
            yield from _list_scalars(rule.get("text"))
            yield from _list_pattern(str(rule.get("pattern") or ""))
            yield from _list_constants(rule.get("json_schema"))
    yield from _list_actions(contract.get("expected_trajectory"))


def _list_numbers(contract: PlainContract, unstated: _Checks) -> Iterator[tuple[float, float]]:
    checks = [check for check in unstated if check.get("check") == "states_number"]
    rules = [rule for rule in _list(contract.get("required_content")) if isinstance(rule, Mapping)]
    for rule in (*rules, *(check for check in checks if check.get("present") is not False)):
        number, tolerance = rule.get("number"), rule.get("tolerance", 0.0)
        if isinstance(number, int | float) and isinstance(tolerance, int | float):
            # A text states a negative number without its sign, and a bound with a rounding error.
            margin = tolerance + 1e-9 * abs(number)
            yield abs(number) - margin, abs(number) + margin


def _list_actions(value: Json) -> Iterator[str]:
    """Yields the names and the values of arguments of expected actions, also of nested ones."""
    for action in _list(value):
        if isinstance(action, str):
            yield action
        elif isinstance(action, Mapping):
            yield from _list_scalars([action.get(key) for key in ("name", "agent", "target", "args")])
            yield from _list_actions(action.get("any_of"))
            yield from _list_actions(action.get("in_any_order"))


def _list_constants(schema: Json) -> Iterator[str]:
    """Yields the values of a JSON Schema that leave no choice."""
    if isinstance(schema, Mapping):
        yield from _list_scalars([schema.get("const")])
        for value in schema.values():
            yield from _list_constants(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _list_constants(value)


def _list_scalars(value: Json) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, list):
        for each in value:
            yield from _list_scalars(each)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _list(value: Json) -> Iterable[Json]:
    return value if isinstance(value, list | tuple) else ()
