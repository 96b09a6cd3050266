"""Reads a provider's reply and errors: blocked, cut off, or answered, and the tokens used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from langchain_core.messages import BaseMessage

from agents.calls.conversation import reply_text
from agents.calls.server_errors import is_content_filtered
from agents.models.identity import mask_keys, read_secrets
from agents.models.transport_retry import iter_causes
from agents.parsing.end_reasons import find_message_cut_off, is_blocked, is_token_limit
from evaluation.errors import JudgeError
from evaluation.judges.answers import JudgeFailure
from evaluation.values import JsonObject, as_object


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


def find_end_failure(message: BaseMessage, usage: JsonObject) -> JudgeFailure | None:
    """Describes why a reply contains no answer. Returns None if it was answered or cut off at its limit."""
    reason = find_message_cut_off(message)
    if reason is not None and is_blocked(reason):
        return JudgeFailure("blocked", f"the reply was blocked or refused ({reason})", usage)
    if reason is not None and not is_token_limit(reason):
        return JudgeFailure("provider_failure", f"the provider did not finish the reply ({reason})", usage)
    is_empty = reason is None and not reply_text(message).strip()
    return JudgeFailure("blocked", "the reply is empty", usage) if is_empty else None


def read_usage(message: BaseMessage, model: str) -> JsonObject:
    """Reads the reported tokens and the model. Numbers that are not reported are left out."""
    reported = as_object(getattr(message, "usage_metadata", None))
    tokens: JsonObject = {
        name: reported[name] for name in ("input_tokens", "output_tokens") if name in reported
    }
    # LangChain marks a reply from a cache so.
    free = {"cost_usd": 0.0} if reported.get("total_cost") == 0 else {}
    return {**tokens, **free, "model": str(message.response_metadata.get("model_name") or model)}
