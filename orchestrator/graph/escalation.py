"""Loads the models that a retry policy escalates to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langchain_core.language_models import BaseChatModel

from agents.errors import ModelSetupError, ModelSpecError
from agents.models.spec import load_model
from orchestrator.errors import ConfigurationError
from orchestrator.retry.rules import BaseRule, EscalateRule
from orchestrator.runtime.task_argument import can_change_model
from orchestrator.state.plain_values import format_repr


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
    _check_models(given)
    names = dict.fromkeys(rule.model for rule in rules if isinstance(rule, EscalateRule))
    if names and not can_change_model(executor):
        raise ConfigurationError(
            f"a rule of strategies is escalate, and {type(executor).__name__} keeps its own model; "
            "give an executor whose execute_step takes `sampling`, such as ExecutionAgent"
        )
    return {name: given[name] if name in given else _load(name) for name in names}


def _load(spec: str) -> BaseChatModel:
    try:
        return load_model(spec)
    except (ModelSetupError, ModelSpecError) as error:
        raise ConfigurationError(
            f"a rule of strategies escalates to {format_repr(spec, 80)}: {error}"
        ) from None


def _check_models(given: Mapping[str, BaseChatModel]) -> None:
    values = given.values() if isinstance(given, Mapping) else (given,)
    wrong = next((value for value in values if not isinstance(value, BaseChatModel)), None)
    if wrong is not None:
        raise ConfigurationError(
            f"models has {format_repr(wrong, 80)}; give LangChain chat models by name, "
            "such as {'strong': llm}"
        )
