"""Checks the arguments of an orchestrator and of its runs before anything runs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import cast

from langchain_core.runnables import RunnableConfig

from orchestrator.errors import ConfigurationError
from orchestrator.runtime.agent_methods import can_correct, can_synthesize, choose_compression, choose_method
from orchestrator.runtime.protocols import InvokableCompressor, RunnableCompressor
from orchestrator.state.plain_values import format_repr, plain_text, read_text


def check_task(task: object) -> str:
    """Returns the task as plain text.

    Raises:
        ConfigurationError: The task is not text, or nothing but white space.
    """
    text = read_text(task)
    if text is None or not text.strip():
        raise ConfigurationError(f"task is {format_repr(task, 80)}; give a text that says what to do")
    return text


def check_thread_id(thread_id: object) -> None:
    """Checks the name of a thread; None is accepted.

    Raises:
        ConfigurationError: It is not text, it is empty, or a store cannot hold it.
    """
    if thread_id is not None and (not isinstance(thread_id, str) or not thread_id.strip()):
        raise ConfigurationError(f"thread_id is {format_repr(thread_id, 80)}; give a text that is not blank")
    # SQLite cuts a text at NUL and refuses lone surrogates; PostgreSQL refuses both.
    if isinstance(thread_id, str) and ("\0" in thread_id or plain_text(thread_id) != thread_id):
        raise ConfigurationError(
            f"thread_id is {format_repr(thread_id, 80)}, which no database can hold; "
            "give one without NUL and surrogates"
        )


def check_config(config: object) -> RunnableConfig:
    """Returns LangChain's config, or an empty one for None.

    Raises:
        ConfigurationError: It is not a dict, or it names a checkpoint.
    """
    if config is None:
        return RunnableConfig()
    if not isinstance(config, Mapping):
        raise ConfigurationError(
            f"config is {format_repr(config, 80)}; give a dict of LangChain's keys, such as "
            "{'callbacks': [handler], 'tags': ['nightly']}"
        )
    configurable = config.get("configurable") or {}
    if names := sorted({"checkpoint_id", "checkpoint_ns"} & set(configurable)):
        raise ConfigurationError(f"config['configurable'] names {names[0]}; use fork to go back in a run")
    return cast("RunnableConfig", {**config, "configurable": dict(configurable)})


def check_replace(replace: object) -> None:
    """Checks that ``replace`` is True or False: another value could replace a run by mistake.

    Raises:
        ConfigurationError: It is neither.
    """
    if not isinstance(replace, bool):
        raise ConfigurationError(f"replace is {format_repr(replace, 80)}; give True or False")


def check_hooks(hooks: object) -> None:
    """Checks that the hooks are a sequence of callables.

    Raises:
        ConfigurationError: They are not a sequence, or an item is not callable.
    """
    if not isinstance(hooks, Sequence) or not all(callable(hook) for hook in hooks):
        raise ConfigurationError(
            f"hooks is {format_repr(hooks, 80)}; give a sequence of callables, such as (print,)"
        )


def check_agents(planner: object, executor: object, monitor: object) -> None:
    """Checks that each agent has the method of its role and can be called with the documented arguments.

    Raises:
        ConfigurationError: The method is missing, or does not take these arguments.
    """
    _check_method("planner", planner, "generate_plan", "task")
    _check_method("executor", executor, "execute_step", "step", context="context")
    if can_correct(executor):
        _check_method("executor", executor, "correct_step", "step", "output", "feedback", context="context")
    if can_synthesize(executor):
        _check_method("executor", executor, "synthesize", "task", "results")
    _check_method("monitor", monitor, "evaluate", "objective", "result")


def check_compressor(compressor: object) -> None:
    """Checks that a compressor has one of its documented methods and takes the documented arguments.

    Raises:
        ConfigurationError: It has neither ``invoke`` nor ``_run``, or its method takes other arguments.
    """
    if compressor is None:
        return
    if not isinstance(compressor, InvokableCompressor | RunnableCompressor):
        raise ConfigurationError(
            f"compressor is a {type(compressor).__name__} with neither invoke(text) nor _run(text); "
            "give one that has either, or None"
        )
    name = choose_compression(compressor)
    _check_method("compressor", compressor, name, *(("text", "task") if name == "compress" else ("text",)))


def _check_method(role: str, agent: object, method: str, *args: str, **kwargs: str) -> None:
    if not callable(getattr(agent, method, None)):
        raise ConfigurationError(
            f"{role} ({type(agent).__name__}) has no method {method}(); give an object that has it"
        )
    called = choose_method(agent, method)
    try:
        # Not the signature of a wrapped function: a decorator may add or remove arguments.
        inspect.signature(getattr(agent, called), follow_wrapped=False).bind(*args, **kwargs)
    except (TypeError, ValueError) as error:
        call = ", ".join((*args, *(f"{name}=..." for name in kwargs)))
        raise ConfigurationError(
            f"{role} is a {type(agent).__name__} whose {called}() cannot be called as {called}({call}): "
            f"{error}; give it these parameters"
        ) from None
