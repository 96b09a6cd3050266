"""Builds the web application of a store, and serves it."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import uvicorn
from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from agents.sync import DaemonExecutor
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import Store
from orchestrator.service.executions import RunBuilder, RunSessions
from orchestrator.service.run_service import RunService
from orchestrator.serving import routes
from orchestrator.serving.request_guard import RequestGuard, ServerOptions
from orchestrator.serving.responses import FOLDER, KNOWN_ERRORS, answer_error

SWITCH_S: Final = 0.0001
"""How long a thread of a run computes while a page waits; Python's 5 ms add up over the reads of a page."""
_SHUTDOWN_S: Final = 2
"""How long the end waits for requests that are answered at that moment."""


def build_app(store: Store, builder: RunBuilder, options: ServerOptions | None = None) -> FastAPI:
    """Builds the application that shows the runs of a store, and executes runs.

    Args:
        store: The store, which stays open while the application serves.
        builder: Builds the orchestrators; ``OneOrchestrator`` has one for all runs.
        options: Who may reach it. Default: programs and browsers on this machine.
    """
    chosen = options or ServerOptions()
    app = FastAPI(
        title="plan-execute-monitor",
        lifespan=_live,
        docs_url=None,  # its page loads scripts from another site
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.service = RunService(store.history, builder, RunSessions(builder))
    app.state.store, app.state.options = store, chosen
    for router in (routes.pages, routes.programs):
        app.include_router(router)
    styles: list[str | tuple[str, str]] = [("evaluation", "reporting/static")]  # of the reports
    app.mount("/static", StaticFiles(directory=FOLDER / "static", packages=styles))
    for error in KNOWN_ERRORS:
        app.add_exception_handler(error, answer_error)
    app.add_middleware(RequestGuard, options=chosen)
    return app


@asynccontextmanager
async def _live(app: FastAPI) -> AsyncIterator[None]:
    service: RunService = app.state.service
    # A thread for each call: agents may block, and the end of the server does not wait for them.
    asyncio.get_running_loop().set_default_executor(DaemonExecutor())
    service.sessions.open()
    yield
    await service.sessions.close()


class PageServer(uvicorn.Server):
    """A server that ends its streams first, because uvicorn waits for the connections."""

    def __init__(self, config: uvicorn.Config, service: RunService) -> None:
        """Takes the service of the application."""
        super().__init__(config)
        self._service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends the streams, and then the server."""
        self._service.closing.set()
        await super().shutdown(sockets)


def run_server(
    store: Store, builder: RunBuilder, options: ServerOptions, port: int, report: Callable[[str], None]
) -> None:
    """Serves a store until a signal ends the process.

    Args:
        store: The store.
        builder: Builds the orchestrators.
        options: Who may reach the server.
        port: The port; 0 for any free one.
        report: Gets a sentence with the address.

    Raises:
        ConfigurationError: The port is in use.
    """
    sys.setswitchinterval(SWITCH_S)
    app = build_app(store, builder, options)
    with _bind(options.host, port) as listener:
        address = _format_address(options.host, listener.getsockname()[1])
        report(f"serving {store.where} on {address} until Ctrl-C")
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, timeout_graceful_shutdown=_SHUTDOWN_S
        )
        PageServer(config, app.state.service).run(sockets=[listener])


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
