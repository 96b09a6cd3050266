"""Warns if a server may have cut a prompt that was too long for its context."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration

if TYPE_CHECKING:
    from langchain_core.outputs import LLMResult

_log: Final = logging.getLogger(__name__)


class ContextGuard(BaseCallbackHandler):
    """Logs a WARNING if a prompt fills the context.

    Attributes:
        model: The model's name, for the message.
        num_ctx: The size of the context in tokens.
    """

    def __init__(self, model: str, num_ctx: int) -> None:
        """Watches the replies of one model."""
        self.model = model
        self.num_ctx = num_ctx

    def on_llm_end(self, response: LLMResult, **_: object) -> None:
        """Compares the reported number of prompt tokens, if there is one, with the context."""
        for generations in response.generations:
            for generation in generations:
                sent = _prompt_tokens(generation)
                if sent is not None and sent >= self.num_ctx:
                    _log.warning(
                        "the prompt fills the context of %s (%d of num_ctx %d tokens), "
                        "so the server may have cut it; shorten the prompt, or raise num_ctx",
                        self.model,
                        sent,
                        self.num_ctx,
                    )


def _prompt_tokens(generation: object) -> int | None:
    if not isinstance(generation, ChatGeneration) or not isinstance(generation.message, AIMessage):
        return None
    usage = generation.message.usage_metadata
    return usage["input_tokens"] if usage else None
