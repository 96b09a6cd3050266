"""Credentials that show by their context: a telling name, a header, an address, a command line."""

from __future__ import annotations

import base64
import binascii
import math
from collections import Counter
from collections.abc import Iterator
from typing import Final

from evaluation.sensitive.patterns import Detector, Pattern, SearchedText
from evaluation.sensitive.spans import Span

_WORDS: Final = (
    r"pass(?:word|wort|wd|phrase|code)|\bpwd|_pwd|[_\-]pass\b"
    r"|contrase(?:\xf1|n|\xc3\xb1)a|mot[ _]de[ _]passe|\bsenha\b|wachtwoord"
    r"|has(?:\x3f|l|\xc5\x82)o\b|l(?:\xf6|o|\xc3\xb6)senord"
)
"""What a password is called; its value may be a word."""
_KEY_WORDS: Final = (
    r"secret|token|api[_\- ]?key|access[_\- ]?key|private[_\- ]?key|auth[_\- ]?key|encryption[_\- ]?key"
    r"|signing[_\- ]?key|account[_\- ]?key|master[_\- ]?key|session[_\- ]?key|service[_\- ]?key|credential"
    r"|authorization|\bauth\b|[_\-]auth\b"
)
_NAME_END: Final = (
    r"(?:[sS]|[_\-.]?(?:value|prod|production|dev|test|live|staging"
    r"|v[0-9]|[0-9]+|plain|raw|key|hash|base64))?"
)
_GIVEN: Final = r"[\"'\\\]`*]{0,4}\s{0,4}(?:=>|:=|==?|:|\x26quot;:)\s{0,4}"
_VALUE: Final = (
    r"(?:\\\\?\"([^\"\\\n]+)|\"((?:[^\"\\\n]|\\[^\n])+)|'((?:[^'\\\n]|\\[^\n])+)|`([^`\n]+)|([^\s\"'`<>]+))"
)
_LENIENT: Final = Pattern(rf"(?i)(?:{_WORDS}){_NAME_END}{_GIVEN}{_VALUE}")
_STRICT: Final = Pattern(rf"(?i)(?:{_KEY_WORDS}){_NAME_END}{_GIVEN}(?:(?:bearer|basic|token)\s+)?{_VALUE}")
_SAID: Final = Pattern(
    rf"(?i)(?:{_WORDS}|{_KEY_WORDS})\s+(?:for (?:[^\s:]+ ){{1,4}})?"
    rf"(?:is|was|ist|lautet|es|est|\xe8|to)\s*:?\s+{_VALUE}"
)
_LENIENT_NAME: Final = Pattern(rf"(?i)(?:.*(?:{_WORDS})|(?:.*[^a-z])?(?:pass|pin|cvv|cvc)){_NAME_END}$")
_STRICT_NAME: Final = Pattern(rf"(?i).*(?:{_KEY_WORDS}){_NAME_END}$")
_CERTAIN: Final = (
    Pattern(r"(?i)--(?:[a-z]+-)?(?:password|pass|passwd|passphrase)[= ][\"']?([^\s\"']+)"),
    Pattern(r"(?i)\bcurl\b[^\n|;]*?\s(?:-u|--user)[= ]?[\"']?[^\s:\"']+:([^\s\"']+)"),
    Pattern(r"(?i)\blogin\s+\S+\s+password\s+(\S+)"),
    Pattern(r"(?i)(?:identified\s+by|(?:with|encrypted)\s+password)\s+'([^'\n]+)'"),
    Pattern(r"(?i)<[\w:]*(?:password|passwd)>([^<\n]{4,})</"),
)
"""Behind these stands a password, whatever it looks like."""
_LIKELY: Final = (
    ("password", Pattern(r"(?i)\bpass\s*[:=]\s*[\"']?([^\s\"']{5,})")),
    ("authorization", Pattern(r"(?i)\bbearer\s+([A-Za-z0-9._~+/\-]{16,}=*)")),
    ("authorization", Pattern(r"(?i)authorization[\"'\s:=\\]+(?:[a-z]+\s+)?([A-Za-z0-9._~+/:\-]{8,}=*)")),
    ("cookie", Pattern(r"(?i)\bcookie[\"'\\]*\s*[:=]\s*[\"'\\]*[\w.\-]+=([^\s;,\"']{8,})")),
    (
        "cookie",
        Pattern(r"(?i)\b(?:session_?id|phpsessid|jsessionid|connect\.sid|sid)=([A-Za-z0-9%._\-]{12,})"),
    ),
    ("secret", Pattern(r"(?i)--(?:[a-z]+-)*(?:token|secret|api-key|apikey)[= ][\"']?([^\s\"']+)")),
    ("secret", Pattern(r"(?i)<[\w:]*(?:secret|token|api_?key)>([^<\n]{4,})</")),
)
"""Behind these stands a credential if it is more than a word."""
_IN_ADDRESS: Final = Pattern(r"[A-Za-z][A-Za-z0-9+.\-]*://[^\s/:@?#\"'<>]*:([^\s\"'<>]+)@[\w\[]")
_PORT: Final = Pattern(r"[0-9]{1,5}[/?#]")
_NEXT_PARAMETER: Final = Pattern(r"([&;]\s{0,2}[A-Za-z_][\w.\- %]*=)")
_BASIC: Final = Pattern(r"(?i)\bbasic\s+([A-Za-z0-9+/]{8,}={0,2})")
_NO_VALUE: Final = Pattern(
    r"(?i)(?:[x*.#\-_?\xb7\x95]+|<.*|\[.*|\{.*|\(.*|\$.*|%.*|your[_\- ].*|my[_\- ].*|example.*"
    r"|null|none|nil|true|false|yes|no"
    r"|undefined|n/?a|string|str|text|password|passwort|secret|token|required|optional|missing|invalid|incorrect"
    r"|expired|changed|reset|updated|wrong|correct|valid|empty|hidden|masked|redacted|encrypted|unset|default|set"
    r"|must|should|is|are|was|has|not|the|and|or|to|for|a|an|of|bearer|basic|object|number|integer|boolean|env"
    r"|please|here|field|protected|needed|okay|ok|int|float|type|placeholder|forgotten|unknown|stored|sent|too"
    r"|process\.env.*|os\.environ.*|os\.getenv.*|config\..*|settings\..*|self\..*|this\..*|args\..*|secrets\..*|env\..*)"
    r"[.,;:!?)\]}]*$"
)
_LONGEST: Final = 1000
_SHORTEST: Final = 8
_SHORTEST_PASSWORD: Final = 3


