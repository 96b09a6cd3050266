"""Reads the token counts of model calls, and sums calls to the usage of a step or a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Final

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, LLMResult

from evaluation.importers.end_reasons import find_cut_off
from orchestrator.runtime.budget import ModelPrice
from orchestrator.state.plain_values import plain_text
from orchestrator.state.usage import NO_USAGE, Usage, add_usage

_TOKEN_LIMIT: Final = 2**40
"""Counts from here on are not credible. Below it, a 64-bit column holds the sum of millions of calls."""


_END: Final = 200


@dataclass(frozen=True, slots=True)
class ReplyEnd:
    """How a reply ended.

    Attributes:
        text: Its last words, at most ``_END`` characters.
        cut_off: Why the provider cut it off; None if it did not.
    """

    text: str = ""
    cut_off: str | None = None

    def is_end_of(self, output: str) -> bool:
        """Checks whether an output ends as the reply does: thoughts before it, or a heading, may differ."""
        end = _read_last_words(output)
        return bool(end and self.text) and (end.endswith(self.text) or self.text.endswith(end))


@dataclass(slots=True)
class ModelCall:
    """A call of a model, from its start on.

    Attributes:
        model: Name of the model.
        is_running: Whether it has not ended.
        tokens: The token counts; None until it reports credible ones.
        failed: Whether it ended in an error.
        end: How its reply ended.
    """

    model: str
    is_running: bool = True
    tokens: UsageMetadata | None = None
    failed: bool = False
    end: ReplyEnd = ReplyEnd()


def sum_calls(calls: Iterable[ModelCall], prices: Mapping[str, ModelPrice], latency_ms: float) -> Usage:
    """Sums calls. Tokens and cost are None if one answered call does not report them."""
    total = reduce(add_usage, (_read_usage(call, prices.get(call.model)) for call in calls), NO_USAGE)
    return {**total, "latency_ms": round(latency_ms, 3)}


def _read_usage(call: ModelCall, price: ModelPrice | None) -> Usage:
    usage: Usage = {**NO_USAGE, "model_calls": 1, "failed_model_calls": int(call.failed)}
    if (tokens := call.tokens) is None:
        return usage
    sent, received, total = tokens["input_tokens"], tokens["output_tokens"], tokens["total_tokens"]
    return {
        **usage,
        "input_tokens": sent,
        "output_tokens": received,
        "total_tokens": total,
        "token_source": "measured",
        "cost_usd": None if price is None else price.cost(sent, received),
    }


def read_end(response: LLMResult) -> ReplyEnd:
    """Reads how the reply of a model ended."""
    generations = [generation for batch in response.generations for generation in batch]
    # A model of plain text has no message, and reports the reason beside the text.
    reports = [
        *(reply.response_metadata for reply in _list_replies(response)),
        *(generation.generation_info or {} for generation in generations),
    ]
    text = generations[0].text if generations else ""
    return ReplyEnd(_read_last_words(text), next(filter(None, map(find_cut_off, reports)), None))


def read_error_end(error: BaseException) -> ReplyEnd:
    """Reads how the reply ended that an error contains."""
    choice = next(iter(getattr(getattr(error, "completion", None), "choices", None) or ()), None)
    text = getattr(getattr(choice, "message", None), "content", None)
    return ReplyEnd(
        _read_last_words(text or ""), find_cut_off({"finish_reason": getattr(choice, "finish_reason", "")})
    )


def _read_last_words(text: str) -> str:
    return " ".join(plain_text(text).split())[-_END:]


def _list_replies(response: LLMResult) -> list[AIMessage]:
    generations = [generation for batch in response.generations for generation in batch]
    messages = [item.message for item in generations if isinstance(item, ChatGeneration)]
    return [message for message in messages if isinstance(message, AIMessage)]


def read_tokens(response: LLMResult) -> UsageMetadata | None:
    """Reads the token counts of a reply; None if it has none or they are not credible."""
    reports = [message.usage_metadata for message in _list_replies(response)]
    usage = next((report for report in reports if report is not None), None)
    if usage is None:
        return None
    return _check_counts(usage.get("input_tokens"), usage.get("output_tokens"), usage.get("total_tokens"))


def read_error_tokens(error: BaseException) -> UsageMetadata | None:
    """Reads the token counts of an error that contains a reply; None if it contains none."""
    usage = getattr(getattr(error, "completion", None), "usage", None)
    names = "prompt_tokens", "completion_tokens", "total_tokens"
    return _check_counts(*(getattr(usage, name, None) for name in names))


def _check_counts(*counts: object) -> UsageMetadata | None:
    # Some servers send null, text or negative numbers instead of counts.
    numbers = [count for count in counts if type(count) is int and 0 <= count < _TOKEN_LIMIT]
    if len(numbers) < len(counts):
        return None
    sent, received, total = numbers
    return UsageMetadata(input_tokens=sent, output_tokens=received, total_tokens=total)
