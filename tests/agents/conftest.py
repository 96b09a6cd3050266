"""A server that answers as an OpenAI-compatible one would, from a script."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from langchain_openai import ChatOpenAI

from tests.fakes.protocol_server import ModelReply, encode, serve_protocol, write_body


@dataclass
class ChatServer:
    """The server's answers in order (the last one is repeated), and the requests that it received."""

    url: str = ""
    answers: list[bytes] = field(default_factory=list)
    requests: list[dict[str, object]] = field(default_factory=list)

    def will_say(self, content: str | None, finish_reason: str = "stop", **message: object) -> None:
        reply = ModelReply(content or "", reason=finish_reason, more=message)
        self.answers.append(encode(write_body("openai", reply)))

    def will_fail(self, status: int, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers.append(encode({"error": {"message": f"status {status}", "type": "x"}}, status, named))

    def will_refuse(self, message: str, status: int = 400) -> None:
        self.answers.append(encode({"error": {"message": message, "type": "invalid_request_error"}}, status))

    def will_send(self, body: bytes) -> None:
        self.answers.append(encode(body, headers={"Content-Type": "application/json"}))

    def model(self) -> ChatOpenAI:
        """A real client's chat model for this server, without retries of its own."""
        return ChatOpenAI(model="m", base_url=self.url, api_key="none", max_retries=0, timeout=30)


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    """A running server; a test tells it what to answer."""
    answers: list[bytes] = []
    with serve_protocol(lambda _: answers.pop(0) if len(answers) > 1 else answers[0]) as server:
        yield ChatServer(f"{server.url}/v1", answers, server.bodies)
