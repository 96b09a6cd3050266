"""A connection to PostgreSQL that is cut after the database has committed, before it can say so."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingUnixStreamServer

_SOCKET = ".s.PGSQL.5432"


@contextmanager
def cut_after(statement: bytes, url: str, folder: Path) -> Iterator[str]:
    """Yield a URL of the same database; a connection that commits the statement gets no answer."""
    place = Path(url.partition("?host=")[2], _SOCKET)

    class Link(BaseRequestHandler):
        def handle(self) -> None:
            with socket.socket(socket.AF_UNIX) as database:
                database.connect(str(place))
                _pass_on(self.request, database, statement)

    with ThreadingUnixStreamServer(str(folder / _SOCKET), Link) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        yield f"{url.partition('?')[0]}?host={folder}"
        server.shutdown()


def _pass_on(client: socket.socket, database: socket.socket, statement: bytes) -> None:
    has_statement = is_committing = False
    while True:
        for source in select.select([client, database], [], [])[0]:
            data = source.recv(65_536)
            if not data or (is_committing and source is database):
                return
            if source is client:
                has_statement |= statement in data
                is_committing |= has_statement and b"COMMIT" in data
            (database if source is client else client).sendall(data)
