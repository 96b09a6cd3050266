"""Reads the address of a chat model's server, for messages and for the name of the model."""

from __future__ import annotations

from typing import Final

import httpx

from agents.models.ollama import server_address

_FIELDS: Final = ("openai_api_base", "azure_endpoint", "anthropic_api_url", "endpoint_url", "base_url")


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
