"""From whatever a judge returned to a JSON object that a state and a report can hold."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import json_repair
from pydantic import BaseModel

from evaluation.judges.failures import JudgeFailure
from evaluation.values import JsonObject

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

MAX_ANSWER: Final = 100_000
"""Characters of an answer that are read."""
_MAX_LEVELS: Final = 20
_MAX_BITS: Final = 4096
_REPAIRED: Final = 20_000
_REPAIRED_OPENINGS: Final = 100
"""Brackets that are repaired: the repair takes time in the square of those left open."""
_FENCE: Final = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ObjectRead:
    """The object of an answer, and whether its text was JSON only after a repair."""

    value: JsonObject
    repaired: bool = False


def as_text(raw: object) -> str | JudgeFailure:
    """Write an answer as text: an object of JSON values, a pydantic model, or text as it is."""
    if isinstance(raw, str):
        return raw[: MAX_ANSWER + 1]
    if not isinstance(raw, Mapping | BaseModel):
        return JudgeFailure("malformed", f"the answer is a {type(raw).__name__}, not a JSON object")
    try:
        value = raw.model_dump(mode="json", warnings=False) if isinstance(raw, BaseModel) else dict(raw)
        return json.dumps(value, allow_nan=False)[: MAX_ANSWER + 1]
    except (TypeError, ValueError, RecursionError) as error:
        return JudgeFailure("malformed", f"the answer holds what is no JSON ({type(error).__name__})")


def read_object(raw: object) -> ObjectRead | JudgeFailure:
    """Read the one object of an answer.

    Of a text, that is the whole text, its only fenced block, or what stands between its first and its last
    brace. A text that is none of these is repaired, and marked so. A key that occurs twice is a failure: two
    scores are none.
    """
    text = as_text(raw)
    if isinstance(text, JudgeFailure):
        return text
    if len(text) > MAX_ANSWER:
        return JudgeFailure("malformed", f"the answer is longer than {MAX_ANSWER} characters")
    try:
        found = next((value for part in _parts(text) if (value := _json(part)) is not None), None)
    except _TwiceError as twice:
        return JudgeFailure("malformed", str(twice))
    read = _repaired(text) if found is None else ObjectRead(found)
    return read or JudgeFailure("malformed", "the answer holds no JSON object that can be read")


def plain_object(value: object) -> JsonObject:
    """Copy an object of JSON values; empty where it is none."""
    read = read_object(value)
    return read.value if isinstance(read, ObjectRead) and not read.repaired else {}


def _parts(text: str) -> Iterator[str]:
    yield text
    yield from _only_fence(text)
    if _leads_to_an_object(text):
        yield text[text.find("{") : text.rfind("}") + 1]


def _only_fence(text: str) -> list[str]:
    fenced: list[str] = _FENCE.findall(text)
    return fenced if len(fenced) == 1 else []


def _leads_to_an_object(text: str) -> bool:
    return "{" in text and not text.lstrip().startswith(("[", '"'))


def _json(text: str) -> JsonObject | None:
    try:
        # Not strict about a line break in a text, which many models write as it is.
        return _held(json.loads(text, strict=False, object_pairs_hook=_once))
    except (ValueError, RecursionError):
        return None


class _TwiceError(Exception):
    """A key that occurs twice in one object: nobody can say which was meant."""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _TwiceError("the answer states something twice: a key occurs again")
    return found


def _repaired(text: str) -> ObjectRead | None:
    if len(text) > _REPAIRED or text.count("{") + text.count("[") > _REPAIRED_OPENINGS:
        return None
    if not _leads_to_an_object(text):
        return None
    start = text.find("{")
    parts = [*_only_fence(text), text[start:], text[start : text.rfind("}") + 1]]
    found = next((value for part in parts if (value := _repaired_object(part))), None)
    return None if found is None else ObjectRead(found, repaired=True)


def _repaired_object(text: str) -> JsonObject | None:
    try:
        # Strict: of several objects it would take one, and drop the others.
        return _held(json_repair.loads(text, strict=True))
    except (ValueError, RecursionError):
        return None


def _held(value: object) -> JsonObject | None:
    """Give an object back if a report can hold it; half a surrogate pair, which no UTF-8 has, becomes ?."""
    if not isinstance(value, dict) or not _fits(value, _MAX_LEVELS):
        return None
    text = json.dumps(value, ensure_ascii=False)
    held: dict[str, object] = json.loads(text.encode(errors="replace"))
    return held


def _fits(value: object, levels: int) -> bool:
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return levels > 0 and all(_fits(part, levels - 1) for part in parts)
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or value.bit_length() <= _MAX_BITS


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
    from langchain_core.messages import AIMessage  # noqa: PLC0415 - slow to import

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
    from langchain_core.messages import AIMessage  # noqa: PLC0415 - slow to import

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
