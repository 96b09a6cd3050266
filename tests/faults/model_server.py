"""An Ollama-protocol server on loopback that fails on command, and the line to it that can be cut."""

import json
import re
import socket
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any

import httpx

from tests.fakes.protocol_server import encode, serve_protocol

TEN_MEGABYTES = 10_000_000
_SO_LINGER_AT_ONCE = struct.pack("ii", 1, 0)


class Fault(Enum):
    REFUSED = "connection refused"
    RESET = "connection reset"
    HANGING = "no answer"
    BUSY = "429 with Retry-After"
    FAILING = "500"
    BROKEN_OFF = "connection closed in the middle of a stream"
    CUT_SHORT = "stream ended in its middle"
    ERROR_WITHIN = "error within a stream"
    HALF = "half a JSON document"
    NOTHING = "empty reply"
    PAGE = "page of another program"
    GARBLED = "bytes that are no UTF-8"
    HUGE = "10 MB"
    DAMAGED = "invalid UTF-8 within the text"
    MISLABELLED = "wrong content type"


HARMLESS = frozenset({Fault.HUGE, Fault.DAMAGED, Fault.MISLABELLED})
"""After these a reply can be read nevertheless."""


@dataclass
class Script:
    """What happens to the calls of one run.

    Attributes:
        troubles: For each answer in turn, what comes before it and how often.
        answer: The text of each answer, from what was asked.
        calls: How often it was called.
    """

    troubles: list[tuple[Fault, int] | None]
    answer: Callable[[Mapping[str, object]], str]
    calls: int = 0
    _met: int = 0
    _answers: int = 0

    @property
    def coming(self) -> Fault | None:
        trouble = self.troubles[self._answers] if self._answers < len(self.troubles) else None
        return trouble[0] if trouble is not None and self._met < trouble[1] else None

    def met(self) -> Fault | None:
        fault, self.calls = self.coming, self.calls + 1
        if fault is None or fault in HARMLESS:
            self._met, self._answers = 0, self._answers + 1
        else:
            self._met += 1
        return fault


class Line(httpx.AsyncBaseTransport):
    """The way to a server, at whose end nothing listens while its script says so: a real refusal."""

    def __init__(self, script: Script, closed_port: int) -> None:
        self._script, self._closed_port = script, closed_port
        kept = httpx.Limits(max_keepalive_connections=0)  # as the client that is replaced has it
        self._way = httpx.AsyncHTTPTransport(trust_env=False, verify=False, limits=kept)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self._script.coming is Fault.REFUSED:
            self._script.met()
            request.url = request.url.copy_with(port=self._closed_port)
        return await self._way.handle_async_request(request)


@contextmanager
def serve_models() -> Iterator[tuple[str, dict[str, Script]]]:
    scripts: dict[str, Script] = {}

    def answer(asked: dict[str, Any]) -> bytes | Callable[[socket.socket], object]:
        script = scripts[asked["model"]]
        return _reply(script.met(), script.answer(asked))

    with serve_protocol(answer) as server:
        yield server.url, scripts


@contextmanager
def closed_port() -> Iterator[int]:
    """A port at which nothing listens; nobody else gets it meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def _line(text: str, *, done: bool = False) -> bytes:
    line: dict[str, object] = {"model": "m", "message": {"role": "assistant", "content": text}, "done": done}
    if done:
        line |= {"done_reason": "stop", "prompt_eval_count": 7, "eval_count": 3}
    return json.dumps(line).encode() + b"\n"


def _damage(text: str) -> bytes:
    # Between two words, so that the JSON around them stays whole.
    return _line(re.sub(r"(?<=[a-z]) ", " @@", text, count=1)).replace(b"@@", b"\xc3\x28")


_PADDING = _line(" " * 100_000) * (TEN_MEGABYTES // 100_000)
_BODIES: Mapping[Fault | None, Callable[[str], bytes]] = {
    None: lambda text: _line(text[:3]) + _line(text[3:]) + _line("", done=True),
    Fault.MISLABELLED: lambda text: _line(text) + _line("", done=True),
    Fault.BUSY: lambda _: b'{"error": "too many requests"}',
    Fault.FAILING: lambda _: b'{"error": "the model crashed"}',
    Fault.BROKEN_OFF: _line,
    Fault.CUT_SHORT: _line,
    Fault.ERROR_WITHIN: lambda text: _line(text) + b'{"error": "the runner has ended unexpectedly"}\n',
    Fault.HALF: lambda text: _line(text)[:-12],
    Fault.NOTHING: lambda _: b"",
    Fault.PAGE: lambda _: b"<html>It works!</html>",
    Fault.GARBLED: lambda _: b"\xff\xfe\x00\x81\n" * 10,
    Fault.HUGE: lambda text: _line(text) + _PADDING + _line("", done=True),
    Fault.DAMAGED: lambda text: _damage(text) + _line("", done=True),
}
_STATUS = {Fault.BUSY: 429, Fault.FAILING: 500}
_TYPE = {Fault.PAGE: "text/html", Fault.MISLABELLED: "image/png"}


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _SO_LINGER_AT_ONCE)
    connection.close()


def _reply(fault: Fault | None, text: str) -> bytes | Callable[[socket.socket], object]:
    if fault is Fault.HANGING:
        return lambda connection: connection.recv(1)  # until whoever called has left
    if fault is Fault.RESET:
        return _reset
    headers = {"Content-Type": _TYPE.get(fault, "application/x-ndjson")}
    if fault is Fault.BUSY:
        headers["Retry-After"] = "1"
    sent = encode([_BODIES[fault](text)], _STATUS.get(fault, 200), headers)
    return sent.removesuffix(b"0\r\n\r\n") if fault is Fault.BROKEN_OFF else sent
