"""What executes a case: a function, an orchestrator, or the orchestrator of a model."""

from __future__ import annotations

import asyncio
import inspect
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final, TypeAlias, Unpack

from langchain_core.language_models import BaseChatModel

from agents import load_model
from agents.models.model_call import Sampling, apply_sampling
from evaluation import run_from_state
from evaluation.cases.case_files import TaskCase
from evaluation.cases.case_result import CaseResult
from evaluation.importers.imported_message import dump_messages
from evaluation.sensitive.scanner import describe_raised
from evaluation.validation import copy_json
from evaluation.values import as_object
from orchestrator.engine import LangGraphOrchestrator, OrchestratorOptions
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import Store
from orchestrator.state.graph_state import FailureKind, OrchestratorState

Target: TypeAlias = Callable[[TaskCase, int], object]
"""Executes a case, also given the number of the run, from 0; returns the output as a text, an ``agent_run``,
or the state of an orchestrator's run."""


def build_target(value: Any) -> Target:  # noqa: ANN401 - the user's
    """Builds a target of an orchestrator, or of a function of the task.

    Args:
        value: An object with ``run(task)``; or a function with one argument, the task, which may be async.

    Raises:
        TypeError: It is neither.
    """
    if not (callable(value) or callable(getattr(value, "run", None))):
        raise TypeError(f"it is a {type(value).__name__}; give a function of the task, or an orchestrator")
    return lambda case, _: _call(value, case.task)


def run_case(
    model: BaseChatModel,
    case: TaskCase,
    thread_id: str | None = None,
    **options: Unpack[OrchestratorOptions],
) -> OrchestratorState:
    """Runs a case by an orchestrator of its own, under the contract of the case; returns its last state."""
    return LangGraphOrchestrator.from_model(model, contract=case, **options).run(case.task, thread_id)


def execute_case(target: Target, case: TaskCase, trial: int) -> dict[str, object]:
    """Executes a case and returns its ``agent_run``; an exception is the error of the run."""
    start = time.monotonic()
    try:
        run = read_output(target(case, trial))
    except BaseException as error:  # noqa: BLE001 - the user's code
        run = {"error": describe_raised(error)}
    return {"input": case.task, "latency_ms": 1000 * (time.monotonic() - start), **run}


def _call(value: Any, task: str) -> object:  # noqa: ANN401 - as above
    if callable(run := getattr(value, "run", None)):
        return run(task)
    result = value(task)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


def read_output(value: object) -> dict[str, object]:
    """Returns the ``agent_run`` of the value that a target returned.

    Raises:
        TypeError: It is no text, ``agent_run`` or state, or has values that are not JSON.
    """
    if isinstance(value, str):
        value = {"final_output": value}
    if isinstance(value, list):
        value = {"messages": value}
    if not isinstance(value, Mapping):
        given = type(value).__name__
        raise TypeError(f"a run is given as a {given}; give a text, messages, an agent_run, or a state")
    if {"plan", "results", "status"} <= value.keys():
        kind = as_object(value.get("failure")).get("kind")
        return {**run_from_state(value), **({} if kind is None else {"metadata": {"failure": kind}})}
    messages = {"messages": dump_messages(value["messages"])} if "messages" in value else {}
    if (copied := copy_json({**value, **messages})) is None:
        raise TypeError(
            "a run is given with values that are not JSON; give texts, numbers, lists and objects"
        )
    return as_object(copied[0])


NO_ANSWER: Final[frozenset[FailureKind]] = frozenset(
    {"planner_error", "executor_error", "monitor_error", "supervisor_error"}
)
"""Failures that say nothing of a model but that it did not answer."""


def build_arms(models: Sequence[str], store: Store, seed: int) -> dict[str, Target]:
    """Loads every model, before anything is executed.

    Args:
        models: Specifications.
        store: Keeps the runs, so that each can be shown.
        seed: The seed of the first run of each case; the second run has the next one.

    Returns:
        What executes a case, by the specification of its model.

    Raises:
        ConfigurationError: Fewer than two models are given, or one twice.
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded.
    """
    if len({*models}) < max(2, len(models)):
        raise ConfigurationError(
            f"{', '.join(models)} is not a comparison; give at least two different models"
        )
    return {spec: partial(_run_arm, load_model(spec), store, seed) for spec in models}


def _run_arm(model: BaseChatModel, store: Store, seed: int, case: TaskCase, trial: int) -> object:
    thread_id = f"compare-{uuid.uuid4()}"
    sampled = apply_sampling(model, Sampling(seed=seed + trial))
    state = run_case(sampled, case, thread_id, checkpointer=store)
    run, place = read_output(state), {"thread_id": thread_id, "store": store.where}
    return {**run, "metadata": {**as_object(run.get("metadata")), **place}}


NO_VERDICT: Final[frozenset[FailureKind]] = frozenset({"needs_review"})
"""The failure of a run that nothing judged: its judge's reply was cut or unreadable, say."""


def describe_unanswered(
    results: Sequence[CaseResult], kinds: frozenset[FailureKind] = NO_ANSWER, lacked: str = "no answer"
) -> list[str]:
    """Says of each arm how many runs ended because its model did not answer, or because of other failures."""
    failed: dict[str, list[str]] = {}
    for result in results:
        error, known = result.agent_run.get("error"), as_object(result.agent_run.get("metadata"))
        if error is not None and known.get("failure", "executor_error") in kinds:
            failed.setdefault(result.arm, []).append(str(error))
    return [
        f"{arm}: {len(errors)} of {sum(each.arm == arm for each in results)} runs had {lacked}: {errors[0]}"
        for arm, errors in failed.items()
    ]


def import_name(name: str, *folders: Path) -> Any:  # noqa: ANN401 - whatever the user has put there
    """Imports an object. No name that a store, a model or a recorded run states may come here.

    Args:
        name: ``MODULE:NAME``, of an installed package or of a module in one of the folders.
        folders: The folders of the user's modules.

    Raises:
        ValueError: The module or the name does not exist, or the module raises.
    """
    # Last, so that no file of the folder replaces a module of Python or of an installed package.
    sys.path.extend(path for folder in folders if (path := str(folder.absolute())) not in sys.path)
    if ":" not in name:
        raise ValueError(f"{name!r} is not accepted; give MODULE:NAME, such as my_tools:TOOLS")
    try:
        return resolve_name(name)
    except BaseException as error:
        raise ValueError(
            f"{name!r} raised {describe_raised(error)}; give MODULE:NAME, and run the command in the folder "
            "of the module"
        ) from error


_GIVE_APP: Final = (
    "give a function that takes the store and returns a LangGraphOrchestrator with checkpointer=store"
)


def import_orchestrator(name: str, store: Store) -> LangGraphOrchestrator:
    """Imports a function and calls it with the store. No name that a store states may come here.

    Args:
        name: ``MODULE:FUNCTION``, of an installed package or of a module in the working directory.
        store: The store, which the function gives to its orchestrator.

    Raises:
        ConfigurationError: It cannot be imported, raises, or returns no orchestrator that uses the store.
    """
    try:
        made = import_name(name, Path.cwd())(store)
    except BaseException as error:  # the user's code
        problem = f"raised {describe_raised(error)}"
        raise ConfigurationError(f"the app {name!r} {problem}; {_GIVE_APP}") from error
    if isinstance(made, LangGraphOrchestrator) and made.graph.checkpointer is not None:
        return made
    raise ConfigurationError(f"the app {name!r} returned {type(made).__name__}; {_GIVE_APP}")
