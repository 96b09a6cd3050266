"""A server on loopback for OpenAI's, Ollama's and Anthropic's protocols, byte by byte as a test wants it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel

from agents import load_model

Protocol = Literal["openai", "ollama", "anthropic"]
PROTOCOLS: tuple[Protocol, ...] = ("openai", "ollama", "anthropic")
Answer = Callable[[dict[str, Any]], bytes | Callable[[socket.socket], object]]
PIECE = 16
"""Number of characters in each piece of a streamed text."""


@dataclass(frozen=True)
class ModelReply:
    """A reply of a model.

    Attributes:
        text: The text.
        calls: Names and arguments of the calls; arguments as a text are sent as they are.
        reason: Why the reply ended, in OpenAI's words: stop, length or tool_calls; None for a stream without.
        usage: Tokens of the prompt and of the reply.
        usage_in_each: Whether each piece of a stream has the usage.
        more: Further fields of OpenAI's message, such as ``reasoning_content``.
        model: The name of OpenAI's model.
    """

    text: str = ""
    calls: Sequence[tuple[str | None, object]] = ()
    reason: str | None = "stop"
    usage: tuple[int, int] = (11, 7)
    usage_in_each: bool = False
    more: Mapping[str, object] = field(default_factory=dict)
    model: str = "m"


@dataclass
class ProtocolServer:
    """Sends ``answer(body)`` for each request, or hands the connection to it, and keeps the requests.

    Attributes:
        url: The address.
        bodies: The JSON of the requests that have a body.
        paths: The paths of the requests.
        headers: The headers of the requests, by their names in small letters.
    """

    answer: Answer
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def model(self, protocol: Protocol, *, streaming: bool = False, **options: object) -> BaseChatModel:
        """A model at this address; the client of Ollama always streams."""
        base = f"{self.url}/v1" if protocol == "openai" else self.url
        own = {} if protocol == "ollama" else {"api_key": "none", "streaming": streaming}
        return load_model(f"{protocol}:m", base_url=base, **{**own, **options})


@contextmanager
def serve_protocol(answer: Answer) -> Iterator[ProtocolServer]:
    """Serves until the end of the block, each connection in a thread of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = ProtocolServer(answer, f"http://127.0.0.1:{listener.getsockname()[1]}")
    thread = threading.Thread(target=_accept, args=(listener, server), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


@contextmanager
def serve_model(
    *answers: ModelReply | bytes | Callable[[socket.socket], object],
    protocol: Protocol = "openai",
    streaming: bool = False,
    **options: object,
) -> Iterator[tuple[BaseChatModel, ProtocolServer]]:
    """Serve these answers to a model with these options, one after another, the last one again and again."""
    left = [
        write_reply(protocol, answer, streaming=streaming) if isinstance(answer, ModelReply) else answer
        for answer in answers
    ]
    with serve_protocol(lambda _: left.pop(0) if len(left) > 1 else left[0]) as server:
        yield server.model(protocol, streaming=streaming, **options), server


def _accept(listener: socket.socket, server: ProtocolServer) -> None:
    while True:
        try:
            connection = listener.accept()[0]
        except OSError:
            return
        threading.Thread(target=_handle, args=(connection, server), daemon=True).start()


def _handle(connection: socket.socket, server: ProtocolServer) -> None:
    # A client that was interrupted has left.
    with suppress(OSError), connection, connection.makefile("rb") as file:
        method, path, *_ = (file.readline().decode() or "- -").split()
        lines = [line.decode().strip() for line in iter(file.readline, b"\r\n") if line]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if method == "-":
            return
        content = file.read(int(headers.get("content-length", 0)))
        body = json.loads(content or "{}")
        server.paths.append(path)
        server.headers.append(headers)
        if content:
            server.bodies.append(body)
        answer = server.answer(body)
        if not isinstance(answer, bytes):
            answer(connection)
            return
        connection.sendall(answer.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if method == "HEAD" else answer)
        connection.shutdown(socket.SHUT_WR)


def encode(
    body: bytes | Sequence[bytes] | object, status: int = 200, headers: Mapping[str, str] | None = None
) -> bytes:
    """Writes an answer: a sequence of bytes in HTTP chunks, bytes as they are until the end, else JSON."""
    if isinstance(body, bytes):
        return _head(status, {"Content-Type": "text/plain", **(headers or {})}) + body
    if isinstance(body, list) and body and isinstance(body[0], bytes):
        kind = "text/event-stream" if body[0][:1] != b"{" else "application/x-ndjson"
        chunks = [b"%x\r\n%s\r\n" % (len(part), part) for part in (*body, b"")]
        named = {"Content-Type": kind, "Transfer-Encoding": "chunked", **(headers or {})}
        return _head(status, named) + b"".join(chunks)
    data = json.dumps(body).encode()
    named = {"Content-Type": "application/json", "Content-Length": str(len(data)), **(headers or {})}
    return _head(status, named) + data


def refuse(message: str, status: int = 400) -> bytes:
    return encode({"error": {"message": message, "type": "invalid_request_error"}}, status)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    named = {"Connection": "close", **headers}
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in named.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def write_reply(protocol: Protocol, reply: ModelReply, *, streaming: bool) -> bytes:
    return encode((write_stream if streaming or protocol == "ollama" else write_body)(protocol, reply))


def write_stream(protocol: Protocol, reply: ModelReply) -> list[bytes]:
    """Writes the events or lines of a streamed reply, one for each piece."""
    return _WRITERS[protocol](reply)


def write_body(protocol: Protocol, reply: ModelReply) -> dict[str, object]:
    if protocol == "anthropic":
        return {**_anthropic_message(reply), "content": _anthropic_blocks(reply), **_anthropic_end(reply)}
    message = {"role": "assistant", "content": reply.text or None, **reply.more}
    if reply.calls:
        message["tool_calls"] = [_openai_call(at, call) for at, call in enumerate(reply.calls)]
    choice = {"index": 0, "message": message, "finish_reason": reply.reason}
    common = {"id": "x", "object": "chat.completion", "created": 1, "model": reply.model}
    return {**common, "usage": _openai_usage(reply), "choices": [choice]}


def ollama_reply(text: str = "Hi", **counts: object) -> bytes:
    """Encodes the stream of an Ollama server: a text, then the counts, such as ``prompt_eval_count``."""
    first = {"model": "m", "message": {"role": "assistant", "content": text}, "done": False}
    end = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    return encode([json.dumps(line).encode() + b"\n" for line in (first, {**end, "eval_count": 1, **counts})])


def split(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def _text_of(args: object) -> str:
    return args if isinstance(args, str) else json.dumps(args)


def _openai_usage(reply: ModelReply) -> dict[str, int]:
    sent, received = reply.usage
    return {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}


def _openai_call(at: int, call: tuple[str | None, object]) -> dict[str, object]:
    return {"id": f"c{at}", "type": "function", "function": {"name": call[0], "arguments": _text_of(call[1])}}


def _openai_stream(reply: ModelReply) -> list[bytes]:
    deltas: list[dict[str, object]] = [{"role": "assistant", "content": "", **reply.more}]
    deltas += [{"content": piece} for piece in split(reply.text)]
    for at, call in enumerate(reply.calls):
        whole = _openai_call(at, call)
        first = {**whole, "index": at, "function": {"name": call[0], "arguments": ""}}
        pieces = [{"index": at, "function": {"arguments": piece}} for piece in split(_text_of(call[1]))]
        deltas += [{"tool_calls": [part]} for part in (first, *pieces)]
    choices = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    if reply.reason is not None:
        choices.append([{"index": 0, "delta": {}, "finish_reason": reply.reason}])
    common = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": reply.model}
    usage = {"usage": _openai_usage(reply)}
    each = {**common, **(usage if reply.usage_in_each else {})}
    events: list[dict[str, object]] = [{**each, "choices": choice} for choice in choices]
    if reply.reason is not None:
        events.append({**common, **usage, "choices": []})
    done = [b"data: [DONE]\n\n"] if reply.reason is not None else []
    return [*(f"data: {json.dumps(event)}\n\n".encode() for event in events), *done]


def _ollama_stream(reply: ModelReply) -> list[bytes]:
    messages: list[dict[str, object]] = [{"content": piece} for piece in split(reply.text)]
    messages += [
        {"content": "", "tool_calls": [{"function": {"name": name, "arguments": args}}]}
        for name, args in reply.calls
    ]
    common = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}
    lines = [{**common, "message": {"role": "assistant", **message}, "done": False} for message in messages]
    sent, received = reply.usage
    reason = "stop" if reply.reason == "tool_calls" else reply.reason
    end = {**common, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": reason,
           "prompt_eval_count": sent, "eval_count": received}  # fmt: skip
    sent_lines = [*lines, end] if reply.reason is not None else lines
    return [json.dumps(line).encode() + b"\n" for line in sent_lines]


def _anthropic_message(reply: ModelReply) -> dict[str, object]:
    usage = {"input_tokens": reply.usage[0], "output_tokens": 1}
    ends = {"stop_reason": None, "stop_sequence": None, "usage": usage}
    return {"id": "x", "type": "message", "role": "assistant", "model": "m", "content": [], **ends}


def _anthropic_end(reply: ModelReply) -> dict[str, object]:
    reasons = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}
    usage = {"input_tokens": reply.usage[0], "output_tokens": reply.usage[1]}
    return {"stop_reason": reasons.get(str(reply.reason), reply.reason), "usage": usage}


