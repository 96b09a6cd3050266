"""Finds the hosts of the URLs in a text, as a browser reads them (WHATWG's URL standard)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final
from urllib.parse import unquote

from agents.credentials.detector import Pattern

_ADDRESS: Final = Pattern(
    # A browser adds the slashes that a special scheme lacks, and reads a backslash as a slash.
    r"(?i)((?:https?|wss?|ftp|file):[^\s]+"
    r"|[a-z][a-z0-9+.\-]*:[/\\]{2,}[^\s]+"
    r"|(?:^|[\"'(<>\[\s=,;|`])[/\\]{2}[^\s/\\]+"
    r"|\bwww\.[^\s]+"
    # A bare host with a path, a query or a port; in "is it in app.py?", the file has none of them.
    r"|(?:^|[\"'(<>\[\s=,;|`*_])(?:[a-z0-9\-]|[^\x00-\x7f])+(?:(?:\.|\xe3\x80\x82|\xef\xbc\x8e|\xef\xbd\xa1)(?:[a-z0-9\-]|[^\x00-\x7f])+)+"
    r"(?::\d+[/?#]|/|\?[\w%])[^\s]*)"
)
_NESTED: Final = re.compile(r"(?<=.)(?:https?|wss?|ftp|file):(?=.)", re.IGNORECASE)
"""Matches the start of a URL inside another one."""
_END: Final = re.compile(r"[\"'<>`{}|^)\s]|\](?![:/]|\Z)")
"""Matches a character that ends a URL in prose, Markdown or HTML, but not in the parser."""
_LEADING: Final = "\"'(<>[=,;|`*_ \t\r\n"
_TRAILING: Final = ".,;:!?)]}*_'\"`>"
_SCHEME: Final = re.compile(
    r"[/\\]{2}|(?P<name>https?|wss?|ftp|file):|(?P<other>[a-z][a-z0-9+.\-]*):[/\\]{2}", re.IGNORECASE
)
_PORT: Final = re.compile(r"[a-z]+:\d{0,5}", re.IGNORECASE)
"""Matches a scheme with a port, as configurations write it."""
_BROKEN: Final = re.compile(r"[\t\n\r]+(?=[.@:]|[\w\-]+\.\w)")
_FILE_NAME: Final = re.compile(
    r"\.(?:js|ts|jsx|tsx|json|ya?ml|toml|html?|css|txt|csv|xml|pdf|png|jpe?g|gif|exe|log|cfg|ini|d|class|jar|cpp|h"
    r"|ipynb|docx?|xlsx?|lock|tar|gz|\d+|[a-z])\Z"
)
"""Matches the end of a name of a file, a version or an abbreviation, which is no domain."""
_CACHED: Final = 4096


def find_hosts(text: str) -> Iterator[str]:
    """Yield the host of each URL in ``text``: in lower case and IDNA (ASCII), without user and port."""
    data = text.encode("utf-8", "replace")
    for start, end in _ADDRESS.find_spans(data):
        address = data[start:end].decode(errors="replace").lstrip(_LEADING)
        urls = chain.from_iterable(map(_split_nested, dict.fromkeys((address, unquote(address)))))
        yield from dict.fromkeys(host for url in urls for host in _list_hosts(url) if host)
    # A browser removes tabs and line breaks from a URL; in prose they end it.
    if " " not in text.strip() and _BROKEN.search(text) and _SCHEME.match(text.strip()):
        yield from filter(None, _list_hosts(_BROKEN.sub("", text.strip())))


def _split_nested(address: str) -> Iterator[str]:
    """Yield a URL and those within it, as a redirect has one."""
    starts = [0, *(match.start() for match in _NESTED.finditer(address)), len(address)]
    return (address[first:last] for first, last in pairwise(starts))


def _list_hosts(url: str) -> Iterator[str]:
    """Yield the host of a URL up to the first character that may end it, and the one behind its user part."""
    end = _END.search(url)
    yield parse_host(url if end is None else url[: end.start()])
    if end is not None and "@" in url[end.start() :]:
        yield _parse_url(url) or ""


@lru_cache(_CACHED)
def parse_host(address: str) -> str:
    """Return the host of an address with or without a scheme, or ``""`` if it has none."""
    trimmed = address.rstrip(_TRAILING)
    trimmed += "]" * (trimmed.count("[") - trimmed.count("]"))
    host = _parse_url(trimmed)
    if host is None:
        # No browser opens it, but another reader may; the text is no allowed domain.
        host = re.split(r"[/\\?#]", trimmed.rpartition("//")[2])[0].rpartition("@")[2].lower()
    is_bare = _SCHEME.match(trimmed) is None
    return "" if is_bare and _FILE_NAME.search(host) else host


def _parse_url(url: str) -> str | None:
    """Return the host as a browser reads it; None if it refuses the URL."""
    # Loading the parser takes 0.1 s.
    from ada_url import URL  # noqa: PLC0415

    scheme = _SCHEME.match(url)
    if _PORT.fullmatch(url):
        return ""
    try:
        return str(
            URL(url if scheme and (scheme["name"] or scheme["other"]) else f"https://{url}").hostname
        ).rstrip(".")
    except ValueError:
        return None


class Domains:
    """A set of domains with their subdomains."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {_normalize_domain(name) for name in names}

    def __contains__(self, host: str) -> bool:
        """Return whether ``host`` is one of the domains or a subdomain, in Unicode or in IDNA spelling."""
        known = _normalize_domain(host)
        return any(known == name or known.endswith(f".{name}") for name in self._names)


@lru_cache(_CACHED)
def _normalize_domain(name: str) -> str:
    plain = name.strip().lower().removeprefix("*.").strip(".")
    host = _parse_url(f"https://{plain}/")
    return plain if host is None else host.strip(".")
