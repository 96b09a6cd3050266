"""Replies of models that are kept for all policies of a study: equal requests get equal replies.

So policies that share a plan, a first attempt or a judgement share its reply too, and their differences are
their own. A run that was cut off is repeated without asking a model again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from langchain_core.caches import BaseCache
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation
from typing_extensions import override

from orchestrator.errors import ConfigurationError

_FIELDS: Final = ("content", "tool_calls", "invalid_tool_calls", "usage_metadata", "response_metadata")


class RecordedReplies(BaseCache):
    """A LangChain cache in a SQLite file, for one run after another.

    The second equal request of a run is another request: a new sample must not be the old one again.

    Args:
        path: The file.
        origins: For each address of a server, which model answers there; the port of an embedded one differs
            in each process.

    Raises:
        ConfigurationError: The file is no database, or cannot be written.

    Attributes:
        asked: Requests that models answered, since the file was opened.
        seconds: Seconds of all replies of the current run, recorded ones included.
    """

    def __init__(self, path: Path, origins: Mapping[str, str] | None = None) -> None:
        self._path, self._origins = path, origins or {}
        self._lock = threading.Lock()
        self._begun: dict[str, float] = {}
        self._seen: Counter[str] = Counter()
        self._run = ""
        self.asked = 0
        self.seconds = 0.0
        self._query("create table if not exists replies (key text primary key, reply text, seconds real)")

    def begin(self, run: str) -> None:
        """Begins a run. Runs of the same name share their replies."""
        with self._lock:
            self._run, self._seen, self._begun, self.seconds = run, Counter(), {}, 0.0

    @override
    def lookup(self, prompt: str, llm_string: str) -> Sequence[Generation] | None:
        request = self._digest(prompt, llm_string)
        with self._lock:
            self._seen[request] += 1
            rows = self._query("select reply, seconds from replies where key = ?", self._name_key(request))
            if not rows:
                self._begun[request] = time.monotonic()
                self.asked += 1
                return None
            [(reply, seconds)] = rows
            self.seconds += seconds
            return [ChatGeneration(message=AIMessage(**json.loads(reply)))]

    @override
    def update(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        request = self._digest(prompt, llm_string)
        message = return_val[0].message if isinstance(return_val[0], ChatGeneration) else None
        with self._lock:
            seconds = time.monotonic() - self._begun.pop(request, time.monotonic())
            self.seconds += seconds
            if isinstance(message, AIMessage):
                row = self._name_key(request), _dump(message), seconds
                self._query("insert or ignore into replies values (?, ?, ?)", *row)

    @override
    def clear(self, **kwargs: object) -> None:
        self._query("delete from replies")

    def _name_key(self, request: str) -> str:
        return f"{self._run}:{request}:{self._seen[request]}"

    def _digest(self, prompt: str, llm_string: str) -> str:
        for address, origin in self._origins.items():
            llm_string = llm_string.replace(address, origin)
        return hashlib.sha256(f"{llm_string}\0{prompt}".encode("utf-8", "replace")).hexdigest()

    def _query(self, text: str, *values: str | float) -> list[tuple[str, float]]:
        try:
            with closing(sqlite3.connect(self._path, timeout=30)) as database, database:
                return database.execute(text, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise ConfigurationError(
                f"the recorded replies {str(self._path)!r} cannot be read ({error}); "
                "restore the file, or delete it to ask the models again"
            ) from None


def _dump(message: AIMessage) -> str:
    # Plain values only: a stored object could name any class to build.
    values = {name: value for name in _FIELDS if (value := getattr(message, name))}
    return json.dumps({"content": "", **values}, default=str)
