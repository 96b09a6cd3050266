"""How values are stored: as plain data, encrypted where there is a key; nothing read makes a program run."""

from __future__ import annotations

import os
from typing import Final, Protocol

import ormsgpack
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from orchestrator.errors import BrokenRunError, ConfigurationError, StoreError

KEY_VARIABLE: Final = "PEM_ENCRYPTION_KEY"
_CIPHER: Final = "aesgcm"
_KEY_BYTES: Final = (16, 24, 32)
_WRITTEN: Final = frozenset({"null", "bytes", "bytearray", "msgpack"})


class Cipher(Protocol):
    """Encrypts bytes."""

    def encrypt(self, data: bytes) -> bytes:
        """Make them unreadable."""
        ...

    def decrypt(self, data: bytes) -> bytes:
        """Make them readable; raises StoreError where they were encrypted with another key, or changed."""
        ...


class StrictSerializer(SerializerProtocol):
    """LangGraph's serialiser, reduced to what this program writes.

    What is read becomes plain values and LangGraph's own; a class or function that is named in it is
    neither imported nor called, and pickles and constructors in JSON are refused.
    """

    def __init__(self, cipher: Cipher | None = None) -> None:
        """Encrypt where there is a cipher; what was written without one is read all the same."""
        self._plain = JsonPlusSerializer(allowed_msgpack_modules=None)
        self._cipher = cipher

    def dumps_typed(self, obj: object) -> tuple[str, bytes]:
        """A value as its kind and bytes."""
        kind, data = self._plain.dumps_typed(obj)
        return (kind, data) if self._cipher is None else (f"{kind}+{_CIPHER}", self._cipher.encrypt(data))

    def loads_typed(self, data: tuple[str, bytes]) -> object:
        """The value.

        Raises:
            StoreError: It is encrypted and there is no key or another one.
            BrokenRunError: This program did not write it.
        """
        stored, content = data
        kind, _, cipher = str(stored).partition("+")  # a column that may hold anything
        if kind not in _WRITTEN or cipher not in ("", _CIPHER):
            raise BrokenRunError(
                f"the store holds a value of a kind that is not read ({stored!r:.40}); "
                "restore it, or delete the run"
            )
        if cipher:
            content = self._decrypted(content)
        try:
            return self._plain.loads_typed((kind, content))
        except ormsgpack.MsgpackDecodeError as error:
            raise BrokenRunError(
                f"the store holds a value that is broken ({error}); restore it, or delete the run"
            ) from error

    def _decrypted(self, content: bytes) -> bytes:
        if self._cipher is None:
            raise StoreError(f"the store is encrypted; give its key in {KEY_VARIABLE}")
        return self._cipher.decrypt(content)


def serializer(encryption_key: str | None) -> StrictSerializer:
    """The serialiser of a store.

    Args:
        encryption_key: Of 16, 24 or 32 bytes in UTF-8; None for what ``PEM_ENCRYPTION_KEY`` says.

    Raises:
        ConfigurationError: The key has another length, or the package cryptography is not installed.
    """
    key = os.environ.get(KEY_VARIABLE) if encryption_key is None else encryption_key
    return StrictSerializer(None if key is None else _cipher(key))


def _cipher(key: str) -> Cipher:
    data = key.encode("utf-8", "surrogateescape")
    if len(data) not in _KEY_BYTES:
        raise ConfigurationError(
            f"{KEY_VARIABLE} has {len(data)} bytes; give 16, 24 or 32, or leave it unset"
        )
    try:
        from orchestrator.persistence.encryption import AesGcm  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigurationError(
            f"{KEY_VARIABLE} needs the package cryptography; "
            'install it with `pip install "plan-execute-monitor[encryption]"`'
        ) from error
    return AesGcm(data)
