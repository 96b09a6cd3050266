"""Builds the web application of a store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from agents.sync import DaemonExecutor
from orchestrator.persistence import Store
from orchestrator.serving import evaluation_routes, form_pages, run_api, run_pages
from orchestrator.serving.http_problems import KNOWN_ERRORS, answer_error
from orchestrator.serving.live.event_feed import EventFeed
from orchestrator.serving.live.run_builders import RunBuilder
from orchestrator.serving.live.run_sessions import RunSessions
from orchestrator.serving.page_templates import FOLDER
from orchestrator.serving.request_guard import RequestGuard
from orchestrator.serving.run_changes import watch_deadlines
from orchestrator.serving.server_context import ServerContext
from orchestrator.serving.server_options import ServerOptions
from orchestrator.serving.views.inbox import Inbox


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
    inbox = Inbox(store.history, builder)
    app.state.context = ServerContext(store.history, store.saver, chosen, builder, inbox, feed, sessions)
    for router in (form_pages.router, run_pages.router, run_api.router, evaluation_routes.router):
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
