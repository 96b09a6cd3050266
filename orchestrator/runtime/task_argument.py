"""Passes the task, the form of the output and a model to agents by the optional arguments they take."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from langchain_core.language_models import BaseChatModel

from agents.errors import ModelSetupError, ModelSpecError
from agents.models.chat_options import Sampling
from agents.models.spec import load_model
from agents.prompts import add_schema
from orchestrator.errors import ConfigurationError
from orchestrator.runtime.agent_methods import AgentMethod, bind_method, has_own
from orchestrator.state.plain_values import format_repr

Schema = Mapping[str, object] | None
_ANSWER: Final = "Write the final answer to this task, from the results so far:"


def bind_execution(executor: object, name: str = "execute_step") -> AgentMethod[object]:
    """Returns an awaitable method of an executor that also takes ``task``, ``schema`` and ``sampling``.

    An executor whose method has no argument ``task`` does not get the task: its context is the results so
    far, and nothing else. One without ``schema`` gets the JSON Schema of its output at the end of the step.
    One without ``sampling`` keeps the model, the temperature and the seed of its own. ``name`` is the method:
    "execute_step", "correct_step" or "commit_step".
    """
    method = bind_method(executor, name)

    async def execute(
        step: str,
        *args: str,
        context: str,
        task: str = "",
        schema: Schema = None,
        sampling: Sampling | None = None,
    ) -> object:
        step = step if "schema" in method.takes else add_schema(step, schema)
        return await method(step, *args, context=context, task=task, schema=schema, sampling=sampling)

    return execute


def load_models(
    names: Collection[str], given: Mapping[str, BaseChatModel], executor: object
) -> dict[str, BaseChatModel]:
    """Returns the model of each escalation, by its name in the rules.

    Args:
        names: The models of the rules, by their names or specifications.
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
    if names and "sampling" not in bind_method(executor, "execute_step").takes:
        raise ConfigurationError(
            f"a rule of strategies is escalate, and {type(executor).__name__} keeps its own model; "
            "give an executor whose execute_step takes `sampling`, such as ExecutionAgent"
        )
    try:
        return {name: given[name] if name in given else load_model(name) for name in names}
    except (ModelSetupError, ModelSpecError) as error:
        raise ConfigurationError(f"a rule of strategies escalates to another model: {error}") from None


def bind_correction(executor: object) -> AgentMethod[object] | None:
    """Returns ``correct_step`` as ``bind_execution`` does; None if the executor has none."""
    return bind_execution(executor, "correct_step") if has_own(executor, "correct_step") else None


def bind_synthesis(executor: object) -> AgentMethod[object]:
    """Returns an awaitable function of the task and the results that writes the final answer.

    An executor without ``synthesize`` carries out an instruction to write it.
    """
    if not has_own(executor, "synthesize"):
        execute = bind_execution(executor)

        async def carry_out(request: str, context: str, task: str = "", **options: object) -> object:  # noqa: ARG001 - as execute
            return await execute(f"{_ANSWER}\n{request}", context=context, **options)

        return carry_out
    method = bind_method(executor, "synthesize")

    async def write_answer(
        request: str,
        context: str,
        task: str = "",  # noqa: ARG001 - as execute
        schema: Schema = None,
        sampling: Sampling | None = None,
    ) -> object:
        request = request if "schema" in method.takes else add_schema(request, schema)
        return await method(request, context, schema=schema, sampling=sampling)

    return write_answer
