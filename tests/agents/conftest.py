"""A tiny HTTP server on loopback that answers as an OpenAI-compatible one would, from a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from langchain_openai import ChatOpenAI

Answer = tuple[int, dict[str, str], dict[str, object] | bytes]


@dataclass
class ChatServer:
    """The server's answers in order (the last one is repeated), and the requests that it received."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    requests: list[dict[str, object]] = field(default_factory=list)

    def will_say(self, content: str | None, finish_reason: str = "stop", **message: object) -> None:
        """Add a reply of the model."""
        choice = {
            "index": 0,
            "finish_reason": finish_reason,
            "message": {"role": "assistant", "content": content, **message},
        }
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "usage": usage}
        self.answers.append((200, {}, {**body, "choices": [choice]}))

    def will_fail(self, status: int, **headers: str) -> None:
        """Add an error with this HTTP status."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers.append((status, named, {"error": {"message": f"status {status}", "type": "x"}}))

    def will_refuse(self, message: str, status: int = 400) -> None:
        """Add an error that says this."""
        self.answers.append((status, {}, {"error": {"message": message, "type": "invalid_request_error"}}))

    def will_send(self, body: bytes) -> None:
        """Add these bytes, as if they were a reply."""
        self.answers.append((200, {}, body))

    def model(self) -> ChatOpenAI:
        """A real client's chat model for this server, without retries of its own."""
        return ChatOpenAI(model="m", base_url=self.url, api_key="none", max_retries=0, timeout=30)


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    """A running server; a test tells it what to answer."""
    script = ChatServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            script.requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            status, headers, body = script.answers.pop(0) if len(script.answers) > 1 else script.answers[0]
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {**headers, "content-type": "application/json"}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
