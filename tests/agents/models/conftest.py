"""A real HTTP server on loopback that answers as told and keeps what it was sent."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Loopback:
    url: str
    bodies: list[dict[str, object]]
    headers: list[dict[str, str]]
    paths: list[str]


def serve(answer: Callable[[dict[str, object]], Reply]) -> tuple[ThreadingHTTPServer, Loopback]:
    bodies: list[dict[str, object]] = []
    headers: list[dict[str, str]] = []
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            paths.append(self.path)
            headers.append({name.lower(): value for name, value in self.headers.items()})
            if length := int(self.headers.get("content-length", 0)):
                bodies.append(json.loads(self.rfile.read(length)))
            reply = answer(bodies[-1] if bodies else {})
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)

        do_GET = do_HEAD = do_POST = handle_any  # noqa: N815 - the names that the base class looks up

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    return server, Loopback(f"http://127.0.0.1:{server.server_port}", bodies, headers, paths)


@pytest.fixture
def loopback() -> Iterator[Callable[..., Loopback]]:
    """Start servers: `loopback(status, body, headers)`, or `loopback(answer=function)` of a request."""
    servers: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def start(
        status: int = 200,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
        answer: Callable[[dict[str, object]], Reply] | None = None,
    ) -> Loopback:
        server, seen = serve(answer or (lambda _: Reply(status, body, headers or {})))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        servers.append((server, thread))
        return seen

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def closed_url() -> str:
    """An address at which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def chat_reply() -> Callable[..., bytes]:
    """The stream of an Ollama server for a short answer."""

    def build(prompt_tokens: int | None = 7) -> bytes:
        last: dict[str, object] = {
            "model": "m",
            "message": {"role": "assistant", "content": ""},
            "done": True,
        }
        last |= {"done_reason": "stop", "eval_count": 1}
        if prompt_tokens is not None:
            last["prompt_eval_count"] = prompt_tokens
        first = {"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": False}
        return b"".join(json.dumps(line).encode() + b"\n" for line in (first, last))

    return build
