"""Why a reply ended, as providers, LangChain and its streams report it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evaluation.values import as_object

_NAMES: Final = ("stop_reason", "finish_reason", "done_reason", "stopReason", "finishReason", "status")
"""Where providers and LangChain write why a message ended."""
_TOKEN_LIMITS: Final = (
    "length", "max_tokens", "max_output_tokens", "token_limit", "error_limit",
    "model_context_window_exceeded",
)  # fmt: skip
_OTHERS: Final = (
    "pause_turn", "content_filter", "content_filtered", "guardrail_intervened", "incomplete", "in_progress",
    "error", "failed", "timeout", "time_limit", "cancelled", "safety", "recitation", "blocklist",
    "prohibited_content", "spii", "malformed_function_call",
)  # fmt: skip
"""Source: the reference of each provider; any other reason counts as an end."""


def find_cut_off(metadata: Mapping[str, object]) -> str | None:
    """Return the reason why a provider cut a reply off, from what it reports; None if it did not."""
    known = (*_TOKEN_LIMITS, *_OTHERS)
    return next((reason for reason in _list_reasons(metadata) if _ends_with(reason, known)), None)


def is_token_limit(reason: str) -> bool:
    """Return whether a reply was cut off because it reached a limit of tokens."""
    return _ends_with(reason, _TOKEN_LIMITS)


def _list_reasons(metadata: Mapping[str, object]) -> Iterator[str]:
    # OpenAI's Responses API says more than its status, "incomplete".
    details = as_object(metadata.get("incomplete_details"))
    yield str(details.get("reason", ""))
    yield from (str(metadata.get(name, "")) for name in _NAMES)


def _ends_with(reason: str, known: tuple[str, ...]) -> bool:
    # Gemini writes FinishReason.MAX_TOKENS; a stream that repeats the reason is joined to "lengthlength".
    return reason.strip().lower().endswith(known)
