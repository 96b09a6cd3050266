"""Why a reply ended, as providers, LangChain and its streams report it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

_NAMES: Final = ("stop_reason", "finish_reason", "done_reason", "stopReason", "finishReason", "status")
"""Where providers and LangChain write why a message ended."""
_REFUSAL: Final = "refusal"
_PROMPT_BLOCKED: Final = "prompt_blocked"
_TOKEN_LIMITS: Final = (
    "length", "max_tokens", "max_output_tokens", "token_limit", "error_limit",
    "model_context_window_exceeded",
)  # fmt: skip
_BLOCKS: Final = (
    "content_filter", "content_filtered", "guardrail_intervened", "safety", "recitation", "blocklist",
    "prohibited_content", "spii", "error_toxic", "model_armor", "blocked", _REFUSAL, _PROMPT_BLOCKED,
)  # fmt: skip
_OTHERS: Final = (
    "pause_turn", "incomplete", "in_progress", "error", "failed", "timeout", "time_limit", "cancelled",
    "abort", "malformed_function_call", "insufficient_system_resource",
)  # fmt: skip
"""Source: the reference of each provider; any other reason counts as an end."""


def find_cut_off(report: Mapping[str, object]) -> str | None:
    """Returns the reason why a reply is not a whole answer; None if it is.

    Args:
        report: What a provider reports, or a message with its content.
    """
    known = (*_TOKEN_LIMITS, *_BLOCKS, *_OTHERS)
    return next((reason for reason in _list_reasons(report) if _ends_with(reason, known)), None)


def find_message_cut_off(message: BaseMessage) -> str | None:
    """Returns the reason why a reply of a model is not a whole answer; None if it is."""
    return find_cut_off({
        **message.additional_kwargs, **message.response_metadata, "content": message.content,
    })  # fmt: skip


def is_token_limit(reason: str) -> bool:
    """Checks whether a reply was cut off because it reached a limit of tokens."""
    return _ends_with(reason, _TOKEN_LIMITS)


def is_blocked(reason: str) -> bool:
    """Checks whether the provider blocked a reply or its prompt, or the model refused to answer."""
    return _ends_with(reason, _BLOCKS)


def _list_reasons(report: Mapping[str, object]) -> Iterator[str]:
    # OpenAI's Responses API says more than its status, "incomplete".
    yield _read_inner(report, "incomplete_details", "reason")
    yield from (str(report.get(name, "")) for name in _NAMES)
    if report.get(_REFUSAL) or any(map(_is_refusal, _list_parts(report.get("content")))):
        yield _REFUSAL
    if _read_inner(report, "prompt_feedback", "block_reason"):
        yield _PROMPT_BLOCKED


def _read_inner(report: Mapping[str, object], name: str, key: str) -> str:
    inner = report.get(name)
    return str(inner.get(key) or "") if isinstance(inner, Mapping) else ""


def _list_parts(content: object) -> list[object]:
    return content if isinstance(content, list) else []


def _is_refusal(part: object) -> bool:
    """Checks whether a part of a content is a refusal. LangChain wraps a part that it does not know."""
    if not isinstance(part, Mapping):
        return False
    return bool(part.get(_REFUSAL)) or part.get("type") == _REFUSAL or _is_refusal(part.get("value"))


def _ends_with(reason: str, known: tuple[str, ...]) -> bool:
    # Gemini writes FinishReason.MAX_TOKENS; a stream that repeats the reason is joined to "lengthlength".
    return reason.strip().lower().replace("-", "_").endswith(known)
