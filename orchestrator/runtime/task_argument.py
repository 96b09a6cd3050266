"""Passes the task and the form of the output to agents: by their optional arguments, or in their texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agents.models.chat_options import Sampling
from agents.prompts import add_schema, fence_text, find_boundary
from orchestrator.runtime.agent_methods import AgentMethod, bind_method, has_own

Schema = Mapping[str, object] | None
_HEADER: Final = "the whole task; carry out the current step only"
_ANSWER: Final = "Write the final answer to this task, from the results so far:"


def bind_execution(executor: object, name: str = "execute_step") -> AgentMethod[object]:
    """Returns an awaitable method of an executor that also takes ``task``, ``schema`` and ``sampling``.

    An executor whose method has no argument ``task`` gets it as a header of its context. One without
    ``schema`` gets the JSON Schema of its output at the end of the step. One without ``sampling`` keeps the
    model, the temperature and the seed of its own. ``name`` is the method: "execute_step", "correct_step" or
    "commit_step".
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
        context = context if "task" in method.takes else add_header(context, task)
        return await method(step, *args, context=context, task=task, schema=schema, sampling=sampling)

    return execute


def can_change_model(executor: object) -> bool:
    """Checks whether an executor takes the model of a call."""
    return "sampling" in bind_method(executor, "execute_step").takes


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


def add_header(context: str, task: str) -> str:
    """Returns the context after the task, which is fenced; the context alone if there is no task."""
    if not task:
        return context
    header = fence_text(_HEADER, task, find_boundary(context, task))
    return f"{header}\n\n{context}" if context else header
