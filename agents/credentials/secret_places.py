"""Finds credentials by a name before them, or by their place: in a header, a URL, a command line."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final

from agents.credentials.detector import Detector, Pattern, Rule, detect
from agents.credentials.secret_values import (
    KEY_NAMES,
    LOGIN_NAMES,
    NAME_END,
    is_code,
    is_plain_word,
    is_public_name,
    is_value,
    looks_opaque,
    looks_random,
)
from agents.credentials.spans import Span

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
    rf"(?:(?:is|was|ist|lautet|es|est|\xe8|to)\s*:?|(?:provided|given|supplied|used|sent):)\s+{_VALUE}"
)
_NEXT_PARAMETER: Final = Pattern(r"([&;]\s{0,2}[A-Za-z_][\w.\- %]*=)")
_QUOTES: Final = frozenset({b'"', b"'", b"`"})
_LONGEST: Final = 1000
_SHORTEST_PASSWORD: Final = 4
_SHORTEST_PAIR: Final = 8
_SHORTEST_NAMED_PASSWORD: Final = 3


def _find_assigned(data: bytes) -> Iterator[Span]:
    for start, end in _PASSWORD_ASSIGNED.find_spans(data):
        yield from _password_span(data, start, end)
    for start, end in _SECRET_ASSIGNED.find_spans(data):
        yield from _secret_span(data, start, end)


def _find_stated(data: bytes) -> Iterator[Span]:
    """Find passwords and secrets in sentences: ``The password is hunter2.``."""
    for start, end in _STATED.find_spans(data):
        # "The password is incorrect" does not tell a password.
        if not is_plain_word(data[start:end].decode("latin-1").rstrip(".,;:!?)")):
            yield from _password_span(data, start, end)


def _password_span(data: bytes, start: int, end: int) -> Iterator[Span]:
    stop = _value_end(data, start, end)
    # What follows an escaped line end is prose.
    is_line_end = data[start : start + 2] == b"\\n"
    if stop - start >= _SHORTEST_PASSWORD and not is_line_end and _is_assigned_value(data, start, stop, end):
        yield Span(start, stop, "password", "credential")


def _secret_span(data: bytes, start: int, end: int) -> Iterator[Span]:
    stop = _value_end(data, start, end)
    is_generated = looks_random(data[start:stop].decode("latin-1")) or is_login_pair(data[start:stop])
    if is_generated and _is_assigned_value(data, start, stop, end) and not is_public_name(data, start):
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


_PASSWORD_PLACES: Final = (
    Pattern(r"(?i)--(?:[a-z]+-)*(?:password|pass|passwd|passphrase|passwort)[= ][\"']?([^\s\"']+)"),
    Pattern(r"(?i)\bcurl\b[^\n|;]*?\s(?:-[a-z]*u|--user|--proxy-user)[= ]?[\"']?[^\s:\"'/]+:([^\s\"']+)"),
    Pattern(r"(?i)\blogin\s+\S+\s+password\s+(\S+)"),
    Pattern(
        r"(?:IDENTIFIED\s+BY|(?i:user\s+\S+\s+identified\s+by|(?:with|encrypted)\s+password))\s+'([^'\n]+)'"
    ),
    Pattern(r"(?i)<[\w:]*(?:password|passwd|passphrase)>([^<\n]{4,})</"),
    Pattern(r"(?m)(?:^|\\n)[\w.*\-]+:(?:[0-9]{2,5}|[*]):[\w*\-]+:[\w*.\-]+:([^\s:]{4,})(?:\\n|$)"),
    Pattern(r"\bmysql\b[^\n|;]*?\s-p[\"']?([^\s\"'\-][^\s\"']{3,})"),
    Pattern(r"\bdocker login\b[^\n|;]*?\s-p[= ][\"']?([^\s\"']+)"),
)
"""Places where any value is a password."""
_SECRET_PLACES: Final = (
    ("password", Pattern(r"(?i)\bpass(?::|\s*=)\s*[\"']?([^\s\"']{5,})")),
    ("authorization", Pattern(r"(?i)\bbearer\s+([A-Za-z0-9._~+/\-]{16,}=*)")),
    (
        "authorization",
        Pattern(
            r"(?i)authorization[\"'\\]*\s*[:=,]\s*[\"'\\]*(?:[a-z\-]+\s+)?(?:key=)?([A-Za-z0-9._~+/:\-]{8,}=*)"
        ),
    ),
    ("cookie", Pattern(r"(?i)\bcookie[\"'\\]*\s*[:=]\s*[\"'\\]*[\w.\-]+=([^\s;,\"'\\]{8,})")),
    (
        "cookie",
        Pattern(
            r"(?i)\b(?:session_?id|phpsessid|jsessionid|asp\.net_sessionid|connect\.sid|sid|[a-z]*_session)="
            r"([A-Za-z0-9%._\-]{12,})"
        ),
    ),
    ("secret", Pattern(r"(?i)--(?:[a-z]+-)*(?:token|secret|key|apikey)[= ][\"']?([^\s\"']+)")),
    ("secret", Pattern(r"(?i)<[\w:]*(?:secret|token|api_?key|accesskey)>([^<\n]{4,})</")),
)
"""Places where a value is a credential if it looks generated."""
_URL_PASSWORD: Final = Pattern(r"[A-Za-z][A-Za-z0-9+.\-]*://([^\s/:@?#\"'<>]*:[^\s\"'<>]+)@[\w\[]")
_URL_TOKEN: Final = Pattern(r"[A-Za-z][A-Za-z0-9+.\-]*://([A-Za-z0-9_\-]{16,})(?::[\w\-]*)?@[\w\[]")
_URL_KEY: Final = Pattern(
    r"[?&](?:key|code|auth|apikey|appid|sig|signature|access_key)=([A-Za-z0-9_\-%]{16,}={0,2})"
)
_PORT: Final = Pattern(r"[0-9]{1,5}[/?#]")
_BASIC: Final = Pattern(r"(?i)\bbasic\s+([A-Za-z0-9+/]{8,}={0,2})")


def _is_password(data: bytes, start: int, end: int) -> bool:
    return is_value(data[start:end]) and not is_code(data, start, end)


def _is_secret(data: bytes, start: int, end: int) -> bool:
    return looks_random(data[start:end].decode("latin-1")) and _is_password(data, start, end)


def _is_no_word(data: bytes, start: int, end: int) -> bool:
    # A cookie and a password need not look generated; a word is none of them.
    return not is_plain_word(data[start:end].decode("latin-1")) and _is_password(data, start, end)


def _is_login(data: bytes, start: int, end: int) -> bool:
    # The code holds "user:password"; in prose, any word may follow "basic".
    return is_login_pair(data[start:end])


def _is_opaque(data: bytes, start: int, end: int) -> bool:
    return looks_opaque(data[start:end])


_PLACES: Final = (
    *(Rule("password", pattern, _is_password) for pattern in _PASSWORD_PLACES),
    *(
        Rule(kind, pattern, _is_no_word if kind in {"password", "cookie"} else _is_secret)
        for kind, pattern in _SECRET_PLACES
    ),
    Rule("authorization", _BASIC, _is_login),
)


def _find_in_urls(data: bytes) -> Iterator[Span]:
    for start, end in _URL_PASSWORD.find_spans(data):
        user, _, password = data[start:end].partition(b":")
        first = end - len(password)
        # "https://host:8080/path@v2" has a port and no password; "guest:guest" is the account of a manual.
        if user != password and is_value(password) and _PORT.match_end(data, first) < 0:
            yield Span(first, end, "url_password", "credential")


DETECTORS: Final = (
    Detector(_ASSIGNED_TRIGGER, _find_assigned),
    Detector(
        rf"(?i:{LOGIN_NAMES}|{KEY_NAMES})(?i:{NAME_END})\s+"
        r"(?i:is|was|ist|lautet|es|est|\xe8|to|for|(?:provided|given|supplied|used|sent):)(?:\b|\s)",
        _find_stated,
    ),
    detect(
        r"(?i:bearer\s|authorization|cookie|sess(?:ion_?)?id|connect\.sid|\bsid=|_session=|--[a-z\-]*(?:pass|token|secret|key)"
        r"|curl|\bpass\s*[:=]|password\s+\S|identified\s+by|<[\w:]*(?:pass|secret|token|api_?key|accesskey)"
        r"|basic\s+[A-Za-z0-9+/]{8}|mysql|\slogin\s|[a-z0-9*.\-]:(?:[0-9]{2,5}|\*):[\w*\-]+:[\w*.\-]+:[^\s:])",
        _PLACES,
    ),
    Detector(r"://[^\s/:@?#\"'<>]*:[^\s\"'<>@]+@", _find_in_urls),
    detect(
        r"://[A-Za-z0-9_\-]{16,}(?::[\w\-]*)?@|[?&](?:key|code|auth|apikey|appid|sig|signature|access_key)=",
        [Rule("secret", pattern, _is_opaque) for pattern in (_URL_TOKEN, _URL_KEY)],
    ),
)
