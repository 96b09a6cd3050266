"""Masks keys in messages: servers repeat the key that they refuse."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from langchain_core.runnables import RunnableBinding
from pydantic import SecretStr

_MASK: Final = "***"
_KEY: Final = re.compile(r"(?i)\bbearer\s+[^\s\"',}]+|\b(?:sk|pk|gsk|xai|hf|key)[-_][a-z0-9_-]{8,}")
# A placeholder such as "x" is no secret, and masking it would make the text unreadable.
_SHORTEST: Final = 4


def mask_keys(text: str, secrets: Iterable[str] = ()) -> str:
    """Masks ``secrets`` and everything that looks like a key."""
    for secret in secrets:
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, _MASK)
    return _KEY.sub(_MASK, text)


def read_secrets(model: object) -> list[str]:
    """Reads the secret settings of a model, also of one with tools bound."""
    while isinstance(model, RunnableBinding):
        model = model.bound
    values = getattr(model, "__dict__", {}).values()
    return [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
