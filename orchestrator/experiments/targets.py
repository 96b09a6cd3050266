"""What executes a case: a function, an orchestrator, or the orchestrator of a model."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.rate_limiters import InMemoryRateLimiter

from agents import load_model
from evaluation import run_from_state
from evaluation.evalset.task_case import TaskCase
from evaluation.importers.langchain import dump_messages
from evaluation.sensitive.quoting import describe_raised
from evaluation.validation.json_data import copy_json
from evaluation.values import as_object
from orchestrator.engine import LangGraphOrchestrator

Target: TypeAlias = Callable[[TaskCase], object]
"""Executes a case; returns the output as a text, an ``agent_run``, or the state of an orchestrator's run."""


def build_target(value: Any, calls_per_second: float | None = None) -> Target:  # noqa: ANN401 - the user's
    """Builds a target of an orchestrator, of a function of the task, or of a factory of either.

    Args:
        value: An object with ``run(task)``; a function with one argument, the task, which may be async; or a
            function without arguments that returns one of these, and is called for each execution.
        calls_per_second: The greatest rate of executions; None for any.

    Raises:
        TypeError: It is none of these.
    """
    if not (callable(value) or callable(getattr(value, "run", None))):
        raise TypeError(f"it is a {type(value).__name__}; give a function of the task, or an orchestrator")
    limiter = _limit_rate(calls_per_second)

    def execute(case: TaskCase) -> object:
        if limiter is not None:
            limiter.acquire()
        return _call(value, case.task)

    return execute


def build_model_target(spec: str, calls_per_second: float | None = None) -> Target:
    """Builds a target that executes each case by an orchestrator of its own, under the contract of the case.

    Args:
        spec: The specification of the model.
        calls_per_second: The greatest rate of calls of the model; None for any.

    Raises:
        ModelSpecError: The specification names no model.
        ModelSetupError: The model cannot be loaded.
    """
    model = load_limited_model(spec, calls_per_second)

    def execute(case: TaskCase) -> object:
        return LangGraphOrchestrator.from_model(model, contract=case).run(case.task)

    return execute


def execute_case(target: Target, case: TaskCase) -> dict[str, object]:
    """Executes a case and returns its ``agent_run``; an exception is the error of the run."""
    start = time.monotonic()
    try:
        run = read_output(target(case))
    except BaseException as error:  # noqa: BLE001 - the user's code
        run = {"error": describe_raised(error)}
    latency_ms = 1000 * (time.monotonic() - start)
    return {"input": case.task, "latency_ms": latency_ms, **run}


def load_limited_model(spec: str, calls_per_second: float | None) -> BaseChatModel:
    """Loads a model that is called at most at a rate; raises as ``build_model_target`` does."""
    model, limiter = load_model(spec), _limit_rate(calls_per_second)
    return model if limiter is None else model.model_copy(update={"rate_limiter": limiter})


def _limit_rate(calls_per_second: float | None) -> InMemoryRateLimiter | None:
    """Returns a limiter of a rate; None for any rate."""
    if calls_per_second is None:
        return None
    return InMemoryRateLimiter(requests_per_second=calls_per_second, check_every_n_seconds=0.02)


def _call(value: Any, task: str) -> object:  # noqa: ANN401 - as above
    if not isinstance(value, type) and callable(run := getattr(value, "run", None)):
        return run(task)
    if _takes_nothing(value):
        return _call(value(), task)
    result = value(task)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


def _takes_nothing(value: Callable[..., object]) -> bool:
    try:
        return not inspect.signature(value).parameters
    except ValueError:  # a built-in class, such as str
        return False


def read_output(value: object) -> dict[str, object]:
    """Returns the ``agent_run`` of what a target returned.

    Raises:
        TypeError: It is no text, ``agent_run`` or state, or has values that are not JSON.
    """
    if isinstance(value, str):
        value = {"final_output": value}
    if not isinstance(value, Mapping):
        raise TypeError(f"a run is given as a {type(value).__name__}; give a text, an agent_run, or a state")
    if {"plan", "results", "status"} <= value.keys():
        return dict(run_from_state(value))
    messages = {"messages": dump_messages(value["messages"])} if "messages" in value else {}
    if (copied := copy_json({**value, **messages})) is None:
        raise TypeError(
            "a run is given with values that are not JSON; give texts, numbers, lists and objects"
        )
    return as_object(copied[0])
