"""Finds credentials and personal data in a text, and redacts and shortens what a report or an error quotes.

No other place of the package shortens a text from outside: half of a credential is no longer recognised, so
a text is redacted before it is cut.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final

from agents.credentials import tokens
from agents.credentials.detector import Family, Pattern, encode_text, search_text
from agents.credentials.masking import PLACES, mask_error
from agents.credentials.secret_values import FIELD_TRIGGER
from agents.credentials.spans import Recognizer, Span, merge_spans, replace_spans
from evaluation.sensitive import personal_data

FIELD_SEPARATOR: Final = "\n\0\n"
"""No pattern matches across it. It stands between the fields of a run."""
_LONGEST_WORD: Final = 12
"""A single word of so many letters is neither a token nor a value with its name."""


Search = Callable[[str], tuple[Span, ...]]
_UNREADABLE: Final = rf"\\u|\\\\\\\"|{FIELD_TRIGGER}"
"""Matches what triggers cannot read in a JSON text: escaped letters, JSON in a string, some names."""


# Three automata: a single one would have more states than fit into its memory.
_FAMILIES: Final = (
    Family(*tokens.DETECTORS, *personal_data.DETECTORS),
    PLACES,
    Family(*personal_data.CONTACT_DETECTORS),
)

_SUSPECT: Final = (
    Pattern(f"{_UNREADABLE}|{_FAMILIES[0].source}"),
    *(family.any for family in _FAMILIES[1:]),
)


def find_sensitive(text: str) -> tuple[Span, ...]:
    """Find credentials and personal data in ``text``: spans that do not overlap, in the order of the text.

    The time is linear in the length of the text; a text without sensitive data costs less than 10 ns per
    character.
    """
    if len(text) <= _LONGEST_WORD and text.isascii() and text.isalpha():
        return ()
    return merge_spans(search_text(text, _FAMILIES))


def may_contain_sensitive(json_text: str) -> bool:
    """Return whether a string in a JSON text may hold sensitive data. False is certain."""
    data = encode_text(json_text)
    return any(pattern.occurs_in(data) for pattern in _SUSPECT)


def build_search(recognizers: Sequence[Recognizer], failures: dict[str, str]) -> Search:
    """Combine the built-in search with the recognisers that a caller plugs in.

    If a recogniser fails, ``failures`` gets the type of its error under the name of the recogniser's type.
    """
    if not recognizers:
        return find_sensitive

    def search(text: str) -> tuple[Span, ...]:
        spans = (span for recognizer in recognizers for span in _ask_recognizer(recognizer, text, failures))
        return merge_spans([*find_sensitive(text), *spans])

    return search


def _ask_recognizer(recognizer: Recognizer, text: str, failures: dict[str, str]) -> list[Span]:
    try:
        return [_check_span(span, text) for span in recognizer.find(text)]
    except (Exception, SystemExit) as error:  # noqa: BLE001  foreign code may raise anything; its message may quote the text
        failures[type(recognizer).__name__] = type(error).__name__
        return []


def _check_span(span: object, text: str) -> Span:
    if not isinstance(span, Span):
        raise TypeError("a recogniser has to return Span objects")
    if not 0 <= span.start < span.end <= len(text):
        raise ValueError("a span has to lie within its text")
    return span


_MARGIN: Final = 4096
"""Characters beyond the limit that are searched too, to recognise a value that the limit cuts."""
LONGEST_NAME: Final = 60
"""Characters of a name (of a tool, a field, a rule) that a sentence shows."""
_LONGEST_ERROR: Final = 300


def redact(text: str, search: Search = find_sensitive) -> str:
    """Replace every credential and all personal data in ``text`` by ``[kind]``."""
    return replace_spans(text, search(text))


def shorten(text: str, limit: int = LONGEST_NAME, search: Search = find_sensitive) -> str:
    """Return a text of at most ``limit`` characters: as it is, or redacted, cut, and with "…" at its end."""
    if len(text) <= limit:
        return text
    head = redact(text[: limit + _MARGIN], search)
    is_complete = len(head) <= limit and len(text) <= limit + _MARGIN
    return head if is_complete else f"{head[: limit - 1]}…"


def keep_end(text: str, limit: int, search: Search = find_sensitive) -> str:
    """Return the last ``limit`` characters of a text, redacted; "…" at the start stands for the rest."""
    tail = redact(text[-(limit + _MARGIN) :], search)
    return tail if len(tail) <= limit and len(text) <= limit + _MARGIN else f"…{tail[1 - limit :]}"


def describe_error(error: BaseException) -> str:
    """Return the text of an exception of someone else's code: one line, redacted and shortened."""
    return shorten(redact(" ".join(mask_error(error)[:_MARGIN].split())), _LONGEST_ERROR)


def describe_raised(error: BaseException) -> str:
    """Return the type and the text of what someone else's code raised: any exception but Ctrl-C.

    Raises:
        KeyboardInterrupt: The error is one: Ctrl-C ends the program, whatever code is running.
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
    return f"{type(error).__name__}: {describe_error(error)}".removesuffix(": ")


def quote_text(text: str, limit: int = LONGEST_NAME) -> str:
    """Quote a shortened text on one line."""
    return json.dumps(shorten(text, limit), ensure_ascii=False)
