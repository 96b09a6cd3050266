"""Processes in which a story is told, and that die on the way."""

import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import StateSnapshot

from orchestrator import LangGraphOrchestrator
from orchestrator.graph.build import ThreadedSaver
from orchestrator.persistence import open_store
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import Attempt
from tests.faults.story import STORIES, THREAD, Log, build, execution, told

CONFIG = RunnableConfig(configurable={"thread_id": THREAD})
KILLED = -signal.SIGKILL
FINISH_S = 120.0
# Never by a fork of the test's own process, which has threads.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.faults.preloaded"])


@dataclass(frozen=True)
class Place:
    """Where a story is kept: its store, and a folder with the log of what was done and where it died."""

    store: str
    folder: Path

    @property
    def log(self) -> Log:
        return Log(self.folder / "log")

    @property
    def deaths(self) -> Path:
        return self.folder / "deaths"

    @property
    def error(self) -> Path:
        return self.folder / "error"


class Places(Protocol):
    def __call__(self) -> Place: ...


class MortalSaver(ThreadedSaver[str]):
    """Stands for a store that is opened later, so that an orchestrator can be built before its process is.

    It may kill its process before and after every write, once each.
    """

    def __init__(self) -> None:
        super().__init__(InMemorySaver())
        self._deaths = Path("unused")
        self._every: int | None = None

    def begin(self, saver: BaseCheckpointSaver[str], deaths: Path, every: int | None) -> None:
        """Stand for a store; ``every`` leaves out all deaths but every n-th, None all of them."""
        super().__init__(saver)
        self._deaths, self._every = deaths, every

    async def aput(self, config, checkpoint, metadata, new_versions):
        # A checkpoint that is tried again has another id, and the same parent.
        parent = config["configurable"]
        name = f"put {parent['checkpoint_ns']} {parent.get('checkpoint_id')} {metadata['step']}"
        self.die_once(f"before {name}")
        put = await super().aput(config, checkpoint, metadata, new_versions)
        self.die_once(f"after {name}")
        return put

    async def aput_writes(self, config, writes, task_id, task_path=""):
        name = f"writes {config['configurable']['checkpoint_id']} {task_id} {[name for name, _ in writes]}"
        self.die_once(f"before {name}")
        await super().aput_writes(config, writes, task_id, task_path)
        self.die_once(f"after {name}")

    def die_once(self, moment: str) -> None:
        """Kill the process at this moment, unless it was killed there before."""
        if self._every is None:
            return
        lived = self._deaths.read_text().splitlines() if self._deaths.exists() else []
        if moment in lived:
            return
        with self._deaths.open("a") as deaths:
            deaths.write(f"{moment}\n")
        if len(lived) % self._every == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def kept(snapshot: StateSnapshot) -> Iterator[Attempt]:
    yield from snapshot.values.get("results", ())
    yield from snapshot.values.get("synthesis", ())


def settled(records: Iterable[Attempt]) -> dict[str, bool]:
    """By execution, whether all was said of it; where it is there twice, at least once."""
    said: dict[str, bool] = {}
    for one in records:
        name = execution(one["step"], one["attempt"])
        said[name] = said.get(name, False) or one["status"] != "pending_validation"
    return said


def go_on(orchestrator: LangGraphOrchestrator, story: str, log: Log) -> OrchestratorState | None:
    """Tell a story to its end from wherever its thread is; what is kept of it until now is logged."""
    snapshot = orchestrator.graph.get_state(CONFIG, subgraphs=True)
    log.write({"what": "kept", "settled": settled(kept(snapshot))})
    begun = "checkpoint_id" in snapshot.config["configurable"]
    if begun and not snapshot.tasks:
        return None
    return told(orchestrator, STORIES[story], begun=begun)


def start(place: Place, story: str, every: int | None = None) -> BaseProcess:
    """Begin to tell a story, or go on with it, in a process of its own.

    Args:
        place: Where it is kept.
        story: Its name.
        every: Die before and after every n-th write that was not died at; None to live.
    """
    child = PROCESSES.Process(target=tell, args=(place, story, every), daemon=True)
    child.start()
    return child


def ended(child: BaseProcess, place: Place) -> bool:
    """Wait for a process; whether it came to the story's end, and was not killed."""
    child.join(FINISH_S)
    code = child.exitcode
    if code is None:
        child.kill()
    if code not in (0, KILLED):
        raise AssertionError(f"{code}: {place.error.read_text() if place.error.exists() else 'it hangs'}")
    return code == 0


def killed_at(child: BaseProcess, log: Log, lines: int, seconds: float) -> None:
    """Kill a process once so many more lines are logged and a while has passed, unless it ends before."""
    size = len(log.lines()) + lines
    while child.is_alive() and len(log.lines()) < size:
        time.sleep(0.005)
    child.join(seconds)
    child.kill()


def prepared(story: str) -> tuple[LangGraphOrchestrator, MortalSaver]:
    """An orchestrator for a process to come, which logs into the folder that it will be in."""
    saver = MortalSaver()
    return build(STORIES[story], Log(Path("log")), saver), saver


def tell(place: Place, story: str, every: int | None) -> None:
    """Tell a story in this process, to its end or death."""
    from tests.faults.preloaded import PREPARED  # noqa: PLC0415 - it imports this

    try:
        os.chdir(place.folder)
        orchestrator, saver = PREPARED[story]
        with open_store(place.store) as store:
            saver.begin(store.saver, place.deaths, every)
            state = go_on(orchestrator, story, place.log)
            if state is not None and state != orchestrator.graph.get_state(CONFIG).values:
                raise AssertionError("what is kept is not what was returned")
    except BaseException:
        place.error.write_text(traceback.format_exc())
        raise
