"""Finds keys and tokens by their form: a known prefix, a signed token, a private key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from agents.credentials.detector import Detector, Pattern, Rule, Span, detect

_FORMS: Final[Sequence[tuple[str, str, str]]] = [
    (kind, prefixes, rest)
    for rows in json.loads(Path(__file__).with_name("token_forms.json").read_text(encoding="utf-8")).values()
    for kind, prefixes, rest in rows
]
"""The forms of keys and tokens that begin with a known prefix: a table to extend.

The issuers publish these forms for secret scanning. A row holds the kind, the prefixes (separated by "|"),
and what follows them as a regular expression (RE2) without groups. The first row that matches wins.
"""
_SEGMENT: Final = r"[\w\-]"
_BOUNDARY: Final = r"(?:^|[^A-Za-z0-9]|\\[bfnrt])"
_LONGEST: Final = 4096
"""Bytes of a token that are read. All that continues a longer one is taken to belong to it."""
_SHORT: Final = 3


def _any_of(prefixes: list[str]) -> str:
    return "|".join(re.sub(r"([.$])", r"[\1]", prefix) for prefix in dict.fromkeys(prefixes))


_PREFIXES: Final = [prefix for _, prefixes, _ in _FORMS for prefix in prefixes.split("|")]
_LONG_PREFIXES: Final = _any_of([prefix for prefix in _PREFIXES if len(prefix) > _SHORT])
_SHORT_PREFIXES: Final = _any_of([prefix for prefix in _PREFIXES if len(prefix) <= _SHORT])
_CANDIDATES: Final = Pattern(rf"{_BOUNDARY}((?:{_any_of(_PREFIXES)})[A-Za-z0-9_.\-+/=%$,:~|]{{8,}})")
_PATTERNS: Final = [
    (tuple(map(str.encode, prefixes.split("|"))), kind, Pattern(f"(?:{_any_of(prefixes.split('|'))}){rest}"))
    for kind, prefixes, rest in _FORMS
]
_KEY_LINE: Final = re.compile(rb"[A-Za-z0-9+/=]{16,}")
_RUN: Final = re.compile(rb"[A-Za-z0-9]{6,}")
_DIGIT_OR_CAPITAL: Final = re.compile(rb"^[0-9]|.[0-9A-Z]")


def _find_prefixed(data: bytes) -> Iterator[Span]:
    for start, end in _CANDIDATES.find_spans(data):
        token = data[start : min(end, start + _LONGEST)]
        kind, length = _identify_token(token)
        if length:
            yield Span(start, end if length == _LONGEST else start + length, kind, "credential")


def _identify_token(token: bytes) -> tuple[str, int]:
    """Return the kind and the length of the token at the start, or a length of 0."""
    # The first form wins, so "sk-ant-" has to stand before "sk-" in the table.
    for prefixes, kind, pattern in _PATTERNS:
        length = pattern.match_end(token, 0) if token.startswith(prefixes) else 0
        if length > 0 and not token[length : length + 1].isalnum() and _looks_generated(token[:length]):
            return kind, length
    return "", 0


def _looks_generated(token: bytes) -> bool:
    """Return whether a token is not a name in words such as ``sk-learn-pipeline-with-many-steps``."""
    return any(map(_DIGIT_OR_CAPITAL.search, _RUN.findall(token[2:])))


_TOKENS: Final = (
    ("jwt", Pattern(rf"{_BOUNDARY}(eyJ{_SEGMENT}{{8,}}(?:\.{_SEGMENT}{{6,}}){{1,3}}\.?{_SEGMENT}*)")),
    ("telegram_token", Pattern(rf"(?:^|[^0-9])([0-9]{{8,10}}:AA{_SEGMENT}{{32,33}})")),
    (
        "discord_token",
        Pattern(rf"{_BOUNDARY}([MNO]{_SEGMENT}{{23,25}}\.{_SEGMENT}{{6}}\.{_SEGMENT}{{27,38}})"),
    ),
    ("azure_secret", Pattern(r"(?:^|[^\w.~\-])([\w.~\-]{3}[78]Q~[\w.~\-]{31,34})")),
    ("mailchimp_key", Pattern(rf"{_BOUNDARY}([0-9a-f]{{32}}-us[0-9]{{1,2}})")),
    ("airtable_token", Pattern(rf"{_BOUNDARY}(pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}})")),
    ("terraform_token", Pattern(rf"{_BOUNDARY}([A-Za-z0-9]{{14}}\.atlasv1\.{_SEGMENT}{{60,}})")),
    ("slack_webhook", Pattern(r"(hooks[.]slack[.]com/(?:services|workflows|triggers)/[\w/]{20,})")),
    ("discord_webhook", Pattern(r"(discord(?:app)?[.]com/api/webhooks/[0-9]+/[\w\-]{20,})")),
    ("azure_sas", Pattern(r"[?&;]sig=([A-Za-z0-9%+/]{40,}=*)")),
)
_SAMPLE_PAYLOAD: Final = b"eyJzb21lIjoicGF5bG9hZCJ9"
"""``{"some":"payload"}``: the signed token that the manual of PyJWT prints."""
# A key that was cut off has no END line, but it is still secret.
_KEY_BLOCK: Final = Pattern(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:[^\-\x00]|-[^\-\x00])*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]*)"
)


def _is_no_sample(data: bytes, start: int, end: int) -> bool:
    return _SAMPLE_PAYLOAD not in data[start:end]


def _is_key_block(data: bytes, start: int, end: int) -> bool:
    block = data[start:end]
    # Source code that names both lines has no key between them.
    return b"-----END" not in block or _KEY_LINE.search(block) is not None


DETECTORS: Final = (
    Detector(
        rf"{_BOUNDARY}(?:(?:{_LONG_PREFIXES})[\w.\-/+$%=:]{{8}}|(?:{_SHORT_PREFIXES})[\w\-/+|:]{{16}})",
        _find_prefixed,
    ),
    detect(
        r"eyJ[\w\-]{8}|[0-9]:AA[\w\-]{8}|[MNO][\w\-]{23,25}\.[\w\-]{6}\.|[78]Q~|[0-9a-f]-us[0-9]|\.atlasv1\."
        r"|pat[A-Za-z0-9]{14}\.|hooks[.]slack|api/webhooks|[?&;]sig=",
        [Rule(kind, pattern, _is_no_sample) for kind, pattern in _TOKENS],
    ),
    detect("-----BEGIN [A-Z0-9 ]*PRIVATE", [Rule("private_key", _KEY_BLOCK, _is_key_block)]),
)
