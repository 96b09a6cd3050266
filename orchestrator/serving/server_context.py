"""What every route needs: the store, the runs that are executed here, and the options."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

from fastapi import Depends
from starlette.requests import Request

from orchestrator.persistence import History, RunSummary, StoredRun
from orchestrator.runs.run_saver import RunSaver
from orchestrator.serving.http_problems import RequestProblem
from orchestrator.serving.live.event_feed import EventFeed
from orchestrator.serving.live.run_builders import RunBuilder
from orchestrator.serving.live.run_sessions import RunSessions
from orchestrator.serving.server_options import ServerOptions
from orchestrator.serving.views.inbox import Inbox


@dataclass(frozen=True, slots=True)
class ServerContext:
    """The parts of a server.

    Attributes:
        history: The stored runs.
        saver: The saver of the store.
        options: Who may reach the server.
        builder: Builds orchestrators.
        inbox: The open questions.
        feed: The events of the runs.
        sessions: The runs that this process executes.
        starting: Held while a run starts by its key, so that a repeated request meets it.
    """

    history: History
    saver: RunSaver
    options: ServerOptions
    builder: RunBuilder
    inbox: Inbox
    feed: EventFeed
    sessions: RunSessions
    starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    def find_run(self, thread_id: str) -> RunSummary:
        """Returns the summary of a run; raises RequestProblem with 404 if there is none."""
        if (run := self.history.find(thread_id)) is None:
            raise RequestProblem(404, f"there is no run {thread_id!r}; /runs lists the runs")
        return run

    def show_run(self, thread_id: str) -> StoredRun:
        """Returns a run with its state; raises RequestProblem with 404 if there is none."""
        self.find_run(thread_id)
        return self.history.show(thread_id)


def get_context(request: Request) -> ServerContext:
    """Returns the parts of the server that answers a request."""
    context: ServerContext = request.app.state.context
    return context


Context: TypeAlias = Annotated[ServerContext, Depends(get_context)]
