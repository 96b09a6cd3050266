"""Answers HTTP requests from a script, and writes small JSON files; used by the `make_*.py` programs."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
from pydantic import BaseModel

OUT = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
QUESTION = "What does Moby Dick cost?"
BOTH = "What do Moby Dick and Emma cost?"
ANSWER = "Moby Dick costs 12.5 euros."
MOBY, EMMA = {"title": "Moby Dick"}, {"title": "Emma"}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNiAAAABgADNjd8qAAAAABJRU5ErkJggg=="


def client(replies: Iterable[Any], library: Any = httpx) -> Any:
    """Returns a client of `httpx` or `httpx2` whose requests get these bodies, one after the other."""
    waiting: Iterator[Any] = iter(replies)

    def answer(_: Any) -> Any:
        body = next(waiting)
        if isinstance(body, str):
            return library.Response(200, headers={"content-type": "text/event-stream"}, text=body)
        return library.Response(200, json=body)

    return library.Client(transport=library.MockTransport(answer))


def events(*data: dict[str, Any]) -> str:
    """Returns server-sent events, named by their type if they have one."""
    texts = [f"event: {each['type']}\n" if "type" in each else "" for each in data]
    return "".join(f"{text}data: {json.dumps(each)}\n\n" for text, each in zip(texts, data, strict=True))


def plain(value: Any) -> Any:
    """Returns JSON values for models inside of lists and objects."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, str) and "Traceback" in value:
        return value[: value.index("Traceback")] + "Traceback (cut)"  # it has the paths of a machine
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def write(kind: str, name: str, value: Any) -> None:
    """Writes compact JSON to `kind/name.json`."""
    file = OUT / kind / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(plain(value), ensure_ascii=False, separators=(",", ":")) + "\n")
