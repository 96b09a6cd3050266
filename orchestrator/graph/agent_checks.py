"""Checks the agents, their models and the hooks of an orchestrator before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langchain_core.language_models import BaseChatModel

from agents.errors import ModelSetupError, ModelSpecError
from agents.models.spec import load_model
from orchestrator.errors import ConfigurationError
from orchestrator.retry.retry_rules import BaseRule, EscalateRule
from orchestrator.runtime.agent_methods import (
    DOCUMENTED,
    InvokableCompressor,
    RunnableCompressor,
    bind_documented,
    choose_compression,
    choose_method,
    has_own,
)
from orchestrator.runtime.task_argument import can_change_model
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
    if compressor is None:
        return
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


def load_models(
    rules: Sequence[BaseRule], given: Mapping[str, BaseChatModel], executor: object
) -> dict[str, BaseChatModel]:
    """Returns the model of each escalation, by its name in the rules.

    Args:
        rules: The rules of the policy.
        given: The caller's models by name; any other name is a specification for ``load_model``.
        executor: Has to take the model of a call.

    Raises:
        ConfigurationError: A model cannot be loaded, is no chat model, or the executor takes none.
    """
    values = given.values() if isinstance(given, Mapping) else (given,)
    wrong = next((value for value in values if not isinstance(value, BaseChatModel)), None)
    if wrong is not None:
        raise ConfigurationError(
            f"models has {format_repr(wrong, 80)}; give LangChain chat models by name, "
            "such as {'strong': llm}"
        )
    names = dict.fromkeys(rule.model for rule in rules if isinstance(rule, EscalateRule))
    if names and not can_change_model(executor):
        raise ConfigurationError(
            f"a rule of strategies is escalate, and {type(executor).__name__} keeps its own model; "
            "give an executor whose execute_step takes `sampling`, such as ExecutionAgent"
        )
    try:
        return {name: given[name] if name in given else load_model(name) for name in names}
    except (ModelSetupError, ModelSpecError) as error:
        raise ConfigurationError(f"a rule of strategies escalates to another model: {error}") from None
