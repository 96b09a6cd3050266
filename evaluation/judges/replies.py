"""What a chat model's reply says: its text, whether it was blocked, and what it cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage

from evaluation.values import JsonObject

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
"""Why a reply ended, as OpenAI, Anthropic, Gemini and Bedrock say that they blocked it."""
_ENDED: Final = ("finish_reason", "stop_reason", "stopReason", "done_reason")
_CUT_OFF: Final = frozenset({"length", "max_tokens"})


def text_of(message: BaseMessage) -> str:
    """Give the text; of a model that answers a schema through a tool call, the arguments as JSON."""
    text = message.text
    if not text and isinstance(message, AIMessage) and message.tool_calls:
        return json.dumps(message.tool_calls[0]["args"], ensure_ascii=False)
    return text


def blocked_by(message: BaseMessage) -> str | None:
    """Say what kept the model from answering; None if it answered, or was cut off at its token limit."""
    ended = {str(message.response_metadata.get(name)).lower() for name in _ENDED}
    reasons = sorted(ended & _BLOCKING)
    if reasons:
        return f"the reply was blocked ({reasons[0]})"
    if _refuses(message):
        return "the model refused to answer"
    if _prompt_blocked(message.response_metadata):
        return "the prompt was blocked"
    return None if text_of(message).strip() or ended & _CUT_OFF else "the reply is empty"


def usage_of(message: BaseMessage, model: str) -> JsonObject:
    """Give the tokens that the reply reports, and the model; what is not reported is absent."""
    reported = message.usage_metadata if isinstance(message, AIMessage) else None
    tokens = {name: reported[name] for name in ("input_tokens", "output_tokens")} if reported else {}
    return {**tokens, "model": str(message.response_metadata.get("model_name") or model)}


def _refuses(message: BaseMessage) -> bool:
    content = message.content if isinstance(message.content, list) else []
    said = any(_is_refusal(block) for block in _objects(content))
    return said or bool(message.additional_kwargs.get("refusal"))


def _is_refusal(block: Mapping[str, object]) -> bool:
    value = block.get("value")
    return block.get("type") == "refusal" or (isinstance(value, Mapping) and "refusal" in value)


def _objects(blocks: Iterable[object]) -> Iterable[Mapping[str, object]]:
    return (block for block in blocks if isinstance(block, Mapping))


def _prompt_blocked(metadata: Mapping[str, object]) -> bool:
    feedback = metadata.get("prompt_feedback")
    return isinstance(feedback, Mapping) and bool(feedback.get("block_reason"))
