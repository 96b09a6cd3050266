"""A real HTTP server on loopback that answers as told and keeps what it was sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


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


def ollama_reply(text: str = "Hi", **counts: object) -> Reply:
    """The stream of an Ollama server: a text, then the counts, such as ``prompt_eval_count``."""
    first = {"model": "m", "message": {"role": "assistant", "content": text}, "done": False}
    end = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    lines = (first, {**end, "eval_count": 1, **counts})
    return Reply(body=b"".join(json.dumps(line).encode() + b"\n" for line in lines))
