"""Finds keys and tokens by their form, or because they look generated, and masks credentials in errors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from agents.credentials import secret_places
from agents.credentials.detector import (
    Detector,
    Family,
    Pattern,
    Rule,
    Span,
    detect,
    merge_spans,
    replace_spans,
    search_text,
)
from agents.credentials.secret_places import KEY_NAMES, NAME_END, is_public_name, is_value, looks_random

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
_LONGEST_TOKEN: Final = 4096
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
_LETTER_RUN: Final = re.compile(rb"[A-Za-z0-9]{6,}")
_DIGIT_OR_CAPITAL: Final = re.compile(rb"^[0-9]|.[0-9A-Z]")


def _find_prefixed(data: bytes) -> Iterator[Span]:
    for start, end in _CANDIDATES.find_spans(data):
        token = data[start : min(end, start + _LONGEST_TOKEN)]
        kind, length = _identify_token(token)
        if length:
            yield Span(start, end if length == _LONGEST_TOKEN else start + length, kind, "credential")


def _identify_token(token: bytes) -> tuple[str, int]:
    """Return the kind and the length of the token at the start, or a length of 0."""
    # The first form wins, so "sk-ant-" has to stand before "sk-" in the table.
    for prefixes, kind, pattern in _PATTERNS:
        length = pattern.match_end(token, 0) if token.startswith(prefixes) else 0
        # Not a name in words such as "sk-learn-pipeline-with-many-steps".
        is_generated = any(map(_DIGIT_OR_CAPITAL.search, _LETTER_RUN.findall(token[2:length])))
        if length > 0 and not token[length : length + 1].isalnum() and is_generated:
            return kind, length
    return "", 0


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
    ("signed_url", Pattern(r"X-(?:Amz|Goog)-Signature=([0-9a-f]{64,})")),
    ("wifi_password", Pattern(r"WIFI:(?:[TSHR]:[^;\n]*;)*P:([^;\n]{8,63});")),
    (
        "putty_key",
        Pattern(r"Private-Lines: [0-9]+(?:\\r|\\n|\s)+([A-Za-z0-9+/=]{16,}(?:\s+[A-Za-z0-9+/=]{16,})*)"),
    ),
    ("jwk_key", Pattern(r"\"kty\\?\"[^{}]{1,900}?\"(?:d|k)\\?\"\s*:\s*\\?\"([\w\-]{22,})")),
    ("kubeconfig_key", Pattern(r"client-key-data\\?\"?:\s*\\?\"?([A-Za-z0-9+/]{40,}=*)")),
    ("password_hash", Pattern(r":(\{SHA\}[A-Za-z0-9+/]{27}=)")),
    (
        "seed_phrase",
        Pattern(
            r"(?i:seed|recovery|mnemonic)[ _]?(?i:phrase|words)?[\"'`]?(?::| is|=)\s*[\"'`]?"
            r"((?:[a-z]{3,8} ){11,23}[a-z]{3,8})"
        ),
    ),
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


TOKEN_DETECTORS: Final = (
    Detector(
        rf"{_BOUNDARY}(?:(?:{_LONG_PREFIXES})[\w.\-/+$%=:]{{8}}|(?:{_SHORT_PREFIXES})[\w\-/+|:]{{16}})",
        _find_prefixed,
    ),
    detect(
        r"eyJ[\w\-]{8}|[0-9]:AA[\w\-]{8}|[MNO][\w\-]{23,25}\.[\w\-]{6}\.|[78]Q~|[0-9a-f]-us[0-9]|\.atlasv1\."
        r"|pat[A-Za-z0-9]{14}\.|hooks[.]slack|api/webhooks|[?&;]sig="
        r"|-Signature=|WIFI:|Private-Lines|\"kty|client-key-data|\{SHA\}|(?i:seed|recovery|mnemonic)",
        [Rule(kind, pattern, _is_no_sample) for kind, pattern in _TOKENS],
    ),
    detect("-----BEGIN [A-Z0-9 ]*PRIVATE", [Rule("private_key", _KEY_BLOCK, _is_key_block)]),
)


_AFTER_NAME: Final = r"[\"'`:=\s(]{1,4}"
_NAMED: Final = Pattern(rf"(?i)(?:{KEY_NAMES}){NAME_END}{_AFTER_NAME}([A-Za-z0-9_\-+=]{{16,}})")
_KEY: Final = Pattern(
    rf"(?i)\bkey(?:=[\"']?([A-Za-z0-9_\-+]{{20,}}={{0,2}})|{_AFTER_NAME}([0-9a-f]{{32,}})\b)"
)
"""Matches the vague name "key" alone."""
_SIGNATURE: Final = Pattern(
    r"(?:[?&;]|u0026)[\w\-]{0,20}(?i:signature|sig|hmac)=([A-Za-z0-9_\-%+/~]{16,}={0,2})"
)
_OPAQUE: Final = Pattern(r"[A-Za-z0-9_\-+]{20,}={0,2}")
_RUN: Final = re.compile(rb"[A-Za-z0-9]{16,}")
"""A part that no hyphen divides, as the names of models and files are."""
_MIXED: Final = re.compile(rb"(?=.*[a-z])(?=.*[A-Z])")
_DIGIT: Final = re.compile(rb"[0-9]")
_WORD: Final = re.compile(rb"[A-Z][a-z]{3,}|[a-z]{4,}")
_MOST_WORDS: Final = {True: 0.5, False: 0.3}
"""Share of words in a generated value, with a digit and without."""
_LONGEST: Final = 512
"""Bytes of a key; what is longer is the content of a file."""
_LOOK_BACK: Final = 120
_ID: Final = Pattern(
    r"(?i)(?:req|request|call|toolu|tooluse|srvtoolu|msg|chatcmpl|cmpl|resp|rs|fc|gen|run|thread|asst|step|file"
    r"|batch|org|proj|fp|item|evt|trace|order|ord|inv|job|task|conv|doc|cus|pi|ch|sub|prod|price|sha[0-9]+)[_\-]"
    r"|[0-9]{8}T[0-9]{6}"
)
"""Matches the beginning of an id of a request, a reply, an order or a file."""
_ANNOUNCED: Final = Pattern(
    r"(?:(?i:(?:^|[^a-z])(?:ids?|digest|hash|checksum|etag|fingerprint|md5|sha-?[0-9]+))|[a-z]I[dD])"
    r"[\"'\]\s:=(#\-]{0,6}[A-Za-z0-9+/]*$"
)
"""Matches the text before an id or a hash."""


def _is_given(data: bytes, start: int, end: int) -> bool:
    return is_value(data[start:end])


def _is_named(data: bytes, start: int, end: int) -> bool:
    is_random = looks_random(data[start:end].decode("latin-1"))
    return is_random and _is_given(data, start, end) and not is_public_name(data, start)


def _is_generated(data: bytes, start: int, end: int) -> bool:
    """Return whether a value is neither words, such as the name of a class, nor an id."""
    value = data[start : min(end, start + _LONGEST + 1)]
    if len(value) > _LONGEST or not any(map(_MIXED.match, _RUN.findall(value))):
        return False
    is_id = _ID.match_end(value, 0) >= 0 or _ANNOUNCED.occurs_in(data[max(0, start - _LOOK_BACK) : start])
    words = sum(map(len, _WORD.findall(value)))
    return not is_id and words < _MOST_WORDS[_DIGIT.search(value) is not None] * len(value)


_GENERATED: Final = detect(
    r"[A-Za-z0-9_\-+]{16}",
    [
        Rule("signature", _SIGNATURE, _is_given),
        Rule("secret", _NAMED, _is_named),
        Rule("secret", _KEY, _is_named),
        Rule("secret", _OPAQUE, _is_generated),
    ],
)


PLACES: Final = Family(*secret_places.DETECTORS)
_FAMILIES: Final = (Family(*TOKEN_DETECTORS), PLACES, Family(_GENERATED))
# A placeholder such as "x" is no secret, and masking it would make the text unreadable.
_SHORTEST: Final = 4


def read_error(error: BaseException) -> str:
    """Return the text of an error of anyone's code, also if it has none."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the text of an error is the user's code, too
        return "its text cannot be made"


def mask_error(error: BaseException, secrets: Iterable[str] = ()) -> str:
    """Return the text of an error without credentials."""
    return mask_keys(read_error(error), secrets)


def mask_keys(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace ``secrets``, and everything that is recognised as a credential, by its kind in brackets.

    Servers repeat the key that they refuse, and the errors of clients the address with its password.
    """
    for secret in secrets:
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, "[secret]")
    return replace_spans(text, merge_spans(search_text(text, _FAMILIES)))
