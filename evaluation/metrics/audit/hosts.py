"""Finds the hosts of the URLs in a text, as a browser reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from unicodedata import normalize
from urllib.parse import unquote

from evaluation.sensitive.patterns import Pattern

_ADDRESS: Final = Pattern(
    r"(?i)(?:\b[a-z][a-z0-9+.\-]*:[/\\]{2,}|[\"'(\s=]//)([^\s/?#\"'<>\\|`{}^]+)"
    r"|\b(www\.[^\s/?#\"'<>\\|`{}^]+)|^//([^\s/?#\"'<>\\|]+)"
)
"""RFC 3986, section 3.2. A backslash counts as a slash, as in the WHATWG's URL standard."""
_IDEOGRAPHIC_STOP: Final = "\u3002"
_TRAILING: Final = ".,;:!)]}"


def find_hosts(text: str) -> Iterator[str]:
    """Yield the host of each URL in ``text``: lower case, normalised, without user and port."""
    data = text.encode("utf-8", "replace")
    hosts = (parse_host(data[start:end].decode()) for start, end in _ADDRESS.find_spans(data))
    yield from filter(None, hosts)


def parse_host(authority: str) -> str:
    """Return the host of ``user:password@host:port``."""
    # Browsers decode and normalise a host as well; otherwise "ev%69l.test" would hide one.
    plain = normalize("NFKC", unquote(authority)).replace(_IDEOGRAPHIC_STOP, ".")
    # The last "@" ends the user part: "https://good.test@evil.test" leads to evil.test.
    named = plain.rpartition("@")[2].rstrip(_TRAILING).lower()
    if named.startswith("["):
        return named.partition("]")[0] + "]"
    return named.partition(":")[0].rstrip(_TRAILING)


def is_within(host: str, domain: str) -> bool:
    """Return whether ``host`` is ``domain`` or one of its subdomains, in Unicode or in IDNA spelling."""
    inner, outer = _to_ascii(host), _to_ascii(domain.strip().removeprefix("*.").strip("."))
    return inner == outer or inner.endswith(f".{outer}")


def _to_ascii(host: str) -> str:
    try:
        return host.lower().encode("idna").decode()
    except UnicodeError:  # a label that is empty or too long
        return host.lower()
