"""A real OpenAI-compatible endpoint on loopback that answers as a test tells it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PLAN, STEP, VERDICT = "plan", "step", "verdict"
COMMIT, ASSESS, SUPERVISE = "commitment", "assessment", "supervision"

Answer = str | Callable[[], str]


@dataclass
class ChatServer:
    """Answers by what it is asked for; the last answer of a kind stays.

    Attributes:
        answers: Texts, or functions to a text (which may wait), by kind.
        asked: The kinds of the questions so far.
        models: The models that were asked for.
        ending: Set when the test is over, for answers that wait.
    """

    answers: dict[str, list[Answer]]
    url: str = ""
    usage: bool = True
    asked: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    ending: threading.Event = field(default_factory=threading.Event)

    def answer(self, body: dict[str, object]) -> str:
        kind = _kind(body)
        self.asked.append(kind)
        self.models.append(str(body["model"]))
        given = self.answers[kind]
        answer = given.pop(0) if len(given) > 1 else given[0]
        return answer() if callable(answer) else answer

    @property
    def environment(self) -> dict[str, str]:
        return {"OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_API_KEY": "loopback", "NO_PROXY": "127.0.0.1"}


def plan(*steps: str) -> str:
    return json.dumps({"plan": steps})


def verdict(success: bool, feedback: str) -> str:
    return json.dumps({"feedback": feedback, "success": success})


COMMITMENT = json.dumps(
    {
        "interpretation": "what is asked for",
        "scope_in": [],
        "scope_out": [],
        "approach": "write it",
        "predicted_output": "a text",
        "confidence": "high",
        "assumptions": [],
    }
)


def assessment(met: bool = True, *concerns: str) -> str:
    return json.dumps({"met": met, "deviations": [], "concerns": concerns, "unexpected": []})


def supervision(word: str, text: str) -> str:
    return json.dumps({"verdict": word, "text": text})


def answers(
    plans: list[Answer] | None = None,
    steps: list[Answer] | None = None,
    verdicts: list[Answer] | None = None,
    assessments: list[Answer] | None = None,
    supervisions: list[Answer] | None = None,
) -> dict[str, list[Answer]]:
    script = {
        COMMIT: [COMMITMENT],
        ASSESS: assessments or [assessment()],
        SUPERVISE: supervisions or [supervision("halt", "nothing was scripted")],
        PLAN: plans or [plan("the only step")],
        STEP: steps or ["the result"],
        VERDICT: verdicts or [verdict(True, "it is good")],
    }
    return {kind: list(given) for kind, given in script.items()}  # the server takes them away


@contextmanager
def serving(script: dict[str, list[Answer]], *, usage: bool = True) -> Iterator[ChatServer]:
    chat = ChatServer(script, usage=usage)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(chat))
    chat.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield chat
    finally:
        chat.ending.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _kind(body: dict[str, object]) -> str:
    wanted = body.get("response_format")
    if not isinstance(wanted, dict):
        return STEP
    schema = wanted["json_schema"]
    if "text" in schema["schema"].get("properties", {}):
        return SUPERVISE
    name = str(schema["name"])
    return name if name in (PLAN, COMMIT, ASSESS) else VERDICT


def _completion(body: dict[str, object], text: str, *, usage: bool) -> bytes:
    reply: dict[str, object] = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": _message(text)}],
    }
    if usage:
        reply["usage"] = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return json.dumps(reply).encode()


def call(name: str, **args: object) -> str:
    """A reply that calls a tool."""
    return json.dumps({"call": {"name": name, "arguments": json.dumps(args)}})


def _message(text: str) -> dict[str, object]:
    if not text.startswith('{"call": '):
        return {"role": "assistant", "content": text}
    calls = [{"id": "1", "type": "function", "function": json.loads(text)["call"]}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _stream(body: dict[str, object], text: str) -> bytes:
    """The same reply as server-sent events, one for each word."""
    words = [f" {word}" if index else word for index, word in enumerate(text.split(" "))]
    deltas = [{"role": "assistant", "content": ""}, *({"content": word} for word in words)]
    choices = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    choices.append([{"index": 0, "delta": {}, "finish_reason": "stop"}])
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    options = body.get("stream_options")
    asked = isinstance(options, dict) and options.get("include_usage")
    chunks = [{"choices": choice} for choice in choices] + (
        [{"choices": [], "usage": usage}] if asked else []
    )
    common = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    events = [f"data: {json.dumps({**common, **chunk})}\n\n" for chunk in chunks]
    return "".join([*events, "data: [DONE]\n\n"]).encode()


def _handler(chat: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            text, streamed = chat.answer(body), body.get("stream") is True
            reply = _stream(body, text) if streamed else _completion(body, text, usage=chat.usage)
            try:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)
            except ConnectionError:  # whoever asked was interrupted
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    return Handler
