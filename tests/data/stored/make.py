"""Makes the file of this version's form: `python -m tests.data.stored.make` from the project's folder.

Run it once, when the version goes up.
"""

import asyncio
import contextlib
import sqlite3
from pathlib import Path

from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import open_store
from orchestrator.state.graph_state import SCHEMA_VERSION
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner
from tests.fakes.supervision import SpeakingExecutor

FOLDER = Path(__file__).parent


class Stopping(FakeExecutor):
    async def execute_step(self, step_description, context=""):
        if step_description == "two":
            await asyncio.sleep(3600)
        return super().execute_step(step_description, context)


def build(saver, executor, **options):
    agents = FakePlanner(["one", "two"]), executor, FakeMonitor(refuse("more"), *[accept()] * 9)
    return LangGraphOrchestrator(*agents, checkpointer=saver, **options)


async def make(path: Path) -> None:
    contract = EvaluationContract(required_content=[{"text": "done"}])
    with open_store(path) as store:
        executor = FakeExecutor("bad", "one done", "two done")
        await build(store.saver, executor, contract=contract).arun("bake bread", "finished")
        await build(store.saver, SpeakingExecutor(), supervision="human").arun("bake cake", "waiting")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(build(store.saver, Stopping()).arun("bake pie", "cut off"), 5)
    connection = sqlite3.connect(path)
    for statement in ("PRAGMA journal_mode=DELETE", "PRAGMA page_size=512", "VACUUM"):
        connection.execute(statement)
    connection.close()


if __name__ == "__main__":
    asyncio.run(make(FOLDER / f"version_{SCHEMA_VERSION}.sqlite"))
