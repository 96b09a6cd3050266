"""The spans of an export in OTLP JSON, with the messages that they record.

Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evaluation.importers.checked_fields import UnknownFormatError, read_object, read_objects
from evaluation.recordings.formats.otel_messages import read_span_messages
from evaluation.values import JsonObject

MODEL: Final = frozenset({"chat", "text_completion", "generate_content"})
AGENT: Final = "invoke_agent"
TOOL: Final = "execute_tool"
WORKFLOW: Final = "invoke_workflow"
_OLDER: Final = {
    "llm.request.type": {"chat": "chat", "completion": "text_completion"},
    "traceloop.span.kind": {"tool": TOOL, "agent": AGENT, "workflow": AGENT},
}
"""Attributes that told the kind of a span before ``gen_ai.operation.name``."""
_WHOLE: Final = re.compile("-?[0-9]{1,20}")
_NO_ERROR: Final = frozenset({"", "0", "1", "UNSET", "OK"})
"""Codes of a status, as numbers or as names without their prefix; any other one is an error."""


@dataclass(frozen=True, slots=True)
class Span:
    """A span; ``operation`` is None if it is none of generative AI."""

    trace: str
    id: str
    parent: str
    name: str
    start: int
    end: int
    operation: str | None
    attributes: Mapping[str, Any]
    messages: Sequence[Mapping[str, Any]]
    error: str | None

    @property
    def has_conventions(self) -> bool:
        """Whether its name or an attribute is one of generative AI."""
        return self.name.startswith(TOOL) or any(name.startswith("gen_ai.") for name in self.attributes)

    def get(self, *names: str) -> Any:  # noqa: ANN401 - any value of JSON
        """Returns the first of the attributes that is set."""
        return next((self.attributes[name] for name in names if self.attributes.get(name) is not None), None)


def list_spans(export: JsonObject) -> Iterator[Span]:
    """Yields the spans of an export.

    Raises:
        UnknownFormatError: A part of it is of a wrong type.
    """
    for resource in read_objects(export, "resourceSpans", "the export"):
        for scope in read_objects(resource, "scopeSpans", "a resource"):
            yield from map(_read_span, read_objects(scope, "spans", "a scope"))


def _read_span(span: JsonObject) -> Span:
    where = f"the span {span.get('spanId')}"
    attributes = _read_attributes(span, where)
    listed = read_objects(span, "events", where)
    events = [{"name": event.get("name"), "attributes": _read_attributes(event, where)} for event in listed]
    older = (kinds.get(str(attributes.get(name))) for name, kinds in _OLDER.items())
    operation = attributes.get("gen_ai.operation.name") or next(filter(None, older), None)
    reads = operation in (AGENT, WORKFLOW, *MODEL)
    return Span(
        str(span.get("traceId")),
        str(span.get("spanId")),
        str(span.get("parentSpanId") or ""),
        str(span.get("name")),
        _read_time(span, "startTimeUnixNano", where),
        _read_time(span, "endTimeUnixNano", where),
        None if operation is None else str(operation),
        attributes,
        read_span_messages(attributes, events, where) if reads else [],
        _read_error(span, attributes, events),
    )


def _read_error(span: JsonObject, attributes: JsonObject, events: list[dict[str, Any]]) -> str | None:
    status = read_object(span, "status", f"the span {span.get('spanId')}")
    code = str(status.get("code") or "").upper().removeprefix("STATUS_CODE_")
    if "error.type" not in attributes and code in _NO_ERROR:
        return None
    raised = (event["attributes"].get("exception.message") for event in events)
    said = [status.get("message"), *raised, attributes.get("error.type")]
    return str(next(filter(None, said), "an error without a text"))


def _read_attributes(part: JsonObject, where: str, name: str = "attributes") -> dict[str, Any]:
    pairs = read_objects(part, name, where)
    return {
        _read_text(pair, "key", where): _read_value(read_object(pair, "value", where), where)
        for pair in pairs
    }


def _read_text(part: JsonObject, name: str, where: str) -> str:
    if not isinstance(text := part.get(name), str):
        raise UnknownFormatError(f"{where} has an attribute whose {name} is no text")
    return text


def _read_value(value: JsonObject, where: str) -> object:
    if "stringValue" in value:
        return _read_text(value, "stringValue", where)
    if "intValue" in value:
        return _read_whole(value["intValue"])
    if "arrayValue" in value:
        values = read_objects(read_object(value, "arrayValue", where), "values", where)
        return [_read_value(each, where) for each in values]
    if "kvlistValue" in value:
        return _read_attributes(read_object(value, "kvlistValue", where), where, "values")
    return next(iter(value.values()), None)


def _read_time(span: JsonObject, name: str, where: str) -> int:
    # A span that lacks a time has no duration.
    time = _read_whole(span.get(name))
    if time is None and span.get(name) is not None:
        raise UnknownFormatError(f"{where} has {name} that is no number")
    return time or 0


def _read_whole(value: object) -> int | None:
    text = str(value)
    return int(text) if _WHOLE.fullmatch(text) else None
