"""Runs the web server of ``orchestrator serve`` until a signal ends it."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from typing import Final

import typer
import uvicorn
from pydantic import ValidationError

from orchestrator import persistence
from orchestrator.cli.run_options import RunOptions
from orchestrator.cli.session.served_runs import ServedRuns
from orchestrator.errors import ConfigurationError
from orchestrator.serving import ServerOptions, build_app
from orchestrator.serving.live.event_feed import EventFeed

SWITCH_S: Final = 0.0001
"""How long a thread of a run computes while a page waits; Python's 5 ms add up over the reads of a page."""
_SHUTDOWN_S: Final = 2
"""How long the end waits for requests that are answered at that moment."""


class PageServer(uvicorn.Server):
    """A server that ends its streams first, because uvicorn waits for the connections."""

    def __init__(self, config: uvicorn.Config, feed: EventFeed) -> None:
        """Takes the feed of the application."""
        super().__init__(config)
        self._feed = feed

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends the streams, and then the server."""
        await self._feed.close()
        await super().shutdown(sockets)


def run_server(where: str | None, options: RunOptions, reach: Mapping[str, object], port: int) -> None:
    """Serves a store.

    Args:
        where: Path or URL of the store; None for the default.
        options: The options of new runs.
        reach: The fields of ``ServerOptions``.
        port: The port; 0 for any free one.

    Raises:
        ConfigurationError: An option is not accepted, or the port is in use.
        StoreError: The store cannot be opened.
    """
    reachable = _read_options(reach)
    sys.setswitchinterval(SWITCH_S)
    with persistence.open_store(where, make=not reachable.read_only) as store:
        app = build_app(store, ServedRuns(store, where, options), reachable)
        with _bind(reachable.host, port) as listener:
            address = _format_address(reachable.host, listener.getsockname()[1])
            typer.echo(f"serving {store.where} on {address} until Ctrl-C", err=True)
            config = uvicorn.Config(
                app, log_level="warning", access_log=False, timeout_graceful_shutdown=_SHUTDOWN_S
            )
            PageServer(config, app.state.context.feed).run(sockets=[listener])


def _read_options(reach: Mapping[str, object]) -> ServerOptions:
    try:
        return ServerOptions.model_validate(reach)
    except ValidationError as error:
        (detail, *_) = error.errors()
        name = f"--{detail['loc'][0]}: " if detail["loc"] else ""
        raise ConfigurationError(f"{name}{detail['msg'].removeprefix('Value error, ')}") from None


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        # Not the text of the error, which has the address again; a name that is unknown has nothing else.
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise ConfigurationError(
            f"port {port} of {host} cannot be used ({reason}); give another --port or --host"
        ) from None


def _format_address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
