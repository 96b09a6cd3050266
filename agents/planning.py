"""The planner: a task in, an ordered list of steps out."""

from __future__ import annotations

import logging
from typing import Final

from agents import prompts
from agents.base import DEFAULT_RETRY, BaseAgent
from agents.calls.conversation import Conversation, Model, arun_conversation, run_conversation
from agents.contracts import DEFAULT_MAX_STEPS, Unreadable, plan_schema
from agents.models.transport_retry import TransportRetry
from agents.parsing.objects import remove_thoughts
from agents.parsing.plans import read_plan

_log: Final = logging.getLogger(__name__)


class PlanningAgent(BaseAgent):
    """Breaks a task into steps.

    Args:
        llm: Any LangChain chat model.
        system_prompt: Replaces the built-in instructions.
        structured_output: Hold the replies to a JSON schema where the model supports it.
        max_steps: The schema's bound on the plan; a model that is not held to the schema may pass it.
        transport_retry: How passing faults of the model's server are met.
    """

    def __init__(
        self,
        llm: Model,
        system_prompt: str | None = None,
        *,
        structured_output: bool = True,
        max_steps: int = DEFAULT_MAX_STEPS,
        transport_retry: TransportRetry = DEFAULT_RETRY,
    ) -> None:
        super().__init__(
            llm, system_prompt or prompts.PLANNING, "PlanningAgent", transport_retry=transport_retry
        )
        self._schema = plan_schema(max_steps) if structured_output else None

    def generate_plan(self, task: str) -> list[str]:
        """Plan ``task``.

        A reply that holds no list becomes one step with its text, and a WARNING.

        Returns:
            The steps in order; an empty list where the model answered with an empty plan.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: It refused for good.
        """
        return run_conversation(self._plan(task))

    async def agenerate_plan(self, task: str) -> list[str]:
        """Like ``generate_plan``, without blocking the event loop."""
        return await arun_conversation(self._plan(task))

    def _plan(self, task: str) -> Conversation[list[str]]:
        reply = yield from self._ask(prompts.plan_request(task), self._schema)
        steps = read_plan(reply)
        if not isinstance(steps, Unreadable):
            return steps
        text = remove_thoughts(reply)
        _log.warning("the plan is no list; taking the reply as one step: %.200r", text)
        return [text] if text else []
