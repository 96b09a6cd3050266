"""Serves one client of the Model Context Protocol over standard input and output."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TextIO

import anyio
from mcp.server.stdio import stdio_server

from agents.sync import run_loop
from orchestrator import persistence
from orchestrator.cli.run_options import RunOptions
from orchestrator.cli.session.served_runs import ServedRuns
from orchestrator.cli.session.task_files import import_tools
from orchestrator.cli.view.consoles import take_stdout
from orchestrator.persistence import Store
from orchestrator.serving import build_mcp_server


def serve_client(where: str | None, options: RunOptions, *, read_only: bool) -> None:
    """Serves a client until it closes the input.

    Args:
        where: Path or URL of the store; None for the default.
        options: The options of new runs.
        read_only: Whether no run may be started or answered.

    Raises:
        ConfigurationError: A tool cannot be imported.
        StoreError: The store cannot be opened.
    """
    with _take_streams() as (source, target), _open_store(where, options, make=not read_only) as store:
        builder = ServedRuns(store, where, options)
        run_loop(lambda: _serve(store, builder, source, target, read_only=read_only))


async def _serve(
    store: Store, builder: ServedRuns, source: TextIO, target: TextIO, *, read_only: bool
) -> None:
    server = build_mcp_server(store, builder, read_only=read_only)
    async with stdio_server(anyio.wrap_file(source), anyio.wrap_file(target)) as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


def _open_store(where: str | None, options: RunOptions, *, make: bool) -> AbstractContextManager[Store]:
    import_tools(options.tools)  # before the store, which a wrong name must not create
    return persistence.open_store(where, make=make)


@contextmanager
def _take_streams() -> Iterator[tuple[TextIO, TextIO]]:
    """Takes both streams for the protocol: a tool or a model that prints would break its messages."""
    source = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    with open(source, encoding="utf-8", errors="replace") as received, take_stdout("utf-8") as sent:
        yield received, sent
