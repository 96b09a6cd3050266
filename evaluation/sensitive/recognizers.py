"""The built-in search together with the recognisers that a caller plugs in."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.sensitive.json_values import Search
from evaluation.sensitive.scanner import find_sensitive
from evaluation.sensitive.spans import Recognizer, Span, merge_spans


def build_search(recognizers: Sequence[Recognizer], failures: dict[str, str]) -> Search:
    """Give one search for all; why a recogniser failed is put into ``failures`` under its type's name."""
    if not recognizers:
        return find_sensitive

    def search(text: str) -> tuple[Span, ...]:
        asked = (span for one in recognizers for span in _asked(one, text, failures))
        return merge_spans([*find_sensitive(text), *asked])

    return search


def _asked(recognizer: Recognizer, text: str, failures: dict[str, str]) -> list[Span]:
    try:
        return [_checked(span, text) for span in recognizer.find(text)]
    except Exception as error:  # noqa: BLE001  foreign code may raise anything; its message may quote the text
        failures[type(recognizer).__name__] = type(error).__name__
        return []


def _checked(span: object, text: str) -> Span:
    if not isinstance(span, Span):
        raise TypeError("a recogniser gives Span objects")
    if not 0 <= span.start < span.end <= len(text):
        raise ValueError("a span lies within its text")
    return span
