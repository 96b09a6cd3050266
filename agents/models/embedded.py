"""llama.cpp on this machine, behind an OpenAI-compatible endpoint on loopback that only this process knows.

One server per weights file and process, whichever number of models is loaded: the weights are in memory
once. It starts with the first model, and ends with this process, however that ends.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agents.errors import ModelSetupError, ModelSpecError
from agents.models.construction import build_chat_model
from agents.models.llama_process import Settings
from agents.models.weights import Weights, locate_weights

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

DEFAULT_N_CTX: Final = 8192
DEFAULT_MAX_TOKENS: Final = 512
DEFAULT_TIMEOUT_S: Final = 120.0
_SMALL_MODEL: Final[Mapping[str, object]] = {"max_tokens": 256, "frequency_penalty": 0.3}
"""For the default weights, which fall into repeating themselves otherwise."""
_SEED: Final = 20250101
_PROGRAM: Final = Path(__file__).with_name("llama_process.py")
_STOP_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an embedded server listens.

    Attributes:
        base_url: Of the OpenAI-compatible endpoint, ``/v1`` included; always on loopback.
        api_key: The key that it asks for, drawn anew in every process.
        model: The weights file's name without its suffix.
        n_ctx: Tokens that a prompt and its reply may have together.
    """

    base_url: str
    api_key: str = field(repr=False)
    model: str
    n_ctx: int


@dataclass(frozen=True, slots=True)
class _Running:
    process: subprocess.Popen[str]
    endpoint: Endpoint


# By process, too: a forked child inherits this, but must neither end nor outlive its parent's servers.
_running: dict[tuple[int, Path], _Running] = {}
_lock = threading.Lock()


def embedded_endpoint(weights: Weights | None = None, n_ctx: int | None = None) -> Endpoint:
    """The endpoint of the server for these weights, started if it is not running yet.

    Blocks while the weights are loaded, about a second for the default ones.

    Args:
        weights: The file to serve; None stands for the default weights.
        n_ctx: The context's size in tokens, at least 1; None stands for 8192, or for what is running.

    Raises:
        ModelSetupError: The runtime is not installed, the file cannot be loaded, or it is being served
            with another ``n_ctx``.
        ModelSpecError: ``n_ctx`` is not a whole number of at least 1.
    """
    _checked_n_ctx(n_ctx)
    require_runtime()
    found = weights or locate_weights()
    with _lock:
        key = (os.getpid(), found.path)
        running = _running.get(key)
        if running is None or running.process.poll() is not None:
            running = _running[key] = _start(found, n_ctx or DEFAULT_N_CTX)
    endpoint = running.endpoint
    if n_ctx not in (None, endpoint.n_ctx):
        raise ModelSetupError(
            f"n_ctx is {n_ctx}, but {endpoint.model} is already served with n_ctx {endpoint.n_ctx} in this "
            "process; give the same n_ctx to every load_model of one weights file"
        )
    return endpoint


def build_embedded(weights: Weights | None, options: Mapping[str, object]) -> ChatOpenAI:
    """A chat model over the embedded server.

    Args:
        weights: The file to serve; None stands for the default weights.
        options: ``n_ctx`` (tokens, default 8192) and settings of ``ChatOpenAI``; by default temperature 0,
            a fixed seed, at most 512 tokens a reply (256 and a penalty on repetition for the default
            weights), a timeout of 120 s, and no retries.

    Raises:
        ModelSetupError: The weights or the runtime are missing, or the file cannot be loaded.
        ModelSpecError: An option that is not accepted.
    """
    from langchain_openai import ChatOpenAI  # noqa: PLC0415 - heavy; only for who uses it
    from openai import DefaultAsyncHttpxClient, DefaultHttpxClient  # noqa: PLC0415

    settings = dict(options)
    endpoint = embedded_endpoint(weights, _checked_n_ctx(settings.pop("n_ctx", None)))
    return build_chat_model(
        ChatOpenAI,
        fixed={
            "model": endpoint.model,
            "base_url": endpoint.base_url,
            "api_key": endpoint.api_key,
            # A proxy in the environment is for the outside world; this server is inside.
            "openai_proxy": None,
            "http_client": DefaultHttpxClient(trust_env=False),
            "http_async_client": DefaultAsyncHttpxClient(trust_env=False),
            # A kept connection belongs to its event loop: the next asyncio.run would find it closed.
            "default_headers": {"Connection": "close"},
        },
        defaults={
            "temperature": 0.0,
            "seed": _SEED,
            **(_SMALL_MODEL if weights is None else {"max_tokens": DEFAULT_MAX_TOKENS}),
            "timeout": DEFAULT_TIMEOUT_S,
            "max_retries": 0,
            # Off by itself for any endpoint but OpenAI's own.
            "stream_usage": True,
        },
        options=settings,
    )


