"""Reads a provider's reply and errors: blocked, cut off, or answered, and the tokens used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage

from agents.calls.conversation import reply_text
from agents.calls.structured_output import is_content_filtered
from agents.key_masking import mask_keys, read_secrets
from agents.models.transport_retry import iter_causes
from evaluation.errors import JudgeError
from evaluation.importers.end_reasons import find_cut_off, is_token_limit
from evaluation.values import JsonObject

# The names that OpenAI, Anthropic, Gemini and Bedrock give to a blocked reply.
_BLOCKING: Final = frozenset(
    {
        "content_filter",
        "content_filtered",
        "refusal",
        "safety",
        "prohibited_content",
        "blocklist",
        "spii",
        "recitation",
        "guardrail_intervened",
    }
)
_FINISH_KEYS: Final = ("finish_reason", "stop_reason", "stopReason", "done_reason")


@contextmanager
def judge_errors(llm: object) -> Iterator[None]:
    """Raises a provider's error as a ``JudgeError`` if the request was blocked or the error contains a key.

    Any other error passes unchanged.
    """
    try:
        yield
    except JudgeError:
        raise
    except Exception as error:
        if any(map(is_content_filtered, iter_causes(error))):
            raise JudgeError("the provider blocked the request or its reply", "blocked") from None
        secrets = read_secrets(llm)
        # The cause is dropped as well: a traceback would show its text.
        if any(mask_keys(text, secrets) != text for text in map(str, iter_causes(error))):
            raise JudgeError(f"{type(error).__name__}: {mask_keys(str(error), secrets)}") from None
        raise


def find_block_reason(message: BaseMessage) -> str | None:
    """Says why a reply contains no answer. Returns None if it was answered or cut off."""
    blocking = sorted(_finish_reasons(message) & _BLOCKING)
    if blocking:
        return f"the reply was blocked ({blocking[0]})"
    if _is_refusal(message):
        return "the model refused to answer"
    if _is_prompt_blocked(message.response_metadata):
        return "the prompt was blocked"
    return None if reply_text(message).strip() or is_cut_off(message) else "the reply is empty"


def is_cut_off(message: BaseMessage) -> bool:
    """Checks whether a reply reached its token limit."""
    reason = find_cut_off(message.response_metadata)
    return reason is not None and is_token_limit(reason)


def read_usage(message: BaseMessage, model: str) -> JsonObject:
    """Reads the reported tokens and the model. Numbers that are not reported are left out."""
    reported = message.usage_metadata if isinstance(message, AIMessage) else None
    tokens = {name: reported[name] for name in ("input_tokens", "output_tokens")} if reported else {}
    return {**tokens, "model": str(message.response_metadata.get("model_name") or model)}


def _finish_reasons(message: BaseMessage) -> set[str]:
    return {str(message.response_metadata.get(name)).lower() for name in _FINISH_KEYS}


def _is_refusal(message: BaseMessage) -> bool:
    blocks = message.content if isinstance(message.content, list) else []
    refusals = (_is_refusal_block(block) for block in blocks if isinstance(block, Mapping))
    return any(refusals) or bool(message.additional_kwargs.get("refusal"))


def _is_refusal_block(block: Mapping[str, object]) -> bool:
    value = block.get("value")
    return block.get("type") == "refusal" or (isinstance(value, Mapping) and "refusal" in value)


def _is_prompt_blocked(metadata: Mapping[str, object]) -> bool:
    feedback = metadata.get("prompt_feedback")
    return isinstance(feedback, Mapping) and bool(feedback.get("block_reason"))
