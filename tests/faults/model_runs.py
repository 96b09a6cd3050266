"""Runs on a model's server that fails: what has to become of each is foretold, and compared."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

from langchain_core.language_models import BaseChatModel

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent, load_model
from agents.models.transport_retry import TransportRetry
from orchestrator import Budget, LangGraphOrchestrator
from orchestrator.state.graph_state import OrchestratorState
from tests.faults.model_server import HARMLESS, Fault, Line, ModelServer, Script, closed_port, serving
from tests.faults.tally import Tally

ATTEMPTS = 3
NEVER_MENDED = 10_000
RETRY = TransportRetry(max_attempts=ATTEMPTS, initial_seconds=0.0, max_seconds=0.01)
_CALL_S, _RUN_S = 10.0, 300.0
_AT_ONCE = 6
_LASTING = frozenset({Fault.PAGE, Fault.GARBLED})
_RARE = frozenset({Fault.HUGE, Fault.HANGING})
_CAUSES: Mapping[Fault, str] = {
    Fault.REFUSED: "no Ollama server answers at",
    Fault.RESET: "ReadError|WriteError",
    Fault.HANGING: "gave no answer in time: raise call_timeout",
    Fault.BUSY: "too many requests .*429",
    Fault.FAILING: "the model crashed .*500",
    Fault.BROKEN_OFF: "RemoteProtocolError.*peer closed connection",
    Fault.CUT_SHORT: "the reply ended before the server said that it was done",
    Fault.ERROR_WITHIN: "the runner has ended unexpectedly",
    Fault.HALF: "JSONDecodeError",
    Fault.NOTHING: "No data received",
    Fault.PAGE: "sent no reply of a chat model",
    Fault.GARBLED: "sent no reply of a chat model",
}
_KINDS = {"plan": "planner_error", "execute": "executor_error", "judge": "needs_review"}
Trouble = tuple[Fault, int] | None


@dataclass(frozen=True)
class Course:
    """A run that is to come.

    Attributes:
        seed: By which it was made.
        steps: Of its plan.
        troubles: What comes before each answer.
        calls: That it may make; None for as many as it needs.
    """

    seed: int
    steps: int
    troubles: list[Trouble]
    calls: int | None


@dataclass(frozen=True)
class Fate:
    """How a run has to end: its failure's kind and a pattern of its cause, calls, executions, repeats."""

    failure: str | None
    cause: str
    calls: int
    executions: int


def made(seed: int) -> Course:
    """A course of faults by chance."""
    chance = random.Random(seed)
    steps = chance.randint(1, 3)
    troubles = [_trouble(chance) for _ in range(1 + 2 * steps)]
    return Course(seed, steps, troubles, chance.randint(1, 8) if chance.random() < 0.2 else None)


def _trouble(chance: random.Random) -> Trouble:
    if chance.random() < 0.45:
        return None
    fault = chance.choice([fault for fault in Fault if fault not in _RARE or chance.random() < 0.3])
    return fault, NEVER_MENDED if chance.random() < 0.15 else chance.randint(1, ATTEMPTS - 1)


def foretold(course: Course) -> Fate:
    """How a run has to end, by what is documented."""
    calls = executions = 0
    roles = ["plan", *["execute", "judge"] * course.steps]
    for role, trouble in zip(roles, course.troubles, strict=True):
        executions += role == "execute"
        fault, times = trouble or (Fault.HUGE, 0)
        needed, stands = _needed(fault, times)
        if course.calls is not None and calls + needed > course.calls:
            return Fate("budget_exceeded", "max_model_calls", course.calls, executions)
        calls += needed
        if not stands:
            lasting = fault in _LASTING and role == "judge"
            return Fate("monitor_error" if lasting else _KINDS[role], _CAUSES[fault], calls, executions)
    return Fate(None, "", calls, executions)


def _needed(fault: Fault, times: int) -> tuple[int, bool]:
    """The calls for an answer, and whether it comes."""
    if fault in HARMLESS:
        return 1, True
    if fault in _LASTING:
        return 1, False
    return min(times + 1, ATTEMPTS), times < ATTEMPTS


def failing(fault: str, courses: Iterable[Course]) -> Tally:
    """Make these runs, a few at a time."""
    with serving() as server, closed_port() as port:
        return replace(asyncio.run(_all(server, port, list(courses))), fault=fault)


async def _all(server: ModelServer, port: int, courses: Sequence[Course]) -> Tally:
    turns = asyncio.Semaphore(_AT_ONCE)

    async def one(course: Course) -> Tally:
        async with turns:
            return await _run(server, port, course)

    return reduce(add, await asyncio.gather(*map(one, courses)))


async def _run(server: ModelServer, port: int, course: Course) -> Tally:
    script = Script(course.troubles, lambda asked: answer(asked, course.steps))
    llm = model_of(server, port, script, f"run{course.seed}", _CALL_S)
    orchestrator = orchestrator_of(llm, Budget(max_seconds=_RUN_S, max_model_calls=course.calls))
    async with asyncio.timeout(_RUN_S):
        state = await orchestrator.arun("the task")
    harm = list(_harm(state, script, foretold(course)))
    if harm:
        print(f"seed {course.seed}: {', '.join(text for _, text in harm)}: {state['failure']}")  # noqa: T201
    found = [field for field, _ in harm]
    return Tally("", 1, found.count("lost"), found.count("twice"), found.count("wrong"))


def model_of(server: ModelServer, port: int, script: Script, name: str, call_s: float) -> BaseChatModel:
    """The chat model of a user's, whose server follows a script.

    Args:
        server: Answers it.
        port: At which nothing listens.
        script: What happens to its calls.
        name: Of the model, by which the server knows the script.
        call_s: Seconds that its client waits.
    """
    server.scripts[name] = script
    return load_model(
        f"ollama:{name}",
        base_url=server.url,
        client_kwargs={"timeout": call_s, "verify": False, "trust_env": False},  # no certificates to load
        async_client_kwargs={"transport": Line(script, port)},
    )


def orchestrator_of(llm: BaseChatModel, budget: Budget, **settings: float) -> LangGraphOrchestrator:
    """An orchestrator all of whose agents call the same model."""
    agents = (kind(llm, transport_retry=RETRY) for kind in (PlanningAgent, ExecutionAgent, MonitoringAgent))
    return LangGraphOrchestrator(*agents, budget=budget, synthesis=False, **settings)


def answer(asked: Mapping[str, object], steps: int) -> str:
    """What a model says that plans so many steps, does each and approves of it."""
    wanted = asked.get("format")
    if not isinstance(wanted, dict):
        return "it is done"
    if "plan" in wanted["properties"]:
        return json.dumps({"plan": [f"step {number}" for number in range(steps)]})
    return json.dumps({"feedback": "as it should be", "success": True})


def _harm(state: OrchestratorState, script: Script, fate: Fate) -> Iterator[tuple[str, str]]:
    """What is otherwise than foretold, by the column of the table."""
    failure, results = state["failure"], state["results"]
    if len(results) < fate.executions:
        yield "lost", "an execution is missing"
    if [record["attempt"] for record in results] != [1] * fate.executions:
        yield "twice", "a fault used an attempt"
    if script.calls != fate.calls:
        yield "twice", f"{script.calls} calls, and not {fate.calls}"
    if (failure and failure["kind"]) != fate.failure or not re.search(
        fate.cause, failure["message"] if failure else ""
    ):
        yield "wrong", f"not {fate.failure} ({fate.cause})"
    if state["usage"]["model_calls"] != script.calls:
        yield "wrong", f"{state['usage']['model_calls']} calls recorded"
