"""OpenTelemetry traces in OTLP JSON, by the semantic conventions for generative AI."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from evaluation.recordings.recorded_run import RecordedRun
from evaluation.values import JsonObject, as_list, as_object

_OPERATION: Final = "gen_ai.operation.name"
_NANOSECONDS: Final = 1e6
"""Nanoseconds of a millisecond."""


class SpanFormat:
    """An export: ``resourceSpans`` with the spans of one or more traces."""

    name = "OpenTelemetry trace (OTLP JSON)"

    def recognises(self, value: object) -> bool:
        """Returns whether the value has ``resourceSpans``."""
        return isinstance(value, dict) and isinstance(value.get("resourceSpans"), list)

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields a run for each trace that has a span of generative AI."""
        spans: list[dict[str, Any]] = [
            {**as_object(span), "attributes": _read_attributes(as_object(span))}
            for resource in as_list(value["resourceSpans"])
            for scope in as_list(as_object(resource).get("scopeSpans"))
            for span in as_list(as_object(scope).get("spans"))
        ]
        spans.sort(key=lambda span: (str(span.get("traceId")), int(str(span.get("startTimeUnixNano") or 0))))
        for trace, group in groupby(spans, key=lambda span: str(span.get("traceId"))):
            run = _read_trace(trace, [span for span in group if _OPERATION in span["attributes"]])
            if run is not None:
                yield run


def _read_trace(trace: str, spans: list[dict[str, Any]]) -> RecordedRun | None:
    if not spans:
        return None
    chats = [span for span in spans if span["attributes"][_OPERATION] in {"chat", "invoke_agent"}]
    tools = [span for span in spans if span["attributes"][_OPERATION] == "execute_tool"]
    asked = [text for span in chats for text in _read_texts(span, "gen_ai.input.messages", "user")]
    said = [text for span in chats for text in _read_texts(span, "gen_ai.output.messages", "assistant")]
    run: dict[str, Any] = {
        "input": asked[0] if asked else "",
        "tool_calls": [_read_tool(span) for span in tools],
        "latency_ms": _measure(spans),
    }
    if said:
        run["final_output"] = said[-1]
    if tokens := sum(_read_tokens(span) for span in chats if span["attributes"][_OPERATION] == "chat"):
        run["total_tokens"] = tokens
    return RecordedRun({"case_id": trace, "agent_run": run}, tuple(_list_gaps(chats, tools, said)))


def _list_gaps(chats: list[dict[str, Any]], tools: list[dict[str, Any]], said: list[str]) -> Iterator[str]:
    if not said:
        yield "the trace has no gen_ai.output.messages, so that there is no output; record the contents"
    silent = [span for span in tools if "gen_ai.tool.call.arguments" not in span["attributes"]]
    if silent:
        yield f"{len(silent)} of {len(tools)} tool spans have no gen_ai.tool.call.arguments"
    if not chats:
        yield "the trace has no span of a model"


def _read_tool(span: dict[str, Any]) -> JsonObject:
    attributes = span["attributes"]
    args = _parse(attributes.get("gen_ai.tool.call.arguments"))
    call: dict[str, Any] = {
        "name": attributes.get("gen_ai.tool.name"),
        "args": args if isinstance(args, dict) else {},
    }
    if (result := _parse(attributes.get("gen_ai.tool.call.result"))) is not None:
        call["result"] = result
    if "error.type" in attributes or as_object(span.get("status")).get("code") in (2, "STATUS_CODE_ERROR"):
        call["error"] = str(
            attributes.get("error.type") or as_object(span["status"]).get("message") or "error"
        )
    return call


def _read_texts(span: dict[str, Any], name: str, role: str) -> Iterator[str]:
    for message in map(as_object, as_list(_parse(span["attributes"].get(name)))):
        parts = [as_object(part) for part in as_list(message.get("parts"))]
        texts = [text for part in parts if isinstance(text := part.get("content"), str)]
        if message.get("role") == role and texts:
            yield "\n".join(texts)


def _read_tokens(span: dict[str, Any]) -> int:
    names = ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens")
    return sum(int(span["attributes"].get(name) or 0) for name in names)


def _measure(spans: list[dict[str, Any]]) -> float:
    begins = [int(str(span.get("startTimeUnixNano") or 0)) for span in spans]
    ends = [int(str(span.get("endTimeUnixNano") or 0)) for span in spans]
    return max(0.0, (max(ends) - min(begins)) / _NANOSECONDS)


def _read_attributes(span: JsonObject) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for pair in map(as_object, as_list(span.get("attributes"))):
        value = as_object(pair.get("value"))
        plain = int(str(value["intValue"])) if "intValue" in value else next(iter(value.values()), None)
        attributes[str(pair.get("key"))] = plain
    return attributes


def _parse(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