def _assigned(subject: SearchedText) -> Iterator[Span]:
    for start, end in subject.find_spans(_LENIENT):
        yield from _password(subject, start, end)
    for start, end in subject.find_spans(_STRICT):
        yield from _secret(subject, start, end)


def _said(subject: SearchedText) -> Iterator[Span]:
    for start, end in subject.find_spans(_SAID):
        if _odd(subject.decode(start, end).rstrip(".,;:!?)")):
            yield from _password(subject, start, end)


def _elsewhere(subject: SearchedText) -> Iterator[Span]:
    data = subject.data
    for pattern in _CERTAIN:
        yield from (
            _span(one, "password") for one in subject.find_spans(pattern) if _is_value(data[slice(*one)])
        )
    for kind, pattern in _LIKELY:
        for start, end in subject.find_spans(pattern):
            if _is_value(data[start:end]) and _odd(subject.decode(start, end)):
                yield _span((start, end), kind)
    yield from (
        _span(one, "authorization")
        for one in subject.find_spans(_BASIC)
        if b":" in _decoded(data[slice(*one)])
    )


def _span(bounds: tuple[int, int], kind: str) -> Span:
    return Span(*bounds, kind, "credential")


def _in_addresses(subject: SearchedText) -> Iterator[Span]:
    for start, end in subject.find_spans(_IN_ADDRESS):
        if _is_value(subject.data[start:end]) and _PORT.match_end(subject.data, start) < 0:
            yield Span(start, end, "url_password", "credential")


def _password(subject: SearchedText, start: int, end: int) -> Iterator[Span]:
    end = _value_end(subject.data, start, end)
    if end - start >= 4 and _is_value(subject.data[start:end]) and not _called(subject.data, end):  # noqa: PLR2004
        yield Span(start, end, "password", "credential")


def _secret(subject: SearchedText, start: int, end: int) -> Iterator[Span]:
    end = _value_end(subject.data, start, end)
    if (
        looks_random(subject.decode(start, end))
        and _is_value(subject.data[start:end])
        and not _called(subject.data, end)
    ):
        yield Span(start, end, "secret", "credential")


