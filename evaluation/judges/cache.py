"""A judge that is not asked the same question twice."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final, Protocol

from evaluation.errors import ContractError
from evaluation.judges.answers import as_text, read_object
from evaluation.judges.call import aask, ask
from evaluation.judges.failures import JudgeFailure
from evaluation.judges.scores import JudgeScore, read_judge_result
from evaluation.plugins import AnyJudge, JudgeRequest
from evaluation.values import JsonObject

_log: Final = logging.getLogger(__name__)
_VERSION: Final = 1
"""Part of every key: what an answer means may change."""


def request_key(request: JudgeRequest, model: str) -> str:
    """Give the SHA-256 of the run, the rubric and the model, as 64 hexadecimal digits.

    Two requests have one key only if a judge is shown the same of both.
    """
    shown = {
        "version": _VERSION,
        "model": model,
        "rubric": request.rubric.model_dump(mode="json"),
        "input": request.input,
        "output": request.output,
        "reference": request.reference,
        "actions": list(request.actions),
    }
    return sha256(json.dumps(shown, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class CachedJudge:
    """Keeps a judge's answers, by what was judged, the rubric and the model.

    Only answers that can be relied on are kept; a failure is asked again. A kept answer costs nothing, and
    its ``usage`` says ``cached``. A store that fails is as good as empty: the judge is asked, and a warning
    logged.

    Args:
        judge: Who is asked.
        store: Where answers are kept: a ``MemoryStore``, a ``FileStore``, or your own.
        model: What else decides the answer: the model's name, and its version, prompt and settings where
            those change. Answers of another one are never given.

    Raises:
        ContractError: ``model`` is empty.
    """

    def __init__(self, judge: AnyJudge, store: AnswerStore, *, model: str) -> None:
        if not model.strip():
            raise ContractError("model is empty; name what decides the answer: the model, its version")
        self._judge = judge
        self._store = store
        self._model = model

    def judge(self, request: JudgeRequest) -> object:
        """Give the kept answer, or ask. Raises what the judge raises."""
        key = request_key(request, self._model)
        kept = self._kept(key, request)
        if kept is not None:
            return kept
        answer = ask(self._judge, request)
        self._keep(key, answer, request)
        return answer

    async def ajudge(self, request: JudgeRequest) -> object:
        """Give the kept answer, or ask, without blocking the loop."""
        key = request_key(request, self._model)
        kept = await asyncio.to_thread(self._kept, key, request)
        if kept is not None:
            return kept
        answer = await aask(self._judge, request)
        await asyncio.to_thread(self._keep, key, answer, request)
        return answer

    def _kept(self, key: str, request: JudgeRequest) -> JsonObject | None:
        try:
            text = self._store.get(key)
        except Exception as error:  # noqa: BLE001 - a store is the caller's code and may raise anything
            return self._report("read", error)
        if text is None or not _is_reliable(text, request):
            return None
        read = read_object(text)
        return None if isinstance(read, JudgeFailure) else _free(read.value)

    def _keep(self, key: str, answer: object, request: JudgeRequest) -> None:
        text = as_text(answer)
        if isinstance(text, JudgeFailure) or not _is_reliable(text, request):
            return
        try:
            self._store.set(key, text)
        except Exception as error:  # noqa: BLE001 - a store is the caller's code and may raise anything
            self._report("written", error)

    @staticmethod
    def _report(what: str, error: Exception) -> None:
        _log.warning("the store of judges' answers could not be %s (%s)", what, type(error).__name__)


def _is_reliable(text: str, request: JudgeRequest) -> bool:
    """Say whether an answer is worth keeping: a checked score, of a text that needed no repair."""
    found = read_judge_result(text, request.rubric)
    return isinstance(found, JudgeScore) and not found.repaired


def _free(answer: JsonObject) -> JsonObject:
    """Say of a kept answer that it cost nothing this time."""
    usage = answer.get("usage")
    model = usage.get("model") if isinstance(usage, Mapping) else None
    free = {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "cached": True}
    return {**answer, "usage": free if model is None else {**free, "model": model}}


_WAIT_S: Final = 30.0
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID"
)


class AnswerStore(Protocol):
    """Keeps texts by key. It may forget any of them, and be asked by several threads at once."""

    def get(self, key: str) -> str | None:
        """Give the text; None where there is none."""
        ...

    def set(self, key: str, value: str) -> None:
        """Keep the text, in place of an earlier one."""
        ...


class MemoryStore:
    """Keeps the texts that were used last, in this process.

    Args:
        max_entries: How many, at least 1.

    Raises:
        ContractError: ``max_entries`` is less than 1.
    """

    def __init__(self, max_entries: int = 1024) -> None:
        if max_entries < 1:
            raise ContractError(f"max_entries is {max_entries}; give at least 1")
        self._max_entries = max_entries
        self._kept: OrderedDict[str, str] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str) -> str | None:
        """Give the text, and count it as used."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def set(self, key: str, value: str) -> None:
        """Keep the text; the one that was not used for the longest goes, where there are too many."""
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            if len(self._kept) > self._max_entries:
                self._kept.popitem(last=False)


class FileStore:
    """Keeps texts in an SQLite file, for any number of threads and processes at once.

    The file holds judges' answers as they were given, which may quote what they judged; it is made readable
    for its owner only.

    Args:
        path: The file; it and its folders are made when they are missing.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def get(self, key: str) -> str | None:
        """Give the text.

        Raises:
            OSError, sqlite3.Error: The file cannot be used.
        """
        with self._opened() as database:
            row = database.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set(self, key: str, value: str) -> None:
        """Keep the text; raises as ``get`` does."""
        with self._opened() as database:
            database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, value))

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Connect anew each time: a connection belongs to one thread of one process."""
        if not self._path.exists():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
        with closing(sqlite3.connect(self._path, timeout=_WAIT_S)) as database, database:
            database.execute(_TABLE)
            yield database
