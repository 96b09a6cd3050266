"""Names a chat model, so that figures measured with one model are never used for another.

No name and no message has a password or a key.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final

import httpx2
from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from agents.models.chat_options import unbind_model
from agents.models.embedded import find_served_weights
from agents.models.ollama import server_address
from agents.parsing.loose_json import replace_surrogates

_FIELDS: Final = ("openai_api_base", "azure_endpoint", "anthropic_api_url", "endpoint_url", "base_url")
_NAMES: Final = ("model_name", "model")
_SETTINGS: Final = (
    "temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty", "reasoning_effort", "reasoning",
)  # fmt: skip
_SECRET_NAMES: Final = re.compile(r"key|token|auth|secret|passw|cookie|credential|signature", re.IGNORECASE)


def identify_model(llm: object) -> str | None:
    """Names a model by its class, name, endpoint without credentials, and settings that change its answers.

    Weights that this process serves are named by their SHA-256 instead of an endpoint, because a file name
    says nothing of the content. A hosted model may change behind its name.

    Returns:
        The name. None if ``llm`` is no chat model or has no name of its own.
    """
    name = find_name(llm)
    if name is None or not isinstance(llm, BaseChatModel):
        return None
    kind = f"{type(llm).__module__}.{type(llm).__qualname__}"
    return replace_surrogates(" ".join([kind, name, describe_origin(llm), *_list_settings(llm)]))


def identify_judge(judge: object, llm: object, form: str) -> str | None:
    """Names a judge by its class, a digest of its instructions, and its model.

    Args:
        judge: The judge.
        llm: Its model.
        form: Everything else that its verdicts depend on.

    Returns:
        The name. None if the model cannot be identified.
    """
    model = identify_model(llm)
    if model is None:
        return None
    digest = hashlib.sha256(form.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{type(judge).__module__}.{type(judge).__qualname__} {digest} {model}"


def describe_origin(llm: BaseChatModel) -> str:
    """Returns the SHA-256 of the weights that this process serves, else the endpoint without credentials."""
    address = find_address(llm)
    weights = None if address is None else find_served_weights(address)
    if weights is not None:
        status = weights.stat()
        return f"sha256:{_hash_file(weights, status.st_size, status.st_mtime_ns)}"
    return "default-endpoint" if address is None else hide_credentials(address)


def _list_settings(llm: BaseChatModel) -> list[str]:
    values = {name: getattr(llm, name, None) for name in _SETTINGS}
    return [
        f"{name}={value}" for name, value in values.items() if isinstance(value, bool | int | float | str)
    ]


@lru_cache(maxsize=8)
def _hash_file(path: Path, size: int, modified_ns: int) -> str:  # noqa: ARG001 - a changed file is read again
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_name(llm: object) -> str | None:
    """Returns the name in the settings of a model; None if it has none."""
    names = (getattr(llm, name, None) for name in _NAMES)
    return next((name for name in names if isinstance(name, str) and name), None)


def name_called(model: object) -> str:
    """Returns the name under which a call of a model is recorded."""
    own = unbind_model(model)
    return find_name(own) or type(own).__name__


def find_address(llm: object) -> str | None:
    """Returns the address in the settings of a model, or None if its class knows it alone.

    It may contain a password.
    """
    addresses = (getattr(llm, name, None) for name in _FIELDS)
    return server_address(llm) or next((str(address) for address in addresses if address), None)


def hide_credentials(address: str) -> str:
    """Drops the user and the password of a URL, and its query, which may have a key."""
    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL:
        return "invalid-endpoint"
    return f"{url.scheme}://{url.netloc.decode('ascii')}{url.path.rstrip('/')}"


def read_secrets(model: object) -> list[str]:
    """Reads the secrets in the settings of a model, also of one with tools bound.

    They are its secret fields, the password of its address, and what stands in its headers, or in any other
    mapping, under the name of a key.
    """
    settings = getattr(unbind_model(model), "__dict__", {})
    addresses = [settings[name] for name in _FIELDS if settings.get(name)]
    secrets = [*_iter_secrets(settings, is_named=False), *chain(*map(_read_password, addresses))]
    # The longest first: one may be the beginning of another.
    return sorted(secrets, key=len, reverse=True)


def _iter_secrets(value: object, *, is_named: bool) -> Iterator[str]:
    if isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _iter_secrets(inner, is_named=_SECRET_NAMES.search(str(name)) is not None)
    elif is_named and isinstance(value, str):
        # Without the scheme: a server may repeat the token of "Bearer TOKEN" alone.
        yield from (value, value.rpartition(" ")[2])


def _read_password(address: object) -> Iterator[str]:
    try:
        url = httpx2.URL(str(address))
    except httpx2.InvalidURL:
        return
    yield from (url.password, url.userinfo.decode("ascii").partition(":")[2])
    yield from _iter_secrets(dict(url.params), is_named=False)
