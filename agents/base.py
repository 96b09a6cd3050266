"""The base class of all agents: a chat model with a system prompt and a name."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from agents import prompts
from agents.models.model_call import Model, Sampling, answer_text, call_model, reply_text
from agents.models.server_errors import TransportRetry
from agents.parsing.end_reasons import find_message_cut_off, is_token_limit
from agents.reply_types import JsonSchema
from agents.sync import Conversation, arun_conversation, call_either, run_conversation, run_in_thread

_log: Final = logging.getLogger(__name__)
DEFAULT_RETRY: Final = TransportRetry()


class BaseAgent:
    """A chat model with a role.

    Args:
        llm: Any LangChain chat model.
        system_prompt: The role. It is sent unchanged and may contain braces.
        agent_name: The name for messages and traces. Default: the name of the class.
        transport_retry: Retries after transient errors of the model's server.

    Raises:
        TypeError: ``llm`` is not a LangChain model.
    """

    instructions: ClassVar[str] = prompts.ASSISTANT
    """The role by default."""

    def __init__(
        self,
        llm: Model,
        system_prompt: str | None = None,
        agent_name: str | None = None,
        *,
        transport_retry: TransportRetry = DEFAULT_RETRY,
    ) -> None:
        if not isinstance(llm, Runnable):
            raise TypeError(
                f"llm is {llm!r:.80}; give a LangChain chat model, for instance agents.load_model('local')"
            )
        self.llm = llm
        self.system_prompt = system_prompt or self.instructions
        self.agent_name = agent_name or type(self).__name__
        self.transport_retry = transport_retry

    def invoke(self, user_input: str) -> str:
        """Sends one message and returns the text of the reply; an empty one if the provider blocked it.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: The server refused the request.
        """
        return run_conversation(self._ask_model(user_input))

    async def ainvoke(self, user_input: str) -> str:
        """Like ``invoke``, without blocking the event loop."""
        return await arun_conversation(self._ask_model(user_input))

    def _ask_model(self, user_input: str, schema: JsonSchema | None = None) -> Conversation[str]:
        return self._read_text((yield from self._call(self._messages(user_input), schema)), schema)

    def _ask(self, user_input: str, schema: JsonSchema | None = None) -> Conversation[str]:
        if overrides_invoke(self):
            answer = yield call_either(self.invoke, partial(ainvoke_override, self), user_input)
            return str(AIMessage(answer).text)
        return (yield from self._ask_model(user_input, schema))

    def _read_text(self, reply: BaseMessage, schema: JsonSchema | None = None) -> str:
        reason = find_message_cut_off(reply)
        if reason is not None and not is_token_limit(reason):
            _log.warning(
                "%s got no answer from its model: the reply was cut off (%s)", self.agent_name, reason
            )
            return ""
        # With a schema, the reader of the reply removes the thoughts itself: it has to see where they end.
        return reply_text(reply) if schema else answer_text(reply)

    def _call(
        self,
        messages: Sequence[BaseMessage],
        schema: JsonSchema | None = None,
        sampling: Sampling | None = None,
    ) -> Conversation[BaseMessage]:
        model = self.llm if sampling is None else sampling.model or self.llm
        return (yield from call_model(model, messages, self.transport_retry, schema, sampling))

    def _messages(self, user_input: str) -> list[BaseMessage]:
        return [SystemMessage(self.system_prompt), HumanMessage(user_input)]


def overrides_invoke(agent: BaseAgent) -> bool:
    """Returns whether a subclass, or the object itself, has its own way to the model."""
    own = {"invoke", "ainvoke"} & {*vars(agent)}
    kind = type(agent)
    return bool(own) or kind.invoke is not BaseAgent.invoke or kind.ainvoke is not BaseAgent.ainvoke


async def ainvoke_override(agent: BaseAgent, user_input: str) -> str:
    """Calls the override: ``ainvoke`` if the agent has its own, else ``invoke`` in a thread."""
    if "ainvoke" in vars(agent) or type(agent).ainvoke is not BaseAgent.ainvoke:
        return await agent.ainvoke(user_input)
    return await run_in_thread(partial(agent.invoke, user_input))
