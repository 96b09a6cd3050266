"""A real OpenAI-compatible endpoint on loopback that answers as a test tells it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.fakes.protocol_server import ModelReply, encode, serve_protocol, write_body, write_stream

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
    """

    answers: dict[str, list[Answer]]
    url: str = ""
    asked: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)

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
def serving(script: dict[str, list[Answer]]) -> Iterator[ChatServer]:
    chat = ChatServer(script)
    with serve_protocol(lambda body: _write(body, chat.answer(body))) as server:
        chat.url = server.url
        yield chat


def _kind(body: dict[str, object]) -> str:
    wanted = body.get("response_format")
    if not isinstance(wanted, dict):
        return STEP
    schema = wanted["json_schema"]
    if "text" in schema["schema"].get("properties", {}):
        return SUPERVISE
    name = str(schema["name"])
    return name if name in (PLAN, COMMIT, ASSESS) else VERDICT


def call(name: str, **args: object) -> str:
    return json.dumps({"call": {"name": name, "arguments": json.dumps(args)}})


def _write(body: dict[str, object], text: str) -> bytes:
    is_call = text.startswith('{"call": ')
    asked = json.loads(text)["call"] if is_call else {}
    calls = [(asked["name"], asked["arguments"])] if is_call else []
    reply = ModelReply("" if is_call else text, calls, usage=(10, 5), model=str(body["model"]))
    if body.get("stream") is True:
        return encode(write_stream("openai", reply))
    return encode(write_body("openai", reply))
