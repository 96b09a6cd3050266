"""The hosts of the addresses (URLs) in a text, read as a browser reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from unicodedata import normalize
from urllib.parse import unquote

from evaluation.sensitive.patterns import Pattern

_ADDRESS: Final = Pattern(
    r"(?i)(?:\b[a-z][a-z0-9+.\-]*:[/\\]{2,}|[\"'(\s=]//|\bwww\.)([^\s/?#\"'<>\\|`{}^]+)"
    r"|^//([^\s/?#\"'<>\\|]+)"
)
"""RFC 3986, section 3.2; a backslash counts as a slash, as the WHATWG's URL standard has it."""
_WEB: Final = "www."
_FULL_STOP: Final = "\u3002"
_AFTER: Final = ".,;:!)]}"


def find_hosts(text: str) -> Iterator[str]:
    """Yield the host of each address in ``text``: lower case, normalised, without user and port."""
    if "//" not in text and "\\\\" not in text and _WEB not in text.lower():
        return
    data = text.encode("utf-8", "replace")
    for start, end in _ADDRESS.find_spans(data):
        bare = data[start - len(_WEB) : start].lower() == _WEB.encode()
        host = parse_host(data[start:end].decode())
        if host:
            yield f"{_WEB}{host}" if bare else host


def parse_host(authority: str) -> str:
    """Give the host of ``user:password@host:port``."""
    plain = normalize("NFKC", unquote(authority)).replace(_FULL_STOP, ".")
    named = plain.rpartition("@")[2].rstrip(_AFTER).lower()
    if named.startswith("["):
        return named.partition("]")[0] + "]"
    return named.partition(":")[0].rstrip(_AFTER)


def is_within(host: str, domain: str) -> bool:
    """Say whether ``host`` is ``domain`` or one of its subdomains, in either spelling of foreign letters."""
    inner, outer = _ascii(host), _ascii(domain.strip().removeprefix("*.").strip("."))
    return inner == outer or inner.endswith(f".{outer}")


def _ascii(host: str) -> str:
    try:
        return host.lower().encode("idna").decode()
    except UnicodeError:  # a label that is empty or too long
        return host.lower()
