"""OpenTelemetry traces in OTLP JSON, by the semantic conventions for generative AI and older ones.

Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from evaluation.importers.conversation import read_conversation
from evaluation.importers.imported_message import (
    UnknownFormatError,
    content_texts,
    format_text,
    parse_json_text,
    read_arguments,
    read_object,
    read_objects,
)
from evaluation.recordings.recorded_run import RecordedRun, RunFormat, read_message_run, read_tokens
from evaluation.values import JsonObject, as_object

_INDEXED: Final = re.compile(r"gen_ai\.(prompt|completion)\.([0-9]{1,6})\.(.+)")
_CALL: Final = re.compile(r"tool_calls\.([0-9]{1,6})\.(.+)")
_DETAILS: Final = "gen_ai.client.inference.operation.details"
_MEDIA: Final = frozenset({"blob", "uri", "file"})


def read_span_messages(
    attributes: JsonObject, events: Sequence[JsonObject], where: str = ""
) -> list[dict[str, object]]:
    """Returns the messages of a model's span, as OpenAI writes them; none if it has no contents.

    Args:
        attributes: The attributes of the span by name.
        events: Its events, each with ``name`` and ``attributes`` by name.
        where: Names the span in errors.

    Raises:
        UnknownFormatError: Messages, or parts of them, are of a wrong type.
    """
    for event in events:
        if event.get("name") == _DETAILS:
            attributes = {**attributes, **read_object(event, "attributes", where)}
    system = parse_json_text(attributes.get("gen_ai.system_instructions"))
    told = [{"role": "system", "content" if isinstance(system, str) else "parts": system}] if system else []
    fields = ("gen_ai.input.messages", "gen_ai.output.messages")
    messages = [each for name in fields for each in read_objects(_parse(attributes, name), name, where)]
    current = [opened for each in (*told, *messages) for opened in _open_parts(each, where)]
    return current or [*_read_indexed(attributes)]


def _parse(fields: JsonObject, name: str) -> JsonObject:
    """Returns the object with one field, whose text is read as JSON."""
    return {name: parse_json_text(fields.get(name))}


def _open_parts(message: JsonObject, where: str) -> Iterator[dict[str, object]]:
    """Yields a message without its answers of tools, and each answer as a message."""
    if "parts" not in message:
        yield dict(message)
        return
    parts = read_objects(message, "parts", f"a message of {where}")
    answers = [part for part in parts if part.get("type") == "tool_call_response"]
    calls = [part for part in parts if part.get("type") == "tool_call"]
    others = [_open_part(part) for part in parts if part not in answers and part not in calls]
    if others or calls or not answers:
        yield {
            "role": message.get("role"),
            "content": others,
            "tool_calls": calls,
            "finish_reason": message.get("finish_reason"),
        }
    for part in answers:
        content = part.get("response", part.get("result"))
        yield {"role": "tool", "tool_call_id": part.get("id"), "content": format_text(content)}


def _open_part(part: JsonObject) -> object:
    kind = part.get("type")
    if kind == "text":
        return {"type": "text", "text": part.get("content")}
    return {"type": part.get("modality") or "file"} if kind in _MEDIA else {"type": kind}


def _read_indexed(attributes: JsonObject) -> Iterator[dict[str, object]]:
    """Yields the messages of numbered attributes, such as ``gen_ai.prompt.0.content``."""
    found: defaultdict[tuple[bool, int], dict[str, Any]] = defaultdict(dict)
    for key, value in attributes.items():
        if match := _INDEXED.fullmatch(key):
            found[match[1] == "completion", int(match[2])][match[3]] = value
    for (is_reply, _), fields in sorted(found.items(), key=lambda pair: pair[0]):
        role = "assistant" if is_reply else str(fields.get("role"))
        answered = {"tool_call_id": fields.get("tool_call_id")} if role == "tool" else {}
        plain = {"content": fields.get("content"), "finish_reason": fields.get("finish_reason")}
        yield {"role": role, **plain, "tool_calls": _list_indexed_calls(fields), **answered}


def _list_indexed_calls(fields: Mapping[str, object]) -> list[object]:
    calls: defaultdict[int, dict[str, object]] = defaultdict(dict)
    for key, value in fields.items():
        if match := _CALL.fullmatch(key):
            calls[int(match[1])][match[2]] = value
    return [call for _, call in sorted(calls.items())]


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


_NANOSECONDS: Final = 1e6
"""Nanoseconds of a millisecond."""
_READ: Final = frozenset({AGENT, TOOL, WORKFLOW, *MODEL})
_ARGUMENTS: Final = ("gen_ai.tool.call.arguments", "tool_arguments", "traceloop.entity.input")
_RESULTS: Final = ("gen_ai.tool.call.result", "tool_response", "traceloop.entity.output")


def _read_export(value: JsonObject) -> Iterator[RecordedRun]:
    """Yields the run of each trace with a span of generative AI, and of each agent that a tool calls."""
    spans = sorted(list_spans(value), key=lambda span: (span.trace, span.start))
    for trace, group in groupby(spans, key=lambda span: span.trace):
        yield from _read_trace(trace, list(group))


def _read_trace(trace: str, spans: list[Span]) -> Iterator[RecordedRun]:
    by_id = {span.id: span for span in spans}
    owned = [(_find_nested_agent(span, by_id), span) for span in spans if span.operation is not None]
    lost = {span.parent for span in spans if span.parent} - by_id.keys()
    missing = ["spans lack their parents; join the files of the trace"] if lost else []
    if unnamed := [span for span in spans if span.operation is None and span.has_conventions]:
        missing.append(f"spans without gen_ai.operation.name are not read ({len(unnamed)})")
    for owner in dict.fromkeys(owner for owner, span in owned if span.operation in _READ):
        name = trace if owner is None else f"{trace}/{by_id[owner].get('gen_ai.agent.name')}"
        yield _read_agent(name, [span for each, span in owned if each == owner], missing)


def _find_nested_agent(span: Span, by_id: Mapping[str, Span]) -> str | None:
    """Returns the id of the agent that a tool calls and that the span belongs to; None if there is none."""
    agent: str | None = None
    for _ in by_id:  # a trace of a hostile file may go in a circle
        if span.operation == TOOL and agent is not None:
            return agent
        if span.operation == AGENT:
            agent = span.id
        if span.parent not in by_id:
            return None
        span = by_id[span.parent]
    return None


def _read_agent(name: str, spans: Sequence[Span], warnings: Sequence[str]) -> RecordedRun:
    tools = [span for span in spans if span.operation == TOOL]
    told = [span for span in spans if span.operation in {AGENT, *MODEL}]
    # Each request repeats the messages before it, so that the longest one has them all.
    main = max(reversed(told), key=lambda span: len(span.messages), default=None)
    messages = [] if main is None else main.messages
    gaps = [*warnings, *_list_gaps(spans, messages)]
    run = read_message_run(messages, name, _read_totals(spans), gaps)
    plain: dict[str, Any] = dict(as_object(run.case["agent_run"]))
    ids = [call.get("id") for message in messages for call in message.get("tool_calls") or []]
    plain["tool_calls"] = _add_spans(plain["tool_calls"], ids, tools)
    plain |= _read_workflow(spans)
    if not messages or plain.get("final_output", "") not in str(messages[-1].get("content")):
        # The conversation of one step is not the conversation of a workflow of several.
        del plain["messages"]
    return RecordedRun({**run.case, "agent_run": plain}, run.warnings)


def _read_workflow(spans: Sequence[Span]) -> JsonObject:
    """Returns the input and the final output of the workflow around the agents, if its span has them."""
    messages = [each for span in spans if span.operation == WORKFLOW for each in span.messages]
    names = {"user": "input", "assistant": "final_output"}
    plain = [each.plain for each in read_conversation(messages).messages]
    roles = [(str(each["role"]), "\n".join(content_texts(each.get("content")))) for each in plain]
    return {names[role]: text for role, text in roles if role in names}


def _list_gaps(spans: Sequence[Span], messages: Sequence[object]) -> Iterator[str]:
    if not messages:
        yield "the trace has no gen_ai.output.messages, so that there is no output; record the contents"
    tools = [span for span in spans if span.operation == TOOL]
    if silent := [span for span in tools if span.get(*_ARGUMENTS) is None]:
        yield f"{len(silent)} of {len(tools)} tool spans have no gen_ai.tool.call.arguments"
    if not any(span.operation in MODEL for span in spans):
        yield "the trace has no span of a model"
    others = Counter(span.operation for span in spans if span.operation not in _READ)
    yield from (f"spans of {operation} are not read ({count})" for operation, count in others.items())
    replies = [span.messages[-1] for span in spans if span.operation in MODEL and span.messages]
    texts = {str(each["content"]) for each in map(as_object, messages) if "content" in each}
    if unread := [reply for reply in replies if reply.get("content") and str(reply["content"]) not in texts]:
        yield f"replies of a model are not part of the conversation and not read ({len(unread)})"


def _add_spans(calls: list[Any], ids: list[Any], tools: list[Span]) -> list[JsonObject]:
    """Adds to each call what its span says; the spans without a call in the messages come last."""
    merged: list[JsonObject] = []
    known = ids if len(ids) == len(calls) else [None] * len(calls)
    for call, name in zip(calls, known, strict=True):
        span = next((each for each in tools if _is_span_of(each, call, name)), None)
        tools = [each for each in tools if each is not span]
        merged.append(call if span is None else {**call, **_read_tool_end(span)})
    return [*merged, *map(_read_tool, tools)]


def _is_span_of(span: Span, call: JsonObject, name: object) -> bool:
    own = span.get("gen_ai.tool.call.id")
    return own == name if own and name else _name_tool(span) == call["name"]


def _name_tool(span: Span) -> object:
    return span.get("gen_ai.tool.name", "traceloop.entity.name")


def _read_tool(span: Span) -> JsonObject:
    args, result = parse_json_text(span.get(*_ARGUMENTS)), parse_json_text(span.get(*_RESULTS))
    call = {"name": _name_tool(span), "args": {} if args is None else read_arguments(args)}
    return {**call, **({} if result is None else {"result": result}), **_read_tool_end(span)}


def _read_tool_end(span: Span) -> JsonObject:
    failed = {} if span.error is None else {"error": span.error}
    return {"latency_ms": _measure([span]), **failed}


def _read_totals(spans: Sequence[Span]) -> JsonObject:
    models = [span for span in spans if span.operation in MODEL]
    names = ("input_tokens", "output_tokens", "prompt_tokens", "completion_tokens")
    counts = [read_tokens({name: span.get(f"gen_ai.usage.{name}") for name in names}) for span in models]
    totals: dict[str, Any] = {"latency_ms": _measure(spans)}
    if counts and all(counts):
        totals |= {name: sum(each.get(name, 0) for each in counts) for name in counts[0]}
    model = models[-1].get("gen_ai.response.model", "gen_ai.request.model") if models else None
    if isinstance(model, str):
        totals["model"] = model
    agents = [span for span in spans if span.operation == AGENT]
    errors = [span.error for span in (*agents, *models[-1:]) if span.error is not None]
    return {**totals, "error": errors[0]} if errors else totals


def _measure(spans: Sequence[Span]) -> float:
    start, end = min((span.start for span in spans), default=0), max((span.end for span in spans), default=0)
    return max(0, end - start) / _NANOSECONDS


SPANS: Final = RunFormat("OpenTelemetry trace (OTLP JSON)", _read_export, (frozenset({"resourceSpans"}),))
