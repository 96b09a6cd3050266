"""Finds credentials by their place: in a header, a cookie, a URL, a command line, a login file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evaluation.sensitive.credentials.assignments import is_login_pair
from evaluation.sensitive.credentials.secret_values import (
    is_code,
    is_plain_word,
    is_value,
    looks_opaque,
    looks_random,
)
from evaluation.sensitive.detector import Detector, EncodedText, Pattern
from evaluation.sensitive.spans import Span

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


def _find_in_commands(subject: EncodedText) -> Iterator[Span]:
    data = subject.data
    for pattern in _PASSWORD_PLACES:
        for start, end in subject.find_spans(pattern):
            if is_value(data[start:end]) and not is_code(data, start, end):
                yield Span(start, end, "password", "credential")
    for kind, pattern in _SECRET_PLACES:
        for start, end in subject.find_spans(pattern):
            if _is_secret(subject, start, end, kind):
                yield Span(start, end, kind, "credential")
    yield from _find_basic_auth(subject)


def _is_secret(subject: EncodedText, start: int, end: int, kind: str) -> bool:
    value = subject.decode(start, end)
    # A cookie and a password need not look generated; a word is none of them.
    is_generated = looks_random(value) if kind in {"authorization", "secret"} else not is_plain_word(value)
    return is_generated and is_value(subject.data[start:end]) and not is_code(subject.data, start, end)


def _find_basic_auth(subject: EncodedText) -> Iterator[Span]:
    for start, end in subject.find_spans(_BASIC):
        # The code holds "user:password"; in prose, any word may follow "basic".
        if is_login_pair(subject.data[start:end]):
            yield Span(start, end, "authorization", "credential")


def _find_in_urls(subject: EncodedText) -> Iterator[Span]:
    for start, end in subject.find_spans(_URL_PASSWORD):
        user, _, password = subject.data[start:end].partition(b":")
        first = end - len(password)
        # "https://host:8080/path@v2" has a port and no password; "guest:guest" is the account of a manual.
        if user != password and is_value(password) and _PORT.match_end(subject.data, first) < 0:
            yield Span(first, end, "url_password", "credential")


def _find_url_keys(subject: EncodedText) -> Iterator[Span]:
    for pattern in (_URL_TOKEN, _URL_KEY):
        for start, end in subject.find_spans(pattern):
            if looks_opaque(subject.data[start:end]):
                yield Span(start, end, "secret", "credential")


DETECTORS: Final = (
    Detector(
        r"(?i:bearer\s|authorization|cookie|sess(?:ion_?)?id|connect\.sid|\bsid=|_session=|--[a-z\-]*(?:pass|token|secret|key)"
        r"|curl|\bpass\s*[:=]|password\s+\S|identified\s+by|<[\w:]*(?:pass|secret|token|api_?key|accesskey)"
        r"|basic\s+[A-Za-z0-9+/]{8}|mysql|\slogin\s|[a-z0-9*.\-]:(?:[0-9]{2,5}|\*):[\w*\-]+:[\w*.\-]+:[^\s:])",
        _find_in_commands,
    ),
    Detector(r"://[^\s/:@?#\"'<>]*:[^\s\"'<>@]+@", _find_in_urls),
    Detector(
        r"://[A-Za-z0-9_\-]{16,}(?::[\w\-]*)?@|[?&](?:key|code|auth|apikey|appid|sig|signature|access_key)=",
        _find_url_keys,
    ),
)
