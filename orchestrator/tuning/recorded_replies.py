"""Records the replies of models: equal requests of equal runs get equal replies."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from langchain_core.caches import BaseCache
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation
from typing_extensions import override

from orchestrator.errors import ConfigurationError
from orchestrator.runs.run_saver import RunSaver
from orchestrator.tuning.trials import BudgetSpentError

_FIELDS: Final = ("content", "tool_calls", "invalid_tool_calls", "usage_metadata", "response_metadata")
CREATE_REPLIES: Final = """
    CREATE TABLE IF NOT EXISTS orchestrator_replies (
        study text, key text, form text NOT NULL, reply bytea NOT NULL, PRIMARY KEY (study, key)
    )
"""
_FIND: Final = "SELECT form, reply FROM orchestrator_replies WHERE study = ? AND key = ?"
_ADD: Final = "INSERT INTO orchestrator_replies VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
_COUNT: Final = "SELECT count(*) FROM orchestrator_replies WHERE study = ?"


class SqliteReplies:
    """Keeps the replies in a SQLite file, which one process at a time can open.

    Raises:
        ConfigurationError: The file is no database, cannot be written, or is open in another process.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=1, check_same_thread=False, isolation_level=None)
            # A second process would ask the models for the same replies.
            self._database.executescript("pragma locking_mode = exclusive; begin exclusive; commit")
        except (OSError, sqlite3.Error) as error:
            raise self._refuse(error) from None
        self._query("create table if not exists replies (key text primary key, reply text)")

    def find(self, key: str) -> str | None:
        """Returns a reply, or None."""
        return next((reply for (reply,) in self._query("select reply from replies where key = ?", key)), None)

    def add(self, key: str, reply: str) -> None:
        """Keeps a reply; the first one of a key stays."""
        self._query("insert or ignore into replies (key, reply) values (?, ?)", key, reply)

    def count(self) -> int:
        """Returns the number of replies."""
        [(count,)] = self._query("select cast(count(*) as text) from replies")
        return int(count)

    def close(self) -> None:
        """Closes the file, for other processes."""
        self._database.close()

    def _query(self, text: str, *values: str) -> list[tuple[str]]:
        try:
            return self._database.execute(text, values).fetchall()
        except sqlite3.Error as error:
            raise self._refuse(error) from None

    def _refuse(self, error: Exception) -> ConfigurationError:
        return ConfigurationError(
            f"the recorded replies {str(self._path)!r} cannot be used ({error}); wait until another search "
            "has ended, or delete the file to ask the models again"
        )


@dataclass(frozen=True, slots=True)
class StoredReplies:
    """Keeps the recorded replies of a study in PostgreSQL.

    Attributes:
        saver: The saver of the store, which encrypts them like runs.
        study: Name of the study.
    """

    saver: RunSaver
    study: str

    def find(self, key: str) -> str | None:
        """Returns a reply, or None."""
        rows = self.saver.select(_FIND, (self.study, _hash(key)))
        return str(self.saver.serde.loads_typed(rows[0])) if rows else None

    def add(self, key: str, reply: str) -> None:
        """Keeps a reply; the first one of a key stays."""
        self.saver.change(_ADD, [(self.study, _hash(key), *self.saver.serde.dumps_typed(reply))])

    def count(self) -> int:
        """Returns the number of replies of all workers."""
        return int(self.saver.select(_COUNT, (self.study,))[0][0])


def _hash(key: str) -> str:
    # A key begins with the name of a task, which may have characters that PostgreSQL cannot store.
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


ReplyStorage: TypeAlias = SqliteReplies | StoredReplies


@dataclass(eq=False, slots=True)
class RecordedReplies(BaseCache):
    """The LangChain cache of one run. Runs of the same name share their replies.

    The second equal request of a run is another request: a new sample must not be the old one again. Runs of
    the same name may follow each other; at the same time, they would ask for the same replies.

    Attributes:
        storage: Keeps the replies.
        run: Name of the run.
        most: Most replies that models are asked for, in all runs together; None for no bound. Requests that
            several runs make at the same moment may exceed it.
        origins: For each address of a server, which model answers there; the port of an embedded one differs
            in each process.
    """

    storage: ReplyStorage
    run: str
    most: int | None = None
    origins: Mapping[str, str] = field(default_factory=dict)
    _seen: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @override
    def lookup(self, prompt: str, llm_string: str) -> Sequence[Generation] | None:
        request = self._digest(prompt, llm_string)
        with self._lock:
            self._seen[request] += 1
            reply = self.storage.find(self._name_key(request))
            if reply is not None:
                return [ChatGeneration(message=AIMessage(**json.loads(reply)))]
            if self.most is not None and self.storage.count() >= self.most:
                raise BudgetSpentError(f"the budget of {self.most} model_calls is spent")
            return None

    @override
    def update(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        request = self._digest(prompt, llm_string)
        message = return_val[0].message if isinstance(return_val[0], ChatGeneration) else None
        if isinstance(message, AIMessage):
            with self._lock:
                self.storage.add(self._name_key(request), _dump(message))

    @override
    def clear(self, **kwargs: object) -> None:
        self._seen.clear()

    def _name_key(self, request: str) -> str:
        return f"{self.run}:{request}:{self._seen[request]}"

    def _digest(self, prompt: str, llm_string: str) -> str:
        for address, origin in self.origins.items():
            llm_string = llm_string.replace(address, origin)
        return hashlib.sha256(f"{llm_string}\0{prompt}".encode("utf-8", "replace")).hexdigest()


def _dump(message: AIMessage) -> str:
    # Plain values only: a stored object could name any class to build.
    values = {name: value for name in _FIELDS if (value := getattr(message, name))}
    return json.dumps({"content": "", **values}, default=str)
