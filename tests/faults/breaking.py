"""Stores that fail: in the middle of a run, or found broken by whoever goes on with it."""

import re
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from orchestrator import StoreError
from orchestrator.persistence import open_store
from orchestrator.persistence.sqlite import SqliteRunSaver
from tests.faults.children import PROCESSES, Place, ended, go_on, killed_at, start
from tests.faults.story import SHORT, Log, build
from tests.faults.tally import Harm, find_harm


@dataclass(frozen=True)
class Fault:
    """What happens to a store.

    Attributes:
        strike: Lets it happen.
        mend: Undoes it.
        says: A pattern of the error that has to be raised; None where the run just goes on.
        patience_ms: How long a write to SQLite waits meanwhile.
    """

    strike: Callable[[], object]
    mend: Callable[[], object]
    says: str | None
    patience_ms: int = 10_000


@dataclass(frozen=True)
class StrikingLog(Log):
    """Lets something happen at the so-manieth call."""

    strike: Callable[[], object]
    at: int
    _calls: Iterator[int] = field(default_factory=lambda: iter(range(1, 10_000)))

    def called(self, what: str, step: str, attempt: int, **more: object) -> None:
        super().called(what, step, attempt, **more)
        if next(self._calls) == self.at:
            self.strike()


def struck(fault: Fault, place: Place, at: int) -> Harm:
    """Break a store at a call in the middle of a run, mend it and go on, without opening a file again."""
    with open_store(place.store) as store:
        if isinstance(store.saver, SqliteRunSaver):
            store.saver.conn.execute(f"PRAGMA busy_timeout={fault.patience_ms}")
        log = StrikingLog(place.log.file, fault.strike, at)
        orchestrator = build(SHORT, log, store.saver)
        said = _said(lambda: go_on(orchestrator, SHORT.task, log))
        fault.mend()
        if isinstance(store.saver, SqliteRunSaver):
            go_on(orchestrator, SHORT.task, log)
    _opened(place)
    return _find_harm(fault, place, said)


def found(fault: Fault, place: Place) -> Harm:
    """Break the store of a run that was cut off, try to go on, mend it, and go on."""
    child = start(place, SHORT.task)
    killed_at(child, place.log, 20, 0)
    ended(child, place)
    with open_store(place.store):
        pass  # what is in the journal gets into the file
    fault.strike()
    before = Path(place.store).read_bytes()
    said = _said(lambda: _opened(place))
    untouched = Path(place.store).read_bytes() == before
    fault.mend()
    _opened(place)
    return _find_harm(fault, place, said, untouched=untouched)


def _opened(place: Place) -> None:
    with open_store(place.store, make=False) as store:
        go_on(build(SHORT, place.log, store.saver), SHORT.task, place.log)


def _said(tell: Callable[[], object]) -> str | None:
    try:
        tell()
    except StoreError as error:
        return str(error)
    return None


def _find_harm(fault: Fault, place: Place, said: str | None, *, untouched: bool = True) -> Harm:
    clear = said is None if fault.says is None else re.search(fault.says, said or "") is not None
    return find_harm(SHORT.task, place, wrong=not (clear and untouched))


@dataclass
class Lock:
    """Held on a file of SQLite by another process."""

    file: str
    _ours: Connection | None = None

    def take(self) -> None:
        self._ours, theirs = PROCESSES.Pipe()
        PROCESSES.Process(target=_hold, args=(self.file, theirs), daemon=True).start()
        self._ours.recv()

    def take_for_a_while(self) -> None:
        self.take()
        threading.Timer(0.5, self.let_go).start()

    def let_go(self) -> None:
        assert self._ours is not None
        self._ours.send("let go")
        self._ours.recv()


def _hold(file: str, theirs: Connection) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        theirs.send("held")
        theirs.recv()
        connection.execute("ROLLBACK")
    theirs.send("let go")


def corrupt(place: Place, how: Callable[[bytes], bytes]) -> Fault:
    """A file that holds something else."""
    file, copy = Path(place.store), place.folder / "copy"

    def strike() -> None:
        shutil.copyfile(file, copy)
        file.write_bytes(how(file.read_bytes()))

    return Fault(strike, lambda: shutil.copyfile(copy, file), re.escape(str(file)))


PAGE = 4096
CORRUPTIONS: dict[str, Callable[[bytes], bytes]] = {
    "another file": lambda data: b"not a database at all\n" * 100,
    "junk after the first page": lambda data: data[:PAGE] + b"\xa5" * (len(data) - PAGE),
    "cut off": lambda data: data[: len(data) // 3],
    "emptied": lambda data: b"",
}
