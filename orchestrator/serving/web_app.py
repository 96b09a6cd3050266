"""Builds the web application of a store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from agents.sync import DaemonExecutor
from orchestrator.persistence import Store
from orchestrator.serving import pages, run_api
from orchestrator.serving.live.event_feed import EventFeed
from orchestrator.serving.live.run_sessions import RunBuilder, RunSessions
from orchestrator.serving.request_guard import RequestGuard, ServerOptions
from orchestrator.serving.responses import FOLDER, KNOWN_ERRORS, answer_error
from orchestrator.serving.run_service import ServerContext, watch_deadlines


def build_app(store: Store, builder: RunBuilder, options: ServerOptions | None = None) -> FastAPI:
    """Builds the application that shows the runs of a store, and executes runs.

    Args:
        store: The store, which stays open while the application serves.
        builder: Builds the orchestrators; ``OneOrchestrator`` has one for all runs.
        options: Who may reach it. Default: programs and browsers on this machine.
    """
    chosen = options or ServerOptions()
    feed = EventFeed(store.history)
    sessions = RunSessions(builder, feed)
    app = FastAPI(
        title="plan-execute-monitor",
        lifespan=_live,
        docs_url=None,  # its page loads scripts from another site
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.context = ServerContext(store.history, store.saver, chosen, builder, feed, sessions)
    for router in (pages.router, run_api.router):
        app.include_router(router)
    styles: list[str | tuple[str, str]] = [("evaluation", "reporting/static")]  # of the reports
    app.mount("/static", StaticFiles(directory=FOLDER / "static", packages=styles))
    for error in KNOWN_ERRORS:
        app.add_exception_handler(error, answer_error)
    app.add_middleware(RequestGuard, options=chosen)
    return app


@asynccontextmanager
async def _live(app: FastAPI) -> AsyncIterator[None]:
    context: ServerContext = app.state.context
    # A thread for each call: agents may block, and the end of the server does not wait for them.
    asyncio.get_running_loop().set_default_executor(DaemonExecutor())
    context.sessions.open()
    watch = None if context.options.read_only else asyncio.create_task(watch_deadlines(context))
    yield
    if watch is not None:
        watch.cancel()
    await context.sessions.close()
