"""Caches the answers of a judge, in memory or in a file."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import fields as dataclass_fields
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final, Protocol

from evaluation.errors import ContractError
from evaluation.judges.answers import ObjectRead, format_answer, read_object
from evaluation.judges.judge_call import aask_judge, ask_judge
from evaluation.judges.judge_scores import JudgeScore, read_judge_result
from evaluation.plugins import AnyJudge, JudgeFunction, JudgeRequest, require_judge
from evaluation.values import JsonObject, as_object

_log: Final = logging.getLogger(__name__)
_VERSION: Final = 2
"""Part of every key: a later version may read an answer in another way."""


def request_key(request: JudgeRequest, model: str) -> str:
    """Returns the SHA-256 of the run, the rubric and the model, as 64 hexadecimal digits."""
    fields = {
        **{each.name: getattr(request, each.name) for each in dataclass_fields(request)},
        "version": _VERSION,
        "model": model,
        "rubric": request.rubric.model_dump(mode="json"),
    }
    return sha256(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class CachedJudge:
    """Caches a judge's answers by request, rubric and model.

    Only usable answers are stored: after a failure the judge is asked again. The ``usage`` of a cached answer
    is zero and has ``cached``. If the store fails, the judge is asked and a warning is logged.

    Args:
        judge: The judge to ask.
        store: A ``MemoryStore``, a ``FileStore``, or your own.
        model: Everything else that the answer depends on: the model's name, and its version, prompt and
            settings if they change.

    Raises:
        ContractError: ``model`` is empty, or ``judge`` is no judge.
    """

    def __init__(self, judge: AnyJudge | JudgeFunction, store: AnswerStore, *, model: str) -> None:
        if not model.strip():
            raise ContractError("model is empty; give the name and the version of the model")
        self._judge = require_judge(judge)
        self._store = store
        self._model = model

    def judge(self, request: JudgeRequest) -> object:
        """Returns the cached answer, or asks the judge. Raises the judge's exceptions."""
        key = request_key(request, self._model)
        return self._load(key, request) or self._save(key, ask_judge(self._judge, request), request)

    async def ajudge(self, request: JudgeRequest) -> object:
        """Like ``judge``, without blocking the loop."""
        key = request_key(request, self._model)
        if cached := await asyncio.to_thread(self._load, key, request):
            return cached
        answer = await aask_judge(self._judge, request)
        return await asyncio.to_thread(self._save, key, answer, request)

    def _load(self, key: str, request: JudgeRequest) -> JsonObject | None:
        try:
            text = self._store.get(key)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a store is the user's code and may raise anything
            _warn("read", error)
            return None
        # A file may be damaged or edited, so a stored answer is checked like a new one.
        read = read_object(text)
        if not isinstance(read, ObjectRead) or not _is_reliable(text, request):
            return None
        return _mark_as_cached(read.value)

    def _save(self, key: str, answer: object, request: JudgeRequest) -> object:
        """Stores an answer if it is usable, and returns it."""
        text = format_answer(answer)
        if isinstance(text, str) and _is_reliable(text, request):
            try:
                self._store.set(key, text)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
                _warn("written", error)
        return answer


def _warn(action: str, error: BaseException) -> None:
    _log.warning("the store of judges' answers could not be %s (%s)", action, type(error).__name__)


def _is_reliable(answer: object, request: JudgeRequest) -> bool:
    result = read_judge_result(answer, request.rubric)
    return isinstance(result, JudgeScore) and result.objection is None


def _mark_as_cached(answer: JsonObject) -> JsonObject:
    model = {name: value for name, value in as_object(answer.get("usage")).items() if name == "model"}
    free = {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "cached": True, **model}
    return {**answer, "usage": free}


_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID"
)


class AnswerStore(Protocol):
    """Stores texts by key, for several threads at once. It may forget any text."""

    def get(self, key: str) -> str | None:
        """Returns the text, or None if there is none."""
        ...

    def set(self, key: str, value: str) -> None:
        """Stores the text, and replaces an earlier one."""
        ...


class MemoryStore:
    """Stores the most recently used texts in memory.

    Args:
        max_entries: Maximum number of texts, at least 1.

    Raises:
        ContractError: ``max_entries`` is less than 1.
    """

    def __init__(self, max_entries: int = 1024) -> None:
        if max_entries < 1:
            raise ContractError(f"max_entries is {max_entries}; give at least 1")
        self._max_entries = max_entries
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str) -> str | None:
        """Returns the text, and marks it as used."""
        with self._lock:
            if key in self._texts:
                self._texts.move_to_end(key)
            return self._texts.get(key)

    def set(self, key: str, value: str) -> None:
        """Stores the text, and drops the least recently used one if there are too many."""
        with self._lock:
            self._texts[key] = value
            self._texts.move_to_end(key)
            if len(self._texts) > self._max_entries:
                self._texts.popitem(last=False)


class FileStore:
    """Stores texts in an SQLite file, for any number of threads and processes at once.

    Answers may quote the run, so only the owner of the file can read it.

    Args:
        path: The file. It and its folders are created if they are missing.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def get(self, key: str) -> str | None:
        """Returns the text.

        Raises:
            OSError, sqlite3.Error: The file cannot be used.
        """
        with self._connect() as database:
            row = database.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set(self, key: str, value: str) -> None:
        """Stores the text; raises as ``get`` does."""
        with self._connect() as database:
            database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, value))

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        # Each call opens its own connection: one belongs to a single thread of a single process.
        if not self._path.exists():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # sqlite3 would create it with the permissions of the umask, often readable for others.
            self._path.touch(mode=0o600)
        with closing(sqlite3.connect(self._path, timeout=30)) as database, database:
            database.execute(_TABLE)
            yield database
