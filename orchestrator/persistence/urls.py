"""URLs of databases, taken apart as PostgreSQL's own library does it; pure functions."""

from __future__ import annotations

import re
from typing import Final

_DATABASE: Final = ("postgresql://", "postgres://")
_ANY: Final = re.compile(r"\s*[a-z][a-z0-9+.-]*://", re.IGNORECASE)
# A password may hold all but @ and /, also what begins a query or a fragment elsewhere.
_PARTS: Final = re.compile(
    r"(?P<scheme>[a-z]+://)(?:(?P<user>[^:@/]*)(?::[^@/]*)?(?P<at>@))?(?P<place>[^?]*)\??(?P<options>.*)",
    re.DOTALL,
)
_PARAMETERS: Final = re.compile(r"\s*(host|hostaddr|port|dbname|user|password|service)\s*=")
_SHOWN: Final = ("host=", "port=", "dbname=", "user=")


def is_database(where: str) -> bool:
    """Whether it is the URL of a database that can be a store."""
    return where.startswith(_DATABASE)


def is_url(where: str) -> bool:
    """Whether it is a URL, of whatever it may be, and so no path."""
    return _ANY.match(where) is not None


def is_parameters(where: str) -> bool:
    """Whether it is the other form in which a database is named: ``host=... dbname=...``."""
    return _PARAMETERS.match(where) is not None


def without_password(url: str) -> str:
    """The URL of a database for people to see.

    Raises:
        ValueError: It cannot be told which part of it is the password.
    """
    parts = _PARTS.fullmatch(url)
    if parts is None or "@" in parts["place"]:
        raise ValueError("an @ or a / within the password")
    options = "&".join(part for part in parts["options"].split("&") if part.startswith(_SHOWN))
    user, at = parts["user"] or "", parts["at"] or ""
    return f"{parts['scheme']}{user}{at}{parts['place']}{'?' if options else ''}{options}"
