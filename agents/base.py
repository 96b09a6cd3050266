"""What all agents share: a chat model, a system prompt, a name."""

from __future__ import annotations

from typing import Final

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from agents import prompts
from agents.calls.conversation import (
    Conversation,
    Model,
    ModelCall,
    arun_conversation,
    ask_model,
    reply_text,
    run_conversation,
)
from agents.contracts import JsonSchema
from agents.models.transport_retry import TransportRetry
from agents.parsing.objects import remove_thoughts

DEFAULT_RETRY: Final = TransportRetry()


class BaseAgent:
    """A chat model with a role.

    Args:
        llm: Any LangChain chat model.
        system_prompt: The role, sent as it is: braces and the like have no meaning in it.
        agent_name: How logs name the agent.
        transport_retry: How passing faults of the model's server are met.

    Raises:
        TypeError: ``llm`` is no LangChain model.
    """

    def __init__(
        self,
        llm: Model,
        system_prompt: str = prompts.ASSISTANT,
        agent_name: str = "BaseAgent",
        *,
        transport_retry: TransportRetry = DEFAULT_RETRY,
    ) -> None:
        if not isinstance(llm, Runnable):
            raise TypeError(
                f"llm is {llm!r:.80}; give a LangChain chat model, for instance agents.load_model('local')"
            )
        self.llm = llm
        self.system_prompt = system_prompt
        self.agent_name = agent_name
        self.transport_retry = transport_retry

    def invoke(self, user_input: str) -> str:
        """Send one message and return the reply's text.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: It refused for good.
        """
        return run_conversation(self._ask(user_input))

    async def ainvoke(self, user_input: str) -> str:
        """Like ``invoke``, without blocking the event loop."""
        return await arun_conversation(self._ask(user_input))

    def _ask(self, user_input: str, schema: JsonSchema | None = None) -> Conversation[str]:
        call = ModelCall(self.llm, self._messages(user_input), self.transport_retry, schema)
        text = reply_text((yield from ask_model(call)))
        return text if schema else remove_thoughts(text)

    def _messages(self, user_input: str) -> list[BaseMessage]:
        return [SystemMessage(self.system_prompt), HumanMessage(user_input)]