def _anthropic_blocks(reply: ModelReply) -> list[dict[str, object]]:
    texts = [{"type": "text", "text": reply.text}] if reply.text else []
    calls = [
        {"type": "tool_use", "id": f"c{at}", "name": name, "input": args}
        for at, (name, args) in enumerate(reply.calls)
    ]
    return [*texts, *calls]


def _anthropic_stream(reply: ModelReply) -> list[bytes]:
    events: list[dict[str, object]] = [{"type": "message_start", "message": _anthropic_message(reply)}]
    for at, block in enumerate(_anthropic_blocks(reply)):
        is_text = block["type"] == "text"
        begun = {"type": "text", "text": ""} if is_text else {**block, "input": {}}
        written = str(block["text"]) if is_text else _text_of(block["input"])
        kind, name = ("text_delta", "text") if is_text else ("input_json_delta", "partial_json")
        events.append({"type": "content_block_start", "index": at, "content_block": begun})
        events += [
            {"type": "content_block_delta", "index": at, "delta": {"type": kind, name: piece}}
            for piece in split(written)
        ]
        events.append({"type": "content_block_stop", "index": at})
    if reply.reason is not None:
        end = _anthropic_end(reply)
        delta = {"stop_reason": end["stop_reason"], "stop_sequence": None}
        events += [{"type": "message_delta", "delta": delta, "usage": end["usage"]}, {"type": "message_stop"}]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def write_error_event(protocol: Protocol, message: str, code: object = None) -> bytes:
    if protocol == "ollama":
        return json.dumps({"error": message}).encode() + b"\n"
    event = {"type": "error", "error": {"type": code or "overloaded_error", "message": message, "code": code}}
    return (b"" if protocol == "openai" else b"event: error\n") + f"data: {json.dumps(event)}\n\n".encode()


_WRITERS: Mapping[Protocol, Callable[[ModelReply], list[bytes]]] = {
    "openai": _openai_stream,
    "ollama": _ollama_stream,
    "anthropic": _anthropic_stream,
}
