"""Why a reply ended, as providers, LangChain and its streams report it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

_NAMES: Final = ("stop_reason", "finish_reason", "done_reason", "stopReason", "finishReason", "status")
"""Where providers and LangChain write why a message ended."""
_WORDS: Final = 300
"""Number of characters of a refusal that are told."""
_REASONS: Final = {
    "limit": (
        "length", "max_tokens", "max_output_tokens", "token_limit", "error_limit",
        "model_context_window_exceeded",
    ),
    "block": (
        "content_filter", "content_filtered", "guardrail_intervened", "safety", "recitation", "blocklist",
        "prohibited_content", "spii", "error_toxic", "model_armor", "blocked", "refusal",
    ),
    "failure": ("error", "failed", "timeout", "time_limit", "cancelled", "abort"),
    "other": (
        "pause_turn", "incomplete", "in_progress", "queued", "malformed_function_call",
        "insufficient_system_resource",
    ),
}  # fmt: skip
"""Source: the reference of each provider; any other reason counts as an end."""


def find_cut_off(report: Mapping[str, object]) -> str | None:
    """Returns the reason why a reply is not a whole answer, with the words of a refusal; None if it is.

    Args:
        report: What a provider reports, or a message with its content.
    """
    return next((reason for reason in _list_reasons(report) if _find_kind(reason) is not None), None)


def has_end(report: Mapping[str, object]) -> bool:
    """Returns whether a provider says that a reply has ended, for any reason."""
    return report.get("done") is True or any(report.get(name) for name in _NAMES)


def find_message_cut_off(message: BaseMessage) -> str | None:
    """Returns the reason why a reply of a model is not a whole answer; None if it is."""
    return find_cut_off({
        **message.additional_kwargs, **message.response_metadata, "content": message.content,
    })  # fmt: skip


def is_token_limit(reason: str) -> bool:
    """Checks whether a reply was cut off because it reached a limit of tokens."""
    return _find_kind(reason) == "limit"


def is_failure(reason: str) -> bool:
    """Checks whether a reply ended because the provider failed, so that it may be asked for again."""
    return _find_kind(reason) == "failure"


def is_blocked(reason: str) -> bool:
    """Checks whether the provider blocked a reply or its prompt, or the model refused to answer."""
    return _find_kind(reason) == "block"


def _find_kind(reason: str) -> str | None:
    # The most common ends.
    if reason in ("stop", "tool_calls", "end_turn", "tool_use"):
        return None
    # Gemini writes FinishReason.MAX_TOKENS; a stream that repeats the reason is joined to "lengthlength".
    word = reason.partition(":")[0].strip().lower().replace("-", "_")
    return next((kind for kind, words in _REASONS.items() if word.endswith(words)), None)


def _list_reasons(report: Mapping[str, object]) -> Iterator[str]:
    details, feedback = report.get("incomplete_details"), report.get("prompt_feedback")
    if (refusal := read_refusal(report)) is not None:
        yield f"refusal: {refusal}" if refusal else "refusal"
    # OpenAI's Responses API says more than its status, "incomplete".
    if isinstance(details, Mapping):
        yield str(details.get("reason"))
    yield from (str(report[name]) for name in _NAMES if report.get(name))
    if isinstance(feedback, Mapping) and feedback.get("block_reason"):
        yield "prompt_blocked"


def read_refusal(report: Mapping[str, object]) -> str | None:
    """Returns the words in which a model refused to answer, empty for none; None if it did not refuse.

    LangChain wraps a part of a content that it does not know.
    """
    content, refusal = report.get("content"), report.get("refusal")
    if refusal or report.get("type") == "refusal":
        return " ".join(refusal.split())[:_WORDS] if isinstance(refusal, str) else ""
    parts = [*(content if isinstance(content, list) else []), report.get("value")]
    found = (read_refusal(part) for part in parts if isinstance(part, Mapping))
    return next((words for words in found if words is not None), None)
