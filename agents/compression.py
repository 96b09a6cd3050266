"""Shortens the context of a long run."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from langchain_core.tools import BaseTool
from pydantic import Field

from agents import prompts
from agents.base import DEFAULT_RETRY, BaseAgent
from agents.models.model_call import Conversation, Model, arun_conversation, run_conversation
from agents.models.transport_retry import TransportRetry

_BLOCK_START: Final = re.compile(r"(?m)^(?=Step \d+:)")
_NOTE: Final = re.compile(r"\[(\d{1,9}) earlier results? left out to save space\]\s*")
_GAP: Final = "\n\n"
_WORD: Final = re.compile(r"\w{3,}")


class CompressContextTool(BaseTool):
    """Shortens a context without a model: keeps whole results and notes how many it left out.

    It keeps the newest result first, then the results that share most words with the task. A short text is
    returned unchanged. The result never exceeds ``max_length`` characters.
    """

    name: str = "compress_context"
    description: str = "Shortens the results so far to a bounded length."
    max_length: int = Field(default=4000, ge=200)

    def compress(self, text: str, task: str = "") -> str:
        """Shortens ``text`` and keeps the parts that matter for ``task``."""
        if len(text or "") <= self.max_length:
            return text or ""
        note = _NOTE.match(text)
        left_out, start = (int(note[1]), note.end()) if note else (0, 0)
        blocks = [block for part in _BLOCK_START.split(text[start:]) if (block := part.strip())]
        return _fit_blocks(blocks, _words(task), self.max_length, left_out) if blocks else ""

    def _run(self, text: str) -> str:
        return self.compress(text)


class SummarizingCompressor(BaseAgent):
    """Shortens a context with a model; falls back to ``CompressContextTool`` if the summary is too long.

    Args:
        llm: Any LangChain chat model.
        max_length: Maximum length of the result in characters. A shorter text is returned unchanged.
        system_prompt: Replaces the built-in instructions.
        transport_retry: Retries after transient errors of the model's server.
    """

    instructions = prompts.COMPRESSION

    def __init__(
        self,
        llm: Model,
        max_length: int = 4000,
        system_prompt: str | None = None,
        *,
        transport_retry: TransportRetry = DEFAULT_RETRY,
    ) -> None:
        super().__init__(llm, system_prompt, transport_retry=transport_retry)
        self._cut = CompressContextTool(max_length=max_length)

    def invoke(self, user_input: str) -> str:
        """Shortens a context; raises as ``BaseAgent.invoke`` does."""
        return self.compress(user_input)

    async def ainvoke(self, user_input: str) -> str:
        """Like ``invoke``, without blocking the event loop."""
        return await self.acompress(user_input)

    def compress(self, text: str, task: str = "") -> str:
        """Shortens ``text`` and keeps the parts that matter for ``task``."""
        return run_conversation(self._summarize(text, task))

    async def acompress(self, text: str, task: str = "") -> str:
        """Like ``compress``, without blocking the event loop."""
        return await arun_conversation(self._summarize(text, task))

    def _summarize(self, text: str, task: str) -> Conversation[str]:
        if len(text or "") <= self._cut.max_length:
            return text or ""
        summary = yield from self._ask_model(prompts.summary_request(text, task, self._cut.max_length))
        return summary if 0 < len(summary) <= self._cut.max_length else self._cut.compress(text, task)


def _fit_blocks(blocks: Sequence[str], task_words: frozenset[str], limit: int, left_out: int) -> str:
    """Chooses whole blocks by rank until the limit, and joins them in their original order."""
    # The newest result is never left out: the next step most likely builds on it.
    newest = len(blocks) - 1
    ranks = {at: (len(task_words & _words(block)), at) for at, block in enumerate(blocks[:newest])}
    chosen = {newest}
    for at in sorted(ranks, key=ranks.__getitem__, reverse=True):
        if len(_join_blocks(blocks, {*chosen, at}, left_out)) <= limit:
            chosen.add(at)
    text = _join_blocks(blocks, chosen, left_out)
    return text if len(text) <= limit else _shorten_block(blocks[-1], limit, left_out + newest)


def _join_blocks(blocks: Sequence[str], chosen: Collection[int], left_out: int) -> str:
    left_out += len(blocks) - len(chosen)
    parts = [block for at, block in enumerate(blocks) if at in chosen]
    return _GAP.join([_format_note(left_out), *parts] if left_out else parts)


def _shorten_block(text: str, limit: int, left_out: int) -> str:
    """Keeps the beginning and the end of a block that is too long by itself."""
    note = f"{_format_note(left_out)}{_GAP}" if left_out else ""
    gap = f"\n[... {len(text)} characters in all, the middle left out ...]\n"
    room = max(0, limit - len(note) - len(gap))
    head = room - room // 2
    return f"{note}{text[:head]}{gap}{text[len(text) - room // 2 :]}"


def _format_note(left_out: int) -> str:
    return f"[{left_out} earlier result{'s' if left_out > 1 else ''} left out to save space]"


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))
