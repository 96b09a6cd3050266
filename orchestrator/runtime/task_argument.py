"""Passes the task and the form of the output to agents: by their optional arguments, or in their texts."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Final

from agents.models.sampling import Sampling
from agents.prompts import add_schema, fence_text, find_boundary
from orchestrator.runtime.agent_methods import (
    AgentMethod,
    bind_method,
    can_correct,
    can_synthesize,
    choose_method,
)

Schema = Mapping[str, object] | None
_HEADER: Final = "the whole task; carry out the current step only"
_ANSWER: Final = "Write the final answer to this task, from the results so far:"


def bind_execution(executor: object, name: str = "execute_step") -> AgentMethod[object]:
    """Returns an awaitable method of an executor that also takes ``task``, ``schema`` and ``sampling``.

    An executor whose method has no argument ``task`` gets it as a header of its context. One without
    ``schema`` gets the JSON Schema of its output at the end of the step. One without ``sampling`` keeps the
    model, the temperature and the seed of its own.
    """
    method = bind_method(executor, name)
    texts = ("step", "output", "feedback")[: 1 if name == "execute_step" else 3]
    takes_task = accepts_argument(executor, name, "task", *texts, context="")
    takes_schema = accepts_argument(executor, name, "schema", *texts, context="")
    takes_sampling = accepts_argument(executor, name, "sampling", *texts, context="")

    async def execute(
        step: str,
        *args: str,
        context: str,
        task: str = "",
        schema: Schema = None,
        sampling: Sampling | None = None,
    ) -> object:
        passed: dict[str, object] = {"context": context if takes_task else add_header(context, task)}
        if takes_task and task:
            passed["task"] = task
        if takes_schema and schema:
            passed["schema"] = schema
        if takes_sampling and sampling:
            passed["sampling"] = sampling
        return await method(step if takes_schema else add_schema(step, schema), *args, **passed)

    return execute


def can_change_model(executor: object) -> bool:
    """Checks whether an executor takes the model of a call."""
    return accepts_argument(executor, "execute_step", "sampling", "step", context="")


def bind_correction(executor: object) -> AgentMethod[object] | None:
    """Returns ``correct_step`` as ``bind_execution`` does; None if the executor has none."""
    return bind_execution(executor, "correct_step") if can_correct(executor) else None


def bind_synthesis(executor: object) -> AgentMethod[object]:
    """Returns an awaitable function of the task and the results that writes the final answer.

    An executor without ``synthesize`` carries out an instruction to write it.
    """
    has_method = can_synthesize(executor)
    method = bind_method(executor, "synthesize") if has_method else bind_execution(executor)

    takes_schema = has_method and accepts_argument(executor, "synthesize", "schema", "task", "results")
    takes_sampling = has_method and accepts_argument(executor, "synthesize", "sampling", "task", "results")

    async def write_answer(
        request: str,
        context: str,
        task: str = "",  # noqa: ARG001 - as execute
        schema: Schema = None,
        sampling: Sampling | None = None,
    ) -> object:
        if not has_method:
            return await method(f"{_ANSWER}\n{request}", context=context, schema=schema, sampling=sampling)
        passed: dict[str, object] = {}
        if takes_schema and schema:
            passed["schema"] = schema
        if takes_sampling and sampling:
            passed["sampling"] = sampling
        return await method(request if takes_schema else add_schema(request, schema), context, **passed)

    return write_answer


def bind_commitment(executor: object) -> AgentMethod[object]:
    """Returns an awaitable ``commit_step`` that also takes ``task``, which may go into its context."""
    method = bind_method(executor, "commit_step")
    takes_task = accepts_argument(executor, "commit_step", "task", "step", context="")

    async def commit(step: str, context: str, task: str) -> object:
        if takes_task and task:
            return await method(step, context=context, task=task)
        return await method(step, context=add_header(context, task))

    return commit


def bind_assessment(executor: object) -> AgentMethod[object]:
    """Returns an awaitable ``assess_step`` that also takes ``task``, dropped if the executor does not."""
    return _bind_optional_task(executor, "assess_step", "step", "commitment", "output")


def bind_monitor(monitor: object) -> AgentMethod[object]:
    """Returns an awaitable ``evaluate`` that also takes ``task``, and drops it if the monitor does not."""
    return _bind_optional_task(monitor, "evaluate", "objective", "result")


def _bind_optional_task(agent: object, name: str, *names: str) -> AgentMethod[object]:
    method = bind_method(agent, name)
    takes_task = accepts_argument(agent, name, "task", *names)

    async def call(*args: object, task: str = "") -> object:
        return await (method(*args, task=task) if takes_task and task else method(*args))

    return call


def accepts_argument(agent: object, name: str, added: str, *args: str, **kwargs: str) -> bool:
    """Checks whether the method that is called takes one more keyword than the documented arguments."""
    try:
        # Not the signature of a wrapped function: a decorator may add or remove arguments.
        signature = inspect.signature(getattr(agent, choose_method(agent, name)), follow_wrapped=False)
        # An argument "task" may also be the first one, under another name than ours.
        signature.bind(*args, **kwargs, **{added: ""})
    except (TypeError, ValueError):
        return False
    # By name: a function with ``**kwargs`` may hand them to one that does not know the argument.
    return added in signature.parameters


def add_header(context: str, task: str) -> str:
    """Returns the context after the task, which is fenced; the context alone if there is no task."""
    if not task:
        return context
    header = fence_text(_HEADER, task, find_boundary(context, task))
    return f"{header}\n\n{context}" if context else header
