"""The agent that breaks a task into an ordered list of steps."""

from __future__ import annotations

import logging
from typing import Final

from agents import prompts
from agents.base import DEFAULT_RETRY, BaseAgent
from agents.errors import PlanError
from agents.models.model_call import Model
from agents.models.server_errors import TransportRetry
from agents.parsing.plans import DATA, NO_LIST, read_plan
from agents.parsing.thoughts import remove_thoughts
from agents.reply_types import DEFAULT_MAX_STEPS, Unreadable, plan_schema
from agents.sync import Conversation, awaited, blocking

_log: Final = logging.getLogger(__name__)


class PlanningAgent(BaseAgent):
    """Breaks a task into steps.

    Args:
        llm: Any LangChain chat model.
        system_prompt: Replaces the built-in instructions.
        max_steps: Maximum number of steps in the schema. A model without schema support may exceed it.
        transport_retry: Retries after transient errors of the model's server.
    """

    instructions = prompts.PLANNING

    def __init__(
        self,
        llm: Model,
        system_prompt: str | None = None,
        *,
        max_steps: int = DEFAULT_MAX_STEPS,
        transport_retry: TransportRetry = DEFAULT_RETRY,
    ) -> None:
        super().__init__(llm, system_prompt, transport_retry=transport_retry)
        self._schema = plan_schema(max_steps)

    def _generate_plan(self, task: str) -> Conversation[list[str]]:
        """Plans ``task``.

        A reply without a list becomes one step with its text, and a tool call or other data becomes one step
        with the task; both are logged as a WARNING. JSON without its end and a reply with several plans are
        no plan: the model is asked once more. It is also asked once more to write a plan alone that has other
        words around it, which may take it back.

        Returns:
            The steps in order; an empty list if the model's plan is empty.

        Raises:
            PlanError: The model gave no plan twice.
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: The server refused the request.
        """
        request = prompts.plan_request(task)
        reply = yield from self._ask(request, self._schema)
        steps = read_plan(reply)
        if isinstance(steps, Unreadable) and steps.reason not in (NO_LIST, DATA):
            _log.warning("the reply of %d characters is no plan: %s", len(reply), steps.reason)
            reply = yield from self._ask(prompts.repeat_plan_request(request, steps.reason), self._schema)
            steps = read_plan(reply, is_repeated=True)
        return _choose_steps(task, reply, steps)

    generate_plan, agenerate_plan = blocking(_generate_plan), awaited(_generate_plan)


def _choose_steps(task: str, reply: str, steps: list[str] | Unreadable) -> list[str]:
    if not isinstance(steps, Unreadable):
        return steps
    if steps.reason not in (NO_LIST, DATA):
        raise PlanError(
            f"the planner's model wrote no plan, twice: {steps.reason}; give another model, or allow this "
            f"one more tokens; its last reply begins with {reply[:80]!r}"
        )
    if steps.reason == DATA:
        _log.warning("the reply is data and no plan; the whole task becomes one step")
        return [task]
    text = remove_thoughts(reply)
    _log.warning("the plan is not a list; the reply of %d characters becomes one step", len(text))
    return [text] if text else []