def _value_end(data: bytes, start: int, end: int) -> int:
    """Leave out what follows a value that stands without quotes: a parameter, the end of a sentence."""
    end = min(end, start + _LONGEST)
    if data[start - 1 : start] in {b'"', b"'", b"`"}:
        return end
    parameter = next(_NEXT_PARAMETER.find_spans(data[start:end]), None)
    value = data[start : start + parameter[0]] if parameter else data[start:end]
    return start + len(value.rstrip(b".,;:)]}\\"))


def _called(data: bytes, end: int) -> bool:
    """Say whether the value is code that fetches one: ``token = load(``, ``key = names[0]``."""
    return data[end : end + 1] in {b"(", b"["}


def _is_value(value: bytes) -> bool:
    return (
        _NO_VALUE.match_end(value[:_LONGEST], 0) < 0 and b"(" not in value[:_LONGEST].partition(b" ")[0][-2:]
    )


def _odd(value: str) -> bool:
    """Say whether a word is more than a word: it holds a digit, a sign, or capitals within."""
    return any(not mark.isalpha() for mark in value.strip("-'")) or value[1:] != value[1:].lower()


def looks_random(value: str) -> bool:
    """Tell a generated value from words, names and plain numbers.

    At least 8 characters, and either letters with digits or more than 3 bits of entropy a character in 20.
    """
    if len(value) < _SHORTEST or " " in value.strip() or value.isdigit():
        return False
    digits = sum(mark.isdigit() for mark in value)
    letters = sum(mark.isalpha() for mark in value)
    if digits >= 2 and letters >= 2:  # noqa: PLR2004
        return True
    mixed = value != value.lower() and value != value.upper()
    return len(value) >= 20 and mixed and _entropy(value[:_LONGEST]) > 3.5  # noqa: PLR2004


def _entropy(value: str) -> float:
    """Shannon's entropy, in bits a character."""
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())


def _decoded(value: bytes) -> bytes:
    try:
        return base64.b64decode(value[:_LONGEST], validate=True)
    except binascii.Error:
        return b""


def name_kind(name: str) -> str | None:
    """Say what stands under such a name: a ``password``, a ``secret``, or neither."""
    data = SearchedText(name).data
    if _LENIENT_NAME.match_end(data, 0) >= 0:
        return "password"
    return "secret" if _STRICT_NAME.match_end(data, 0) >= 0 else None


def is_credential(kind: str, value: str) -> bool:
    """Say whether a value under a name of that kind is one, and no placeholder or plain word."""
    if kind == "secret":
        return looks_random(value) and _is_value(SearchedText(value[:_LONGEST]).data)
    return len(value) >= _SHORTEST_PASSWORD and _is_value(SearchedText(value[:_LONGEST]).data)


_PAIR: Final = rf'(?i:"[^"]{{0,40}}(?:{_KEY_WORDS})[\w.\-]{{0,12}}","value":)'
"""A name and a value in fields of their own, as in {"name": "API_KEY", "value": "..."}."""
_TELLING: Final = (
    rf"{_PAIR}|(?i:{_WORDS}|(?:{_KEY_WORDS}){_NAME_END}[\"'\\\]`*]{{0,4}}"
    r"(?:\s|\\?[nrt]){0,4}(?:\x26quot;)?[:=]>?\s{0,4}(?:[0-9.]{0,40}[^0-9.,}\s{]|\{(?s:.*)value))"
)
"""Numbers and objects are most of what a name such as ``total_tokens`` stands before, and no credentials."""
DETECTORS: Final = (
    Detector(_TELLING, _assigned),
    Detector(rf"(?i:{_WORDS}|{_KEY_WORDS})\s+(?i:is|was|ist|lautet|es|est|\xe8|\xc3\xa8|to|for)\b", _said),
    Detector(
        r"(?i:bearer\s|authorization|cookie|sess(?:ion_?)?id|connect\.sid|\bsid=|--[a-z\-]*(?:pass|token|secret|api-?key)|curl"
        r"|\bpass\s*[:=]|password\s+\S|identified\s+by|<[\w:]*(?:pass|secret|token|api_?key)|basic\s+[A-Za-z0-9+/]{8})",
        _elsewhere,
    ),
    Detector(r"://[^\s/:@?#\"'<>]*:[^\s\"'<>@]+@", _in_addresses),
)
