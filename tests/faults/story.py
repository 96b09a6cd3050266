"""A run that can be told: whoever takes part decides by the text and the attempt alone.

So a run that was disturbed has to end as one that was not. A plan is in two parts: the last step of the first
is hopeless, so that the rest is planned again.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from langchain_core.runnables.config import ensure_config
from langgraph.checkpoint.base import BaseCheckpointSaver

from orchestrator import LangGraphOrchestrator, RetryPolicy
from orchestrator.state.graph_state import OrchestratorState

THREAD = "story"
APPROVE = {"answer": "approve", "answered_by": "the test"}
Plan = Sequence[object]


@dataclass(frozen=True)
class Story:
    """What is planned at first, and after its last step proved hopeless."""

    task: str
    first: Plan
    second: Plan


_SECOND = 101
"""The first row of the second part."""
_ANSWER = 1001
"""The row of the answer, which is refused once."""


def row_of(step: str) -> int:
    """A step is begun only when all rows before its own are done."""
    if step in STORIES:
        return _ANSWER
    # A commitment after a correction sees the correction below the step.
    return int(step.splitlines()[0].rsplit(maxsplit=1)[-1])


def _in_a_row(*kinds: str, first: int = 1) -> Plan:
    return [f"{kind} step in row {row}" for row, kind in enumerate(kinds, first)]


SHORT = Story(
    "short",
    _in_a_row("refused", "corrected", "asked", "hopeless"),
    _in_a_row("plain", "refused", "asked", "supervised", first=_SECOND),
)
"""Eight steps, with all that can happen to one."""

_ROUND = ("plain", "refused", "supervised", "corrected", "plain", "refused supervised")
LONG = Story(
    "long",
    _in_a_row(*_ROUND * 4, "asked", "hopeless"),
    _in_a_row("plain", *_ROUND * 3, "asked", *["plain", "refused"] * 2, first=_SECOND),
)
"""Fifty steps."""
ANSWER = Story("answer", _in_a_row("plain", "plain"), [])
"""Two steps, so that most writes are of the answer."""
STORIES = {story.task: story for story in (SHORT, LONG, ANSWER)}


def execution(step: str, attempt: int) -> str:
    """Its name, by which a log and a store mean the same."""
    return f"{step}, attempt {attempt}"


@dataclass(frozen=True)
class Log:
    """What was really done, whatever a store says. A line outlives its process as soon as it is written."""

    file: Path

    def called(self, what: str, step: str, attempt: int, **more: object) -> None:
        """Log the call of an agent."""
        self.write({"what": what, "step": step, "attempt": attempt, **more})

    def write(self, line: Mapping[str, object]) -> None:
        opened = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(opened, (json.dumps(line) + "\n").encode())
        finally:
            os.close(opened)

    def lines(self) -> list[str]:
        return self.file.read_text().splitlines() if self.file.exists() else []


class Planner:
    def __init__(self, story: Story) -> None:
        self.story = story

    async def generate_plan(self, task: str) -> Plan:
        return self.story.second if "tried, and failed" in task else self.story.first


class Executor:
    """Says in each output which attempt it was, by which everyone knows what to make of it."""

    def __init__(self, log: Log) -> None:
        self.log = log

    async def commit_step(self, step: str, context: str = "") -> Mapping[str, object]:
        self.log.called("commit", step, 1)
        return {"interpretation": f"do {step}", "scope_in": [step]}

    async def execute_step(self, step: str, context: str = "") -> str:
        return self._done(step, 1, context)

    async def correct_step(self, step: str, previous: str, feedback: str, context: str = "") -> str:
        return self._done(step, attempt_of(previous) + 1, context)

    async def synthesize(self, task: str, results: str) -> str:
        attempt = len(re.findall(rf"\b{task}, attempt", results)) + 1
        return self._done(task, attempt, results)

    async def assess_step(self, step: str, commitment: object, output: str) -> Mapping[str, object]:
        self.log.called("assess", step, attempt_of(output))
        return {"met_commitment": not (attempt_of(output) == 1 and ("corrected" in step or "asked" in step))}

    def _done(self, instruction: str, attempt: int, context: str) -> str:
        step = instruction.split("\n", maxsplit=1)[0]
        self.log.called("execute", step, attempt, key=ensure_config()["configurable"]["idempotency_key"])
        return f"{execution(step, attempt)}, after {context.count('Result: ')} results"


class Monitor:
    """A plain one, so that threads are in play."""

    def __init__(self, log: Log) -> None:
        self.log = log

    def evaluate(self, objective: str, result: str) -> Mapping[str, object]:
        attempt = attempt_of(result)
        self.log.called("evaluate", objective, attempt)
        refused_once = "refused" in objective or objective in STORIES
        refused = "hopeless" in objective or (refused_once and attempt == 1)
        return {"success": not refused, "feedback": f"not attempt {attempt}" if refused else "good"}


class Supervisor:
    def __init__(self, log: Log) -> None:
        self.log = log

    def reconcile(self, commitment: object, assessment: Mapping[str, object], findings: list[str]) -> object:
        triggers = [*findings, *([] if assessment["met_commitment"] else ["missed"])]
        return {"triggers": triggers, "escalate": bool(triggers)}

    async def supervise(self, request: Mapping[str, object]) -> Mapping[str, object]:
        objective, attempt = str(request["objective"]), attempt_of(str(request["output"]))
        self.log.called("supervise", objective, attempt)
        if "asked" in objective:
            return {"verdict": "ask_human", "question": "Is it right?"}
        return {"verdict": "reorient", "correction": "be brief"}


_ALONE = re.compile("(plain|refused|hopeless) step")


def attempt_of(output: str) -> int:
    found = re.search(r", attempt (\d+)", output)
    assert found is not None, output
    return int(found[1])


def build(story: Story, log: Log, saver: BaseCheckpointSaver[str]) -> LangGraphOrchestrator:
    return LangGraphOrchestrator(
        Planner(story),
        Executor(log),
        Monitor(log),
        max_retries=1,
        retry_policy=RetryPolicy(max_replans=1),
        supervision=lambda step, _: "none" if _ALONE.match(step) else "llm",
        supervisor=Supervisor(log),
        checkpointer=saver,
    )


def told(orchestrator: LangGraphOrchestrator, story: Story, *, begun: bool) -> OrchestratorState:
    """Tell a story to its end, or the rest of it; the person who is asked approves at once."""
    state = orchestrator.resume(THREAD) if begun else orchestrator.run(story.task, THREAD)
    while state["question"] is not None and state["status"] == "executing":
        state = orchestrator.resume(THREAD, APPROVE)
    return state
