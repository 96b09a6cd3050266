"""The tokens that a model's server reports, where they are counts at all: some servers send null, or text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, LLMResult

_MOST: Final = 2**40
"""No call has so many; a store of 64-bit numbers still holds the sum of millions of calls below it."""


def tokens_of(response: LLMResult) -> UsageMetadata | None:
    """What a reply reports; None where it reports nothing, or what cannot be a number of tokens."""
    usage = next(_reports(response), None)
    if usage is None:
        return None
    return _counts(usage.get("input_tokens"), usage.get("output_tokens"), usage.get("total_tokens"))


def tokens_of_error(error: BaseException) -> UsageMetadata | None:
    """The same of a reply that a client raises instead, as OpenAI's does at the token limit."""
    usage = getattr(getattr(error, "completion", None), "usage", None)
    names = "prompt_tokens", "completion_tokens", "total_tokens"
    return _counts(*(getattr(usage, name, None) for name in names))


def _reports(response: LLMResult) -> Iterator[UsageMetadata]:
    for generations in response.generations:
        for generation in generations:
            message = generation.message if isinstance(generation, ChatGeneration) else None
            if isinstance(message, AIMessage) and message.usage_metadata is not None:
                yield message.usage_metadata


def _counts(sent: object, received: object, total: object) -> UsageMetadata | None:
    counts = [count for count in (sent, received, total) if type(count) is int and 0 <= count < _MOST]
    if len(counts) < len((sent, received, total)):
        return None
    return UsageMetadata(input_tokens=counts[0], output_tokens=counts[1], total_tokens=counts[2])
