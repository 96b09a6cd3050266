"""Spans as OTLP JSON, Tempo, Jaeger, Phoenix and Langfuse write them, as one type; a dialect is a table.

Sources: https://opentelemetry.io/docs/specs/otlp/, https://www.jaegertracing.io/docs/latest/apis/,
https://arize.com/docs/phoenix/, https://api.reference.langfuse.com.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from evaluation.importers.imported_message import UnknownFormatError, read_object, read_objects
from evaluation.values import JsonObject, as_list, as_object

MODEL: Final = frozenset({"chat", "text_completion", "generate_content"})
AGENT: Final = "invoke_agent"
TOOL: Final = "execute_tool"
WORKFLOW: Final = "invoke_workflow"
CHAIN: Final = "chain"
"""A part of an agent without an operation of its own; the outermost one is the agent or the workflow."""


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
    events: Sequence[Mapping[str, Any]]
    error: str | None

    @property
    def has_conventions(self) -> bool:
        """Whether its name or an attribute is one of generative AI."""
        return self.name.startswith(TOOL) or any(name.startswith("gen_ai.") for name in self.attributes)

    def get(self, *names: str) -> Any:  # noqa: ANN401 - any value of JSON
        """Returns the first of the attributes that is set."""
        return find_field(self.attributes, *names)


def find_field(record: object, *paths: str) -> Any:  # noqa: ANN401 - any value of JSON
    """Returns the first field that is set; ``a.b`` is a key, or the field b of a, or of the element a."""
    return next((value for path in paths if (value := _follow(record, path)) is not None), None)


def _follow(record: object, path: str) -> object:
    if isinstance(record, list):
        head, _, rest = path.partition(".")
        named = next((each for each in record if isinstance(each, dict) and head in each.values()), None)
        return _follow(named, rest)
    fields: Mapping[str, object] = record if isinstance(record, Mapping) else {}
    if path in fields:
        return fields[path]
    dots = [place for place, char in enumerate(path) if char == "."]
    inner = ((fields[path[:dot]], path[dot + 1 :]) for dot in dots if path[:dot] in fields)
    return next((value for each in inner if (value := _follow(*each)) is not None), None)


@dataclass(frozen=True, slots=True)
class _Dialect:
    """The paths of the values of a span.

    Attributes:
        ends: Fields that are null until the span ends, besides ``end``.
        unit: Nanoseconds of a time that is a number.
        fields: Fields that are read as attributes.
    """

    id: str
    trace: Sequence[str]
    parent: str
    start: str = "start_time"
    end: str = "end_time"
    name: str = "name"
    code: Sequence[str] = ("status_code", "status.status_code", "status.code")
    message: Sequence[str] = ("status_message", "status.description", "status.message")
    attributes: str = "attributes"
    events: str = "events"
    ends: Sequence[str] = ()
    unit: int = 1
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)


FORMS: Final[Mapping[str, Any]] = json.loads(Path(__file__).with_name("span_forms.json").read_bytes())
"""The dialects, and for each part of a run the attributes that have it, the newest convention first."""
_DIALECTS: Final = [_Dialect(**each) for each in FORMS["dialects"]]
MARKS: Final = tuple(map(frozenset, FORMS["marks"]))
"""Fields of exports, and of the spans in them."""
_WHOLE: Final = re.compile("-?[0-9]{1,20}")
_BASE64_ID: Final = re.compile("[A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{11}=")


def list_spans(export: JsonObject) -> Iterator[Span]:
    """Yields the spans of an export in any dialect.

    Raises:
        UnknownFormatError: A part of it is of a wrong type.
    """
    for record in _list_records(export, ""):
        known = (
            each for each in _DIALECTS if find_field(record, each.id) and find_field(record, *each.trace)
        )
        yield _read_span(record, next(known, _DIALECTS[0]))


def _list_records(value: JsonObject, container: str) -> Iterator[JsonObject]:
    inner = [name for name in FORMS["containers"] if value.get(name) is not None]
    if container in FORMS["span_lists"] and (not inner or "run_type" in value):
        yield value
    elif "observations" in inner and "id" in value:
        yield {"type": "trace", "startTime": value.get("timestamp"), **value}
    for name in inner:
        is_one = name == "trace" and isinstance(value[name], dict)
        parts = [read_object(value, name)] if is_one else read_objects(value, name, "the export")
        for part in parts:
            yield from _list_records(part, name)


def _read_span(record: JsonObject, dialect: _Dialect) -> Span:
    where = f"the span {find_field(record, dialect.id)}"
    attributes = {
        **_read_attributes(record, dialect.attributes, where),
        **{name: found for name, paths in dialect.fields.items() if (found := find_field(record, *paths))},
    }
    events = [_read_event(each, where) for each in read_objects(record, dialect.events, where)]
    start = _read_time(record, dialect.start, dialect.unit, where)
    ended = start + _read_time(record, "duration", dialect.unit, where)
    return Span(
        _read_id(find_field(record, *dialect.trace)),
        _read_id(find_field(record, dialect.id)),
        _read_id(find_field(record, dialect.parent)),
        str(find_field(record, dialect.name)),
        start,
        _read_time(record, dialect.end, dialect.unit, where) or ended,
        _find_operation(attributes),
        attributes,
        events,
        _read_error(record, dialect, attributes, events),
    )


def _read_id(value: object) -> str:
    """Returns an id in hexadecimal digits: JSON of protocol buffers has it in base 64."""
    text = "" if value is None else str(value).removeprefix("0x")
    return b64decode(text).hex() if _BASE64_ID.fullmatch(text) else text


def _find_operation(attributes: JsonObject) -> str | None:
    tables: Mapping[str, Mapping[str, str | None]] = FORMS["kinds"]
    for name, kinds in tables.items():
        if (kind := find_field(attributes, name)) is not None:
            # Langfuse exports its kinds in upper case, and its package writes them in lower case.
            own = str(kind).lower() if kinds else str(kind)
            if (operation := kinds.get(own, own)) is not None:
                return operation
    return None


def _read_event(event: JsonObject, where: str) -> dict[str, Any]:
    attributes = _read_attributes(event, "fields" if "fields" in event else "attributes", where)
    return {"name": event.get("name", attributes.get("event")), "attributes": attributes}


def _read_error(
    record: JsonObject, dialect: _Dialect, attributes: JsonObject, events: Sequence[JsonObject]
) -> str | None:
    codes = [find_field(record, *dialect.code), *(find_field(attributes, name) for name in FORMS["codes"])]
    names = {str(code).upper().removeprefix("STATUS_CODE_") for code in codes}
    if "error.type" not in attributes and names.issubset(FORMS["not_errors"]):
        is_open = any(record.get(name, "") is None for name in (dialect.end, *dialect.ends))
        return "the trace was written before its end; record all of it" if is_open else None
    raised = [find_field(event, "attributes.exception.message") for event in events]
    said = [
        find_field(record, *dialect.message),
        *(find_field(attributes, name) for name in FORMS["messages"]),
    ]
    texts = filter(None, [*said, *raised, attributes.get("error.type")])
    return str(next(texts, "an error without a text")).split("Traceback", maxsplit=1)[0]


def _read_attributes(part: JsonObject, name: str, where: str) -> dict[str, Any]:
    if isinstance(part.get(name), dict):
        return read_object(part, name)
    columns = {key.removeprefix(f"{name}."): part[key] for key in part if key.startswith(f"{name}.")}
    pairs = read_objects(part, name, where)
    return columns | {_read_text(pair, "key", where): _read_tag(pair, where) for pair in pairs}


def _read_tag(pair: JsonObject, where: str) -> object:
    # Jaeger names the type beside the value, OTLP around it.
    return pair.get("value") if "type" in pair else _read_value(read_object(pair, "value", where), where)


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
        return _read_attributes(read_object(value, "kvlistValue", where), "values", where)
    return next(iter(value.values()), None)


def _read_time(record: JsonObject, name: str, unit: int, where: str) -> int:
    # A span that lacks a time has no duration.
    value = find_field(record, name)
    if (number := _read_whole(value)) is not None:
        return number * unit
    try:
        return 0 if value is None else int(datetime.fromisoformat(str(value)).timestamp() * 1e9)
    except (ValueError, OverflowError):
        raise UnknownFormatError(f"{where} has {name} that is no time") from None


def _read_whole(value: object) -> int | None:
    text = str(value)
    return int(text) if _WHOLE.fullmatch(text) else None


def is_export(value: JsonObject) -> bool:
    """Returns whether an object with such marks holds spans: ``data`` and ``trace`` are common names."""
    inner = value.get("data", value.get("trace"))
    first = (as_list(inner) or [inner])[0]
    is_wrapped = not value.keys().isdisjoint(("data", "trace"))
    return not is_wrapped or not as_object(first).keys().isdisjoint(FORMS["inner_marks"])
