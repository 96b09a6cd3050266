"""Checks the agents and the hooks of an orchestrator before anything runs."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.errors import ConfigurationError
from orchestrator.runtime.agent_methods import (
    DOCUMENTED,
    InvokableCompressor,
    RunnableCompressor,
    bind_documented,
    choose_compression,
    choose_method,
    has_own,
)
from orchestrator.state.plain_values import format_repr


def check_hooks(hooks: object) -> None:
    """Checks that the hooks are a sequence of callables.

    Raises:
        ConfigurationError: They are not a sequence, or an item is not callable.
    """
    if not isinstance(hooks, Sequence) or not all(callable(hook) for hook in hooks):
        raise ConfigurationError(
            f"hooks is {format_repr(hooks, 80)}; give a sequence of callables, such as (print,)"
        )


def check_agents(planner: object, executor: object, monitor: object, compressor: object) -> None:
    """Checks that each agent has the method of its role and can be called with the documented arguments.

    Raises:
        ConfigurationError: The method is missing, or does not take these arguments.
    """
    _check_method("planner", planner, "generate_plan")
    _check_method("executor", executor, "execute_step")
    for name in ("correct_step", "synthesize"):
        if has_own(executor, name):
            _check_method("executor", executor, name)
    _check_method("monitor", monitor, "evaluate")
    if compressor is not None:
        _check_compressor(compressor)


def _check_compressor(compressor: object) -> None:
    if not isinstance(compressor, InvokableCompressor | RunnableCompressor):
        raise ConfigurationError(
            f"compressor is a {type(compressor).__name__} with neither invoke(text) nor _run(text); "
            "give one that has either, or None"
        )
    _check_method("compressor", compressor, choose_compression(compressor))


def _check_method(role: str, agent: object, method: str) -> None:
    if not callable(getattr(agent, method, None)):
        raise ConfigurationError(
            f"{role} ({type(agent).__name__}) has no method {method}(); give an object that has it"
        )
    called = choose_method(agent, method)
    try:
        bind_documented(getattr(agent, called), method)
    except (TypeError, ValueError) as error:
        by_position, by_name = DOCUMENTED[method]
        call = ", ".join((*by_position, *(f"{name}=..." for name in by_name)))
        raise ConfigurationError(
            f"{role} is a {type(agent).__name__} whose {called}() cannot be called as {called}({call}): "
            f"{error}; give it these parameters"
        ) from None
