"""How the agent of the shop is invoked."""

import asyncio

import pytest

from tests.agents.loop.shop import THREAD


@pytest.fixture(params=["sync", "async"])
def invoke(request):
    if request.param == "sync":
        return lambda agent, given, **options: agent.invoke(given, THREAD, **options)
    return lambda agent, given, **options: asyncio.run(agent.ainvoke(given, THREAD, **options))
