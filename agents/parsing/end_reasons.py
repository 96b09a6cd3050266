"""Why a reply ended, as providers, LangChain and its streams report it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

_NAMES: Final = ("stop_reason", "finish_reason", "done_reason", "stopReason", "finishReason", "status")
"""Where providers and LangChain write why a message ended."""
_REASONS: Final = {
    "limit": (
        "length", "max_tokens", "max_output_tokens", "token_limit", "error_limit",
        "model_context_window_exceeded",
    ),
    "block": (
        "content_filter", "content_filtered", "guardrail_intervened", "safety", "recitation", "blocklist",
        "prohibited_content", "spii", "error_toxic", "model_armor", "blocked", "refusal",
    ),
    "other": (
        "pause_turn", "incomplete", "in_progress", "queued", "error", "failed", "timeout", "time_limit",
        "cancelled", "abort", "malformed_function_call", "insufficient_system_resource",
    ),
}  # fmt: skip
"""Source: the reference of each provider; any other reason counts as an end."""


def find_cut_off(report: Mapping[str, object]) -> str | None:
    """Returns the reason why a reply is not a whole answer; None if it is.

    Args:
        report: What a provider reports, or a message with its content.
    """
    return next((reason for reason in _list_reasons(report) if _find_kind(reason) is not None), None)


def find_message_cut_off(message: BaseMessage) -> str | None:
    """Returns the reason why a reply of a model is not a whole answer; None if it is."""
    return find_cut_off({
        **message.additional_kwargs, **message.response_metadata, "content": message.content,
    })  # fmt: skip


def is_token_limit(reason: str) -> bool:
    """Checks whether a reply was cut off because it reached a limit of tokens."""
    return _find_kind(reason) == "limit"


def is_blocked(reason: str) -> bool:
    """Checks whether the provider blocked a reply or its prompt, or the model refused to answer."""
    return _find_kind(reason) == "block"


def _find_kind(reason: str) -> str | None:
    # Gemini writes FinishReason.MAX_TOKENS; a stream that repeats the reason is joined to "lengthlength".
    word = reason.strip().lower().replace("-", "_")
    return next((kind for kind, words in _REASONS.items() if word.endswith(words)), None)


def _list_reasons(report: Mapping[str, object]) -> Iterator[str]:
    details, feedback = report.get("incomplete_details"), report.get("prompt_feedback")
    # OpenAI's Responses API says more than its status, "incomplete".
    if isinstance(details, Mapping):
        yield str(details.get("reason"))
    yield from (str(report.get(name, "")) for name in _NAMES)
    content = report.get("content")
    if report.get("refusal") or any(map(_is_refusal, content if isinstance(content, list) else [])):
        yield "refusal"
    if isinstance(feedback, Mapping) and feedback.get("block_reason"):
        yield "prompt_blocked"


def _is_refusal(part: object) -> bool:
    """Checks whether a part of a content is a refusal. LangChain wraps a part that it does not know."""
    if not isinstance(part, Mapping):
        return False
    return bool(part.get("refusal")) or part.get("type") == "refusal" or _is_refusal(part.get("value"))
