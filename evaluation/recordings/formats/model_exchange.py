"""A response of a model with its request: OpenAI (chat, Responses), Anthropic, Gemini.

The fields of both may stand in one object, or in ``request`` and ``response``; a line of OpenAI's batches has
the response in ``response.body``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evaluation.importers.imported_message import read_list, read_object, read_run_error
from evaluation.recordings.recorded_run import RecordedRun, RunFormat, read_message_run, read_tokens
from evaluation.values import JsonObject, as_list, as_object

_SYSTEM: Final = ("system", "instructions", "system_instruction", "systemInstruction")
_REQUEST: Final = ("messages", "input", "contents")
_USAGES: Final = ("usage", "usage_metadata", "usageMetadata")


def _read_exchange(value: JsonObject) -> Iterator[RecordedRun]:
    read_object(value, "request", "the exchange")
    fields = _join(value)
    asked = [*_list_messages(fields, _SYSTEM, "system"), *_list_messages(fields, _REQUEST, "user")]
    name = fields.get("custom_id") or fields.get("id")
    messages = [*asked, *(_read_reply(fields) or [])]
    yield read_message_run(messages, name, _read_report(fields, asked), _count_others(fields))


def _join(value: object) -> dict[str, object]:
    whole = as_object(value)
    response = as_object(whole.get("response"))
    inner = as_object(response.get("body")) or response
    error = next((each["error"] for each in (whole, response, inner) if each.get("error")), None)
    return {**whole, **as_object(whole.get("request")), **inner, "error": error}


def _read_reply(fields: JsonObject) -> list[object] | None:
    """Returns the messages of a reply, with the reason of its end; None if there is none."""
    if fields.get("object") == "response" and isinstance(items := fields.get("output"), list):
        reason = as_object(fields.get("incomplete_details")).get("reason")
        # Only a completed response is a reply; an earlier item may have been completed by itself.
        status = fields.get("status") or "completed"
        ended = {"finish_reason": reason} if reason else {} if status == "completed" else {"status": status}
        return [*items[:-1], {**as_object(items[-1]), **ended}] if items else []
    if fields.get("type") == "message" and "stop_reason" in fields:
        return [{name: fields.get(name) for name in ("role", "content", "stop_reason")}]
    choice = as_object(_find_first(fields.get("choices")))
    if isinstance(message := choice.get("message"), dict):
        return [{**message, "finish_reason": choice.get("finish_reason")}]
    return [_read_candidate(_find_first(fields["candidates"]))] if as_list(fields.get("candidates")) else None


def _find_first(replies: object) -> object:
    """Returns the first of several replies, which may stand in any order; None if there is none."""
    return min(
        as_list(replies), key=lambda reply: as_object(reply).get("index") not in (0, None), default=None
    )


def _read_candidate(value: object) -> object:
    candidate = as_object(value)
    content = candidate.get("content") if isinstance(value, dict) else value
    if not isinstance(content, dict) and (content is not None or value is None):
        return content  # refused as a message
    reason = candidate.get("finish_reason") or candidate.get("finishReason")
    return {"role": "model", "parts": [], **as_object(content), "finish_reason": reason}


def _list_messages(fields: JsonObject, names: tuple[str, ...], role: str) -> list[object]:
    """Returns the messages in the first of the fields; a text or a list of parts is one message."""
    name = next((name for name in names if fields.get(name)), names[0])
    given = fields.get(name)
    if isinstance(given, list) and any(isinstance(each, dict) and "text" in each for each in given):
        return [{"role": role, "content": given}]
    if isinstance(given, dict):
        return [{**given, "role": role}]
    if isinstance(given, str) and name != "messages":
        return [{"role": role, "content": given}] if given else []
    return read_list(fields, name, "the exchange")


def _count_others(fields: JsonObject) -> Iterator[str]:
    others = max(len(as_list(fields.get(name))) for name in ("choices", "candidates")) - 1
    if others > 0:
        yield f"{others} other replies to the same request are not read"


def _read_report(fields: JsonObject, asked: list[object]) -> JsonObject:
    usage = next((fields[name] for name in _USAGES if fields.get(name)), None)
    # After other calls of the model, the report is a part of the run's usage.
    is_first = all(as_object(each).get("role") in ("user", "system") for each in asked)
    return {**read_run_error(fields), **(read_tokens(usage) if is_first else {})}


EXCHANGE: Final = RunFormat(
    "response of OpenAI, Anthropic or Gemini",
    _read_exchange,
    tuple(frozenset({name}) for name in ("response", "choices", "candidates", "stop_reason", "output")),
    lambda value: _read_reply(_join(value)) is not None,
)
