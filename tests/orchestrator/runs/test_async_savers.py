"""LangGraph's own async savers keep runs, too, within the event loop that opened them."""

from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from tests.orchestrator.runs.test_runs import APPROVE, asking


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.thorough)])
def opened(request, tmp_path):
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None

    @asynccontextmanager
    async def opening():
        file = str(tmp_path / "runs.sqlite")
        made = (
            AsyncSqliteSaver.from_conn_string(file)
            if url is None
            else AsyncPostgresSaver.from_conn_string(url)
        )
        async with made as saver:
            await saver.setup()
            yield SimpleNamespace(saver=saver)

    return opening


async def test_a_question_is_answered_later(opened):
    async with opened() as store:
        waiting = await asking(store).arun("x", "thread")
    ends = []
    for _ in range(2):
        async with opened() as store:
            ends.append((await asking(store).aresume("thread", APPROVE))["status"])

    assert (waiting["question"]["step"], ends) == ("one", ["executing", "success"])
