"""Finds credentials by a name before them: in assignments of any notation, and in sentences."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final

from evaluation.sensitive.credentials.secret_values import (
    KEY_NAMES,
    LOGIN_NAMES,
    NAME_END,
    is_code,
    is_plain_word,
    is_public_name,
    is_value,
    looks_random,
)
from evaluation.sensitive.detector import Detector, EncodedText, Pattern
from evaluation.sensitive.spans import Span

_ANNOTATED: Final = r":\s?[A-Za-z][\w.]{0,30}(?:\[[\w., |]{0,30}\])?(?:\s\|\sNone)?\s=\s"
"""A type and an equals sign, as in ``token: Final[str] = "..."``."""
_ASSIGN: Final = rf"[\"'\\\]`*]{{0,4}}\s{{0,4}}(?:=>|:=|==?|{_ANNOTATED}|:|\x26quot;:|\"?\s+value=)\s{{0,4}}"
_VALUE: Final = (
    r"(?:\\\\?\"([^\"\\\n]+)|\"((?:[^\"\\\n]|\\[^\n])+)|'((?:[^'\\\n]|\\[^\n])+)|`([^`\n]+)|([^\s\"'`<>]+))"
)
_PASSWORD_ASSIGNED: Final = Pattern(rf"(?i)(?:{LOGIN_NAMES}){NAME_END}{_ASSIGN}{_VALUE}")
_SECRET_ASSIGNED: Final = Pattern(
    rf"(?i)(?:{KEY_NAMES}){NAME_END}{_ASSIGN}(?:(?:bearer|basic|token|key)\s+)?{_VALUE}"
)
_STATED: Final = Pattern(
    rf"(?i)(?:{LOGIN_NAMES}|{KEY_NAMES}){NAME_END}\s+(?:for (?:[^\s:]+ ){{1,4}})?"
    rf"(?:is|was|ist|lautet|es|est|\xe8|to)\s*:?\s+{_VALUE}"
)
_NEXT_PARAMETER: Final = Pattern(r"([&;]\s{0,2}[A-Za-z_][\w.\- %]*=)")
_QUOTES: Final = frozenset({b'"', b"'", b"`"})
_LONGEST: Final = 1000
_SHORTEST_PASSWORD: Final = 4
_SHORTEST_PAIR: Final = 8
_SHORTEST_NAMED_PASSWORD: Final = 3


def _find_assigned(subject: EncodedText) -> Iterator[Span]:
    for start, end in subject.find_spans(_PASSWORD_ASSIGNED):
        yield from _password_span(subject, start, end)
    for start, end in subject.find_spans(_SECRET_ASSIGNED):
        yield from _secret_span(subject, start, end)


def _find_stated(subject: EncodedText) -> Iterator[Span]:
    """Find passwords and secrets in sentences: ``The password is hunter2.``."""
    for start, end in subject.find_spans(_STATED):
        # "The password is incorrect" does not tell a password.
        if not is_plain_word(subject.decode(start, end).rstrip(".,;:!?)")):
            yield from _password_span(subject, start, end)


def _password_span(subject: EncodedText, start: int, end: int) -> Iterator[Span]:
    stop = _value_end(subject.data, start, end)
    if stop - start >= _SHORTEST_PASSWORD and _is_assigned_value(subject.data, start, stop, end):
        yield Span(start, stop, "password", "credential")


def _secret_span(subject: EncodedText, start: int, end: int) -> Iterator[Span]:
    stop = _value_end(subject.data, start, end)
    is_generated = looks_random(subject.decode(start, stop)) or is_login_pair(subject.data[start:stop])
    if (
        is_generated
        and _is_assigned_value(subject.data, start, stop, end)
        and not is_public_name(subject.data, start)
    ):
        yield Span(start, stop, "secret", "credential")


def _value_end(data: bytes, start: int, end: int) -> int:
    """Return where a value without quotes ends: before the next parameter or the end of the sentence."""
    end = min(end, start + _LONGEST)
    if data[start - 1 : start] in _QUOTES:
        return end
    parameter = next(_NEXT_PARAMETER.find_spans(data[start:end]), None)
    value = data[start : start + parameter[0]] if parameter else data[start:end]
    return start + len(value.rstrip(b".,;:)]}\\"))


def _is_assigned_value(data: bytes, start: int, stop: int, end: int) -> bool:
    """Return whether ``data[start:stop]`` is a value; ``end`` is where its text ends with punctuation."""
    is_quoted = data[start - 1 : start] in _QUOTES
    return is_value(data[start:stop]) and (is_quoted or not is_code(data, start, end))


def is_login_pair(value: bytes) -> bool:
    """Return whether a value is the base64 of "user:password", as headers and Docker write it."""
    if len(value) < _SHORTEST_PAIR or len(value) % 4:
        return False
    try:
        decoded = base64.b64decode(value[:_LONGEST], validate=True)
    except binascii.Error:
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode().isprintable()


def is_credential(kind: str, value: str) -> bool:
    """Return whether a value under a name of that kind is a credential, and no placeholder or word."""
    data = value[:_LONGEST].encode("latin-1", "replace")
    if kind == "secret" and not (looks_random(value) or is_login_pair(data)):
        return False
    return len(value) >= _SHORTEST_NAMED_PASSWORD and is_value(data)


_PAIR: Final = rf'(?i:"[^"]{{0,40}}(?:{KEY_NAMES})[\w.\-]{{0,12}}","value":)'
"""Matches a name and a value in two fields: {"name": "API_KEY", "value": "..."}."""
# Names such as "total_tokens" are common, and numbers and objects behind them are not credentials.
_ASSIGNED_TRIGGER: Final = (
    rf"{_PAIR}|(?i:{LOGIN_NAMES}|(?:{KEY_NAMES}){NAME_END}[\"'\\\]`*]{{0,4}}"
    r"(?:\s|\\?[nrt]){0,4}(?:\x26quot;)?(?:[:=]>?|\"?\s+value=)\s{0,4}(?:[0-9.]{0,40}[^0-9.,}\s{]|\{(?s:.*)value))"
)
DETECTORS: Final = (
    Detector(_ASSIGNED_TRIGGER, _find_assigned),
    Detector(
        rf"(?i:{LOGIN_NAMES}|{KEY_NAMES})(?i:{NAME_END})\s+(?i:is|was|ist|lautet|es|est|\xe8|to|for)\b",
        _find_stated,
    ),
)
