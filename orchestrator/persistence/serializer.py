"""Serialises stored values as plain data, encrypted if there is a key. Reading them executes nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

import ormsgpack
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from orchestrator.errors import BrokenRunError, ConfigurationError, StoreError
from orchestrator.state.plain_values import format_repr

KEY_VARIABLE: Final = "PEM_ENCRYPTION_KEY"
_KEY_BYTES: Final = (16, 24, 32)
_KINDS: Final = frozenset({"null", "bytes", "bytearray", "msgpack"})


@dataclass(frozen=True, slots=True)
class SeparateText:
    """A text that a saver hands to the serialiser, because it would store a ``str`` unencrypted."""

    text: str


class StrictSerializer(SerializerProtocol):
    """LangGraph's serialiser, restricted to the kinds of values that this program writes.

    A class or function that is named in a stored value is neither imported nor called. Pickles and JSON with
    constructors are refused.
    """

    def __init__(self) -> None:
        # None: only the types that LangGraph lists as safe. Its default imports any class and warns.
        self._plain = JsonPlusSerializer(allowed_msgpack_modules=None)

    def dumps_typed(self, obj: object) -> tuple[str, bytes]:
        """Serialises a value to its kind and its bytes."""
        return self._plain.dumps_typed(obj.text if isinstance(obj, SeparateText) else obj)

    def loads_typed(self, data: tuple[str, bytes]) -> object:
        """Deserialises a value.

        Raises:
            StoreError: The value is encrypted, and there is no key.
            BrokenRunError: This program did not write the value.
        """
        kind = data[0]
        if "+" in str(kind):  # LangGraph adds the name of the cipher
            raise StoreError(f"the store is encrypted; give its key in {KEY_VARIABLE}")
        if kind not in _KINDS:
            raise BrokenRunError(
                f"the store holds a value of a kind that is not read ({format_repr(kind, 40)}); "
                "restore it, or delete the run"
            )
        try:
            return self._plain.loads_typed(data)
        except ormsgpack.MsgpackDecodeError as error:
            raise BrokenRunError(
                f"the store holds a value that is broken ({error}); restore it, or delete the run"
            ) from error


class AesSerializer(EncryptedSerializer):
    """LangGraph's encryption with AES: without the key, nobody can read or change a value."""

    def loads_typed(self, data: tuple[str, bytes]) -> object:
        """Decrypts and deserialises a value.

        Raises:
            StoreError: The key is another one, or the bytes were changed.
        """
        try:
            return super().loads_typed(data)
        except ValueError as error:
            raise StoreError(
                "the store cannot be decrypted: the key is another one, or what is stored was changed; "
                "give the key it was made with"
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
    if len(data) not in _KEY_BYTES:
        raise ConfigurationError(f"{name} has {len(data)} bytes; give 16, 24 or 32, or leave it unset")
    try:
        return AesSerializer.from_pycryptodome_aes(StrictSerializer(), key=data)
    except ImportError as error:
        raise ConfigurationError(
            f"{name} needs the package pycryptodome; install plan-execute-monitor[encryption]"
        ) from error