def close_servers(weights: Weights | None = None) -> None:
    """End the embedded server for these weights, or every one of this process.

    Models that were loaded from them stop working; the next ``load_model`` starts a server again.
    """
    with _lock:
        for owner, path in list(_running):
            if owner == os.getpid() and (weights is None or weights.path == path):
                _stop(_running.pop((owner, path)).process)


def _checked_n_ctx(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    raise ModelSpecError(f"option 'n_ctx' is {value!r}; give a whole number of tokens of at least 1")


def require_runtime(package: str = "xllamacpp") -> None:
    """Make sure that llama.cpp's package is installed, without importing it.

    Raises:
        ModelSetupError: It is not.
    """
    if importlib.util.find_spec(package) is None:
        raise ModelSetupError(
            f"the local model needs the package {package}; "
            'run `pip install "plan-execute-monitor[local]"`, or `uv sync` in a clone'
        )


def _start(weights: Weights, n_ctx: int) -> _Running:
    settings: Settings = {
        "path": str(weights.path),
        "alias": weights.path.stem,
        "n_ctx": n_ctx,
        "n_threads": _threads(),
        "api_key": secrets.token_urlsafe(32),
    }
    process = _spawn()
    try:
        address = _listening(process, settings)
    except BaseException:  # a signal while it loads: nobody else knows of the process yet
        _stop(process)
        raise
    if not address:
        _stop(process)
        raise ModelSetupError(
            f"llama.cpp cannot load {settings['path']!r} with n_ctx {n_ctx}; the file is damaged or of an "
            "unknown architecture, or there is too little memory: get the file again, or give a smaller one"
        )
    _install_hooks()
    endpoint = Endpoint(f"{address}/v1", settings["api_key"], settings["alias"], n_ctx)
    return _Running(process, endpoint)


def _threads() -> int:
    """Half of the cores: llama.cpp's threads wait for each other in a busy loop.

    With a thread on every core, one other busy process slows two cores from 100 tokens/s to under 10.
    """
    return max(1, (os.cpu_count() or 1) // 2)


def _spawn() -> subprocess.Popen[str]:
    # -P keeps this folder, whose modules are named like the libraries they adapt, off the import path.
    return subprocess.Popen(  # noqa: S603 - our own file, by this interpreter
        [sys.executable, "-P", str(_PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )


def _listening(process: subprocess.Popen[str], settings: Settings) -> str:
    """Hand over the settings and wait for the address; empty where the process ends instead."""
    if process.stdin is None or process.stdout is None:
        return ""
    try:
        process.stdin.write(f"{json.dumps(settings)}\n")
        process.stdin.flush()
    except BrokenPipeError:
        return ""
    return process.stdout.readline().strip()


def _stop(process: subprocess.Popen[str]) -> None:
    process.kill()  # it holds nothing that needs to be saved, and may be in the middle of a reply
    process.communicate(timeout=_STOP_S)


def _install_hooks() -> None:
    global _hooked  # noqa: PLW0603 - the interpreter's hooks are process-wide and cannot be looked up
    if not _hooked:
        _hooked = True
        atexit.register(close_servers)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_renew_lock)


_hooked = False


def _renew_lock() -> None:
    global _lock  # noqa: PLW0603 - in a forked child, a thread that stayed with the parent may hold it
    _lock = threading.Lock()
