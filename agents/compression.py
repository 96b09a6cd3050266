"""Shortens the context of a long run."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from langchain_core.tools import BaseTool
from pydantic import Field

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
