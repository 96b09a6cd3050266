"""Replies of models that are kept for all policies of a study: equal requests get equal replies.

So policies that share a plan, a first attempt or a judgement share its reply too, and their differences are
their own. A search that was cut off is repeated without asking a model again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from langchain_core.caches import BaseCache
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation
from typing_extensions import override

from orchestrator.errors import ConfigurationError
from orchestrator.tuning.trials import BudgetSpentError

_FIELDS: Final = ("content", "tool_calls", "invalid_tool_calls", "usage_metadata", "response_metadata")


class RecordedReplies(BaseCache):
    """A LangChain cache in a SQLite file, for one run after another; one process at a time can open it.

    The second equal request of a run is another request: a new sample must not be the old one again.

    Args:
        path: The file.
        most: Most replies that models are asked for, in all processes together; None for no bound.

    Raises:
        ConfigurationError: The file is no database, cannot be written, or is open in another process.

    Attributes:
        origins: For each address of a server, which model answers there; the port of an embedded one differs
            in each process.
        seconds: Seconds of all replies of the current run, recorded ones included.
        refused: Why the current run got no reply; empty if it got all.
    """

    def __init__(self, path: Path, most: int | None = None) -> None:
        self.origins: Mapping[str, str] = {}
        self._path, self._most = path, most
        self._lock = threading.Lock()
        self.begin("")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=1, check_same_thread=False, isolation_level=None)
            # A second process would ask the models for the same replies.
            self._database.executescript("pragma locking_mode = exclusive; begin exclusive; commit")
        except (OSError, sqlite3.Error) as error:
            raise self._refuse(error) from None
        self._query("create table if not exists replies (key text primary key, reply text, seconds real)")

    def begin(self, run: str) -> None:
        """Begins a run. Runs of the same name share their replies."""
        self._run, self.seconds, self.refused = run, 0.0, ""
        self._seen: Counter[str] = Counter()
        self._begun: dict[str, float] = {}

    def close(self) -> None:
        """Closes the file, for other processes."""
        self._database.close()

    @override
    def lookup(self, prompt: str, llm_string: str) -> Sequence[Generation] | None:
        request = self._digest(prompt, llm_string)
        with self._lock:
            self._seen[request] += 1
            rows = self._query("select reply, seconds from replies where key = ?", self._name_key(request))
            if not rows:
                self._check_budget()
                self._begun[request] = time.monotonic()
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

    def _check_budget(self) -> None:
        [(count, _)] = self._query("select count(*), 0 from replies")
        if self._most is not None and int(count) >= self._most:
            self.refused = f"the budget of {self._most} model_calls is spent"
            raise BudgetSpentError(self.refused)

    def _name_key(self, request: str) -> str:
        return f"{self._run}:{request}:{self._seen[request]}"

    def _digest(self, prompt: str, llm_string: str) -> str:
        for address, origin in self.origins.items():
            llm_string = llm_string.replace(address, origin)
        return hashlib.sha256(f"{llm_string}\0{prompt}".encode("utf-8", "replace")).hexdigest()

    def _query(self, text: str, *values: str | float) -> list[tuple[str, float]]:
        try:
            return self._database.execute(text, values).fetchall()
        except sqlite3.Error as error:
            raise self._refuse(error) from None

    def _refuse(self, error: Exception) -> ConfigurationError:
        return ConfigurationError(
            f"the recorded replies {str(self._path)!r} cannot be used ({error}); wait until another search "
            "has ended, or delete the file to ask the models again"
        )


def _dump(message: AIMessage) -> str:
    # Plain values only: a stored object could name any class to build.
    values = {name: value for name in _FIELDS if (value := getattr(message, name))}
    return json.dumps({"content": "", **values}, default=str)
