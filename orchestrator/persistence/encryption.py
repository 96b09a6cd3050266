"""Encrypts stored values. Needs the extra [encryption]."""

from __future__ import annotations

import os
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from orchestrator.errors import StoreError

_CIPHER: Final = "aesgcm"
_NONCE_BYTES: Final = 12


class AesGcm:
    """AES in Galois/Counter Mode (NIST SP 800-38D): without the key, nobody can read or change a value."""

    def __init__(self, key: bytes) -> None:
        """Takes a key of 16, 24 or 32 bytes."""
        self._aes = AESGCM(key)

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """Encrypts bytes. Returns the cipher's name, and a new nonce with the ciphertext and its tag."""
        nonce = os.urandom(_NONCE_BYTES)
        return _CIPHER, nonce + self._aes.encrypt(nonce, plaintext, None)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:  # noqa: ARG002 - LangGraph's
        """Decrypts bytes. Bytes of another cipher have no valid tag.

        Raises:
            StoreError: The key is another one, or the bytes were changed.
        """
        try:
            return self._aes.decrypt(ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:], None)
        except (InvalidTag, ValueError) as error:  # ValueError: too short for a nonce
            raise StoreError(
                "the store cannot be decrypted: the key is another one, or what is stored was changed; "
                "give the key it was made with"
            ) from error
