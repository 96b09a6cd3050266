"""A scripted chat model for tests, without a server or patches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from pydantic import Field, PrivateAttr

Reply = str | AIMessage | Exception
Script = Iterable[Reply] | Callable[[list[BaseMessage]], Reply]


class ScriptedChatModel(BaseChatModel):
    """A chat model that answers from a script.

    Args:
        script: The replies in order (a text, a message, or an exception to raise), or a function from the
            prompt to a reply. After the last reply, a call raises AssertionError with the beginning of its
            prompt. A list starts again in a new process; to test ``resume`` there,
            give a function, which answers from the prompt alone, or the replies that are still to come.
        usage: Input and output tokens that each reply reports. Default: none.

    Attributes:
        prompts: The prompts that the model received, in order.
        tools: The names of the tools that were bound last.
        temperature: The temperature that the next call is made with.
        seed: The seed that the next call is made with.
        samplings: Temperature and seed of each call, in order.
    """

    temperature: float | None = None
    seed: int | None = None
    samplings: list[tuple[float | None, int | None]] = Field(default_factory=list)
    usage: tuple[int, int] | None = None
    prompts: list[list[BaseMessage]] = Field(default_factory=list)
    tools: list[str] = Field(default_factory=list)
    _answer: Callable[[list[BaseMessage]], Reply | None] = PrivateAttr()
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, script: Script, usage: tuple[int, int] | None = None) -> None:
        super().__init__()
        self.usage = usage
        self._answer = script if callable(script) else _in_order(script)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def _identifying_params(self) -> dict[str, object]:
        # By these, a cache tells apart what is asked of the model.
        return {"temperature": self.temperature, "seed": self.seed}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - the base class calls with it
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: object,  # noqa: ARG002
    ) -> ChatResult:
        with self._lock:
            self.prompts.append(list(messages))
            self.samplings.append((self.temperature, self.seed))
            reply = self._ask(messages)
        if isinstance(reply, Exception):
            raise reply
        message = reply if isinstance(reply, AIMessage) else AIMessage(reply)
        if self.usage is not None and message.usage_metadata is None:
            sent, received = self.usage
            usage = UsageMetadata(input_tokens=sent, output_tokens=received, total_tokens=sent + received)
            message = message.model_copy(update={"usage_metadata": usage})
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _ask(self, messages: list[BaseMessage]) -> Reply:
        reply = self._answer(messages)
        if reply is not None:
            return reply
        first = f"{messages[0].text.partition('.')[0][:80]!r} asks: {messages[-1].text[:200]!r}"
        raise AssertionError(f"the script has run out at call {len(self.prompts)}, where {first}")

    def bind_tools(
        self,
        tools: Sequence[dict[str, object] | type | Callable[..., object] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: object,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Accepts any tools. The script decides whether they are called."""
        self.tools[:] = [tool.name for tool in tools if isinstance(tool, BaseTool)]
        return self.bind(tool_choice=tool_choice, **kwargs)


def _in_order(replies: Iterable[Reply]) -> Callable[[list[BaseMessage]], Reply | None]:
    remaining = iter(list(replies))
    return lambda _messages: next(remaining, None)
