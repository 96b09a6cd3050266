"""URLs of databases, taken apart as PostgreSQL's own library does it; pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.persistence.serializer import StrictSerializer, build_serializer
from orchestrator.runs.history import History, check_labels

if TYPE_CHECKING:
    from orchestrator.persistence.postgres import PostgresRunSaver
    from orchestrator.persistence.sqlite import SqliteRunSaver


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


_APPLICATION: Final = "plan-execute-monitor"
_FILE: Final = "runs.sqlite"


@dataclass(frozen=True, slots=True)
class Store:
    """An open store.

    Attributes:
        where: Its path, or its URL without a password.
        saver: Keeps runs in it: ``LangGraphOrchestrator(..., checkpointer=store.saver)``.
    """

    where: str
    saver: SqliteRunSaver | PostgresRunSaver

    @property
    def history(self) -> History:
        """The runs in it."""
        return History(self.saver, self.where)

    def keep(self, command: Mapping[str, object]) -> None:
        """Keep JSON values with every checkpoint to come; ``history.command`` gives them back.

        Raises:
            ConfigurationError: They are none, or no database can hold them.
        """
        check_labels(command)
        self.saver.labels.command = dict(command)


def default_path() -> Path:
    """The file in the user's data folder; nothing is made."""
    from platformdirs import user_data_path  # noqa: PLC0415 - by need

    return user_data_path(_APPLICATION, appauthor=False) / _FILE


@contextmanager
def open_store(
    where: str | Path | None = None, *, encryption_key: str | None = None, make: bool = True
) -> Iterator[Store]:
    """Open a store of runs; closed when the block is left.

    Args:
        where: The path of a SQLite file, or a ``postgresql://`` URL (extra ``[postgres]``), whose
            ``connect_timeout`` says for how many seconds the database is waited for (else 10); None for the
            file in the user's data folder.
        encryption_key: 16, 24 or 32 bytes in UTF-8, by which what is stored is encrypted with AES in GCM
            (extra ``[encryption]``); None for what the environment says in ``PEM_ENCRYPTION_KEY``, if
            anything. Names of threads, counters and times stay readable.
        make: Whether a store is made where there is none.

    Yields:
        The store. It may be used by several orchestrators, threads and event loops at once, and by other
        processes beside this one.

    Raises:
        StoreError: There is none, it cannot be opened, or it holds something else; it is as it was.
        ConfigurationError: The key cannot be one, or the extra is not installed.
    """
    serde = build_serializer(encryption_key)
    if isinstance(where, str) and is_parameters(where):  # which a file of that name would show
        raise StoreError("the store is neither a path nor a URL; give postgresql://USER@HOST/NAME, or a path")
    if isinstance(where, str) and is_url(where):
        with _postgres(where, serde, make=make) as store:
            yield store
        return
    from orchestrator.persistence.sqlite import open_sqlite  # noqa: PLC0415 - by need

    file = default_path() if where is None else Path(where)
    with open_sqlite(file, serde, make=make, private=where is None) as saver:
        yield Store(str(file), saver)


@contextmanager
def _postgres(url: str, serde: StrictSerializer, *, make: bool) -> Iterator[Store]:
    name = _shown(url)
    try:
        from orchestrator.persistence import postgres  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigurationError(
            "a store in PostgreSQL needs the packages langgraph-checkpoint-postgres and psycopg; "
            'install them with `pip install "plan-execute-monitor[postgres]"`'
        ) from error
    with postgres.open_postgres(url, name, serde, make=make) as saver:
        yield Store(name, saver)


def _shown(url: str) -> str:
    """A URL without its password; what cannot be read may be all password."""
    if not is_database(url):
        raise StoreError("the store is a URL of another kind; give postgresql://USER@HOST/NAME, or a path")
    try:
        return without_password(url)
    except ValueError:
        raise StoreError(
            "the URL of the store cannot be read; give postgresql://USER:PASSWORD@HOST/NAME, "
            "with %40 for each @ in the password and %2F for each /"
        ) from None
