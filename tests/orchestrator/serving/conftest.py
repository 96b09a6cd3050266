"""A server over a store of its own, in this process."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
import uvicorn

from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import Store, open_store
from orchestrator.serving import OneOrchestrator, ServerOptions, build_app
from tests.fakes.runs import call

GOOD = '{"success": true, "feedback": "good"}'
ADDRESS = "http://127.0.0.1:8321"


class Client(httpx.AsyncClient):
    """A browser without scripts: it sends the address of the page with each form."""

    store: Store

    async def send_form(self, path: str, **fields: object) -> httpx.Response:
        return await self.post(path, data=fields, headers={"Origin": ADDRESS})


class Elsewhere(OneOrchestrator):
    """Cannot build the runs of the store again."""

    def find_problem(self, thread_id: str) -> str:
        return f"its tools are missing; type: orchestrator resume {thread_id}"


def send(to: str) -> str:
    """Send an invitation."""
    return f"sent to {to}"


def invite(*names: str) -> list[object]:
    """The replies of a run that calls the tool for each name."""
    calls = [call("send", to=name) for name in names]
    return ['{"plan": ["Invite them"]}', *calls, "They are invited.", *[GOOD] * 9]


@pytest.fixture
def store(tmp_path) -> Any:
    with open_store(tmp_path / "runs.sqlite") as opened:
        yield opened


@pytest.fixture
def build(store) -> Callable[..., LangGraphOrchestrator]:
    """Build an orchestrator over the store, from the replies of its model."""

    def make(*replies: object, **options: object) -> LangGraphOrchestrator:
        script = replies[0] if replies and callable(replies[0]) else list(replies)
        defaults = {"planning": "always", "checkpointer": store}
        return LangGraphOrchestrator.from_model(ScriptedChatModel(script), **{**defaults, **options})

    return make


@pytest.fixture
async def serve(store) -> AsyncIterator[Callable[..., Any]]:
    """Serve the store with an orchestrator: `client = await serve(orchestrator, token=...)`."""
    async with AsyncExitStack() as stack:

        async def start(orchestrator: LangGraphOrchestrator, **options: object) -> Client:
            builder = orchestrator if hasattr(orchestrator, "open_new") else OneOrchestrator(orchestrator)
            app = build_app(store, builder, ServerOptions(**options))
            await stack.enter_async_context(app.router.lifespan_context(app))
            transport = httpx.ASGITransport(app)
            client = await stack.enter_async_context(Client(transport=transport, base_url=ADDRESS))
            client.store = store
            return client

        yield start


@pytest.fixture
async def listening(store) -> AsyncIterator[Callable[..., Any]]:
    """Serve over a real socket, for streams: `address = await listening(orchestrator)`."""
    running = []

    async def start(orchestrator: LangGraphOrchestrator, **options: object) -> str:
        app = build_app(store, OneOrchestrator(orchestrator), ServerOptions(**options))
        config = uvicorn.Config(app, port=0, log_level="error", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        running.append((server, asyncio.create_task(server._serve())))
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        return f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"

    yield start
    for server, task in running:
        server.should_exit = True
        await task
