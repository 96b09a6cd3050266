"""Opens a store: a SQLite file, or a PostgreSQL database named by a URL.

Stored values are plain data, encrypted if there is a key. Reading them executes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from orchestrator.errors import BrokenRunError, ConfigurationError, StoreError, require_extra
from orchestrator.runs.history import History
from orchestrator.runs.run_saver import RunSaver, SeparateText
from orchestrator.state.plain_values import format_repr, plain_json

_IN_MEMORY: Final = ":memory:"
"""The database that SQLite does not store."""


@dataclass(frozen=True, slots=True)
class Store:
    """An open store.

    Attributes:
        where: The path, or the URL without its password.
        saver: The LangGraph saver. ``LangGraphOrchestrator(..., checkpointer=store)`` uses it.
        history: The runs in the store.
    """

    where: str
    saver: RunSaver
    history: History = field(init=False)

    def __post_init__(self) -> None:
        """Builds the history, which keeps what it has read of the runs under way."""
        object.__setattr__(self, "history", History(self.saver, self.where))

    def keep(self, command: Mapping[str, object]) -> None:
        """Stores values as JSON with every checkpoint from now on; ``history.command`` reads them."""
        self.saver.command = {name: plain_json(value) for name, value in command.items()}


def read_saver(checkpointer: BaseCheckpointSaver[str] | Store | None) -> BaseCheckpointSaver[str] | None:
    """Returns the saver of a store, a saver as it is, and None as None.

    Raises:
        ConfigurationError: It is neither.
    """
    saver = checkpointer.saver if isinstance(checkpointer, Store) else checkpointer
    if saver is not None and not isinstance(saver, BaseCheckpointSaver):
        raise ConfigurationError(
            f"checkpointer is {format_repr(checkpointer, 80)}; give a LangGraph saver such as "
            "InMemorySaver(), the store of `with open_store(...) as store`, or None"
        )
    return saver


def names_database(where: str) -> bool:
    """Checks whether a text names a database, and no file."""
    return any(part in where for part in ("://", "password="))


def default_path() -> Path:
    """Returns the path of the default store, in the user's data folder. Creates nothing."""
    # Imported here: only the command line needs a default path.
    from platformdirs import user_data_path  # noqa: PLC0415

    return user_data_path("plan-execute-monitor", appauthor=False) / "runs.sqlite"


@contextmanager
def open_store(
    where: str | Path | None = None, *, encryption_key: str | None = None, make: bool = True
) -> Iterator[Store]:
    """Opens a store of runs for the block.

    Args:
        where: The path of a SQLite file, or a ``postgresql://`` URL (extra ``[postgres]``). The option
            ``connect_timeout`` of the URL is the time to wait for the database in seconds, by default 10.
            Default: a file in the user's data folder.
        encryption_key: A key of 16, 24 or 32 bytes in UTF-8. Stored values are encrypted with AES (extra
            ``[encryption]``); thread ids, counters, times, a run's status and its basis are not. Default: the
            environment variable ``PEM_ENCRYPTION_KEY``; without it, nothing is encrypted.
        make: Whether a missing store is created.

    Yields:
        The store. Several orchestrators, threads, event loops and processes may use it at once.

    Raises:
        StoreError: There is no store, it cannot be opened, or it holds something else. It was not changed.
        ConfigurationError: The key has another length, or the extra is not installed.
    """
    if where == _IN_MEMORY:
        raise StoreError(f"{_IN_MEMORY!r} names no file; give a path, or checkpointer=InMemorySaver()")
    serde = build_serializer(encryption_key)
    if isinstance(where, str) and names_database(where):
        with require_extra("postgres"):
            from orchestrator.persistence.postgres import open_postgres  # noqa: PLC0415 - an extra
        with open_postgres(where, serde) as (name, saver):
            if make:
                saver.setup()
            elif not saver.has_table("checkpoint_migrations"):
                raise StoreError(f"{name} holds no runs; give the URL of the store in which the run is kept")
            saver.create_index()
            yield Store(name, saver)
        return
    # Imported here: a store in PostgreSQL does not need SQLite.
    from orchestrator.persistence.sqlite import open_sqlite  # noqa: PLC0415

    file = default_path() if where is None else Path(where)
    with open_sqlite(file, serde, make=make, private=where is None) as saver:
        yield Store(str(file), saver)


KEY_VARIABLE: Final = "PEM_ENCRYPTION_KEY"
_KINDS: Final = frozenset({"null", "bytes", "bytearray", "msgpack"})


class StrictSerializer(SerializerProtocol):
    """LangGraph's serialiser, restricted to the kinds of values that this program writes.

    A class or function that is named in a stored value is neither imported nor called. Pickles and JSON with
    constructors are refused. With a key, LangGraph's encryption with AES makes sure that nobody else can read
    or change a value.

    Args:
        key: 16, 24 or 32 bytes; None for no encryption.
    """

    def __init__(self, key: bytes | None = None) -> None:
        # None: only the types that LangGraph lists as safe. Its default imports any class and warns.
        plain = JsonPlusSerializer(allowed_msgpack_modules=None)
        self._cipher = None if key is None else EncryptedSerializer.from_pycryptodome_aes(plain, key=key)
        self._serde = self._cipher or plain

    def dumps_typed(self, obj: object) -> tuple[str, bytes]:
        """Serialises a value to its kind and its bytes."""
        return self._serde.dumps_typed(obj.text if isinstance(obj, SeparateText) else obj)

    def loads_typed(self, data: tuple[str, bytes]) -> object:
        """Deserialises a value.

        Raises:
            StoreError: The value is encrypted, and the key is missing or another one, or it was changed.
            BrokenRunError: This program did not write the value.
        """
        kind, is_encrypted, _ = str(data[0]).partition("+")  # LangGraph adds the name of the cipher
        if is_encrypted and self._cipher is None:
            raise StoreError(f"the store is encrypted; give its key in {KEY_VARIABLE}")
        if kind not in _KINDS:
            raise BrokenRunError(
                f"the store holds a value of a kind that is not read ({format_repr(kind, 40)}); "
                "restore it, or delete the run"
            )
        try:
            return self._serde.loads_typed(data)
        except ValueError as error:
            if is_encrypted:
                raise StoreError(
                    "the store cannot be decrypted: the key is another one, or what is stored was changed; "
                    "give the key it was made with"
                ) from error
            raise BrokenRunError(
                f"the store holds a value that is broken ({error}); restore it, or delete the run"
            ) from error


def build_serializer(encryption_key: str | None) -> SerializerProtocol:
    """Builds the serialiser of a store.

    Args:
        encryption_key: 16, 24 or 32 bytes in UTF-8. Default: the variable ``PEM_ENCRYPTION_KEY``.

    Raises:
        ConfigurationError: The key has another length, or the package pycryptodome is not installed.
    """
    key = os.environ.get(KEY_VARIABLE) if encryption_key is None else encryption_key
    if key is None:
        return StrictSerializer()
    name = KEY_VARIABLE if encryption_key is None else "encryption_key"
    data = key.encode("utf-8", "surrogateescape")
    if len(data) not in (16, 24, 32):
        raise ConfigurationError(f"{name} has {len(data)} bytes; give 16, 24 or 32, or leave it unset")
    with require_extra("encryption"):
        return StrictSerializer(data)
