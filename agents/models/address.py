"""What a message may say about a model: the address of its server, without passwords and keys."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import httpx
from langchain_core.runnables import RunnableBinding
from pydantic import SecretStr

from agents.models.ollama import server_address

_FIELDS: Final = ("openai_api_base", "azure_endpoint", "anthropic_api_url", "endpoint_url", "base_url")
_KEY: Final = re.compile(r"(?i)\bbearer\s+[^\s\"',}]+|\b(?:sk|pk|gsk|xai|hf|key)[-_][a-z0-9_-]{8,}")
# A placeholder such as "x" is no secret, and masking it would make the text unreadable.
_SHORTEST: Final = 4


def find_address(llm: object) -> str | None:
    """Returns the address in the settings of a model, or None if its class knows it alone.

    It may contain a password.
    """
    addresses = (getattr(llm, name, None) for name in _FIELDS)
    return server_address(llm) or next((str(address) for address in addresses if address), None)


def hide_credentials(address: str) -> str:
    """Drops the user and the password of a URL, and its query, which may have a key."""
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL:
        return "invalid-endpoint"
    return f"{url.scheme}://{url.netloc.decode('ascii')}{url.path.rstrip('/')}"


def mask_keys(text: str, secrets: Iterable[str] = ()) -> str:
    """Masks ``secrets`` and everything that looks like a key: servers repeat the key that they refuse."""
    for secret in secrets:
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, "***")
    return _KEY.sub("***", text)


def read_secrets(model: object) -> list[str]:
    """Reads the secret settings of a model, also of one with tools bound."""
    while isinstance(model, RunnableBinding):
        model = model.bound
    values = getattr(model, "__dict__", {}).values()
    return [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
