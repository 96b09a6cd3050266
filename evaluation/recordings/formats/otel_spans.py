"""Runs in traces of OpenTelemetry, Phoenix, Jaeger, Tempo and Langfuse; a nested agent is a run, too."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from evaluation.importers.conversation import Conversation, read_conversation
from evaluation.importers.imported_message import (
    Answer,
    format_text,
    parse_arguments,
    parse_json_text,
    read_arguments,
)
from evaluation.importers.known_formats import open_message, read_message
from evaluation.recordings.formats.span_dialects import (
    AGENT,
    CHAIN,
    FORMS,
    MARKS,
    MODEL,
    TOOL,
    WORKFLOW,
    Span,
    is_export,
    list_spans,
)
from evaluation.recordings.formats.span_messages import read_span_messages
from evaluation.recordings.recorded_run import RecordedRun, RunFormat, read_message_run, read_tokens
from evaluation.values import JsonObject, as_object, group_by

_DEEPEST: Final = 256
"""Levels of spans above a span that are looked through."""
_NANOSECONDS: Final = 1e6
"""Nanoseconds of a millisecond."""
_READ: Final = frozenset({AGENT, TOOL, WORKFLOW, *MODEL})
_EMPTY: Final[Sequence[object]] = (None, "", {}, "{}")


def _read_exports(values: Iterable[JsonObject]) -> Iterator[RecordedRun]:
    """Yields the run of each trace with a span of generative AI, and of each agent that a tool calls."""
    traces = group_by((span for value in values for span in list_spans(value)), lambda span: span.trace)
    for name, spans in traces.items():
        yield from _read_trace(name, sorted(spans, key=lambda span: span.start))


def _read_trace(trace: str, spans: list[Span]) -> Iterator[RecordedRun]:
    by_id = {span.id: span for span in spans}
    asking = {span.parent for span in spans if span.operation in MODEL}
    owned = [(_find_nested_agent(span, by_id, asking), span) for span in spans if span.operation is not None]
    lost = {span.parent for span in spans if span.parent} - by_id.keys()
    missing = ["spans lack their parents; join the files of the trace"] if lost else []
    if unnamed := [span for span in spans if span.operation is None and span.has_conventions]:
        missing.append(f"spans without gen_ai.operation.name are not read ({len(unnamed)})")
    opened = [(owner, _open_chain(span, owner, by_id)) for owner, span in owned]
    # An export of the outermost runs alone has the messages of the agent, and none of its calls of models.
    agents = [owner for owner, span in owned if span.operation in _READ] or [
        owner for owner, span in opened if span.operation == WORKFLOW and read_span_messages(span)
    ]
    for agent in dict.fromkeys(agents):
        name = trace if agent is None else f"{trace}/{_name_span(by_id[agent], 'agents')}"
        yield _read_agent(name, [span for owner, span in opened if owner == agent], missing)


def _open_chain(span: Span, owner: str | None, by_id: Mapping[str, Span]) -> Span:
    """Returns the outermost chain of an agent as its workflow."""
    is_first = span.id == owner if owner else span.parent not in by_id
    return replace(span, operation=WORKFLOW) if span.operation == CHAIN and is_first else span


def _find_nested_agent(span: Span, by_id: Mapping[str, Span], asking: Collection[str]) -> str | None:
    """Returns the id of the agent that a tool calls and that the span belongs to; None if there is none.

    Args:
        span: The span.
        by_id: The spans of the trace.
        asking: The parents of the spans of models; a tool among them is the agent itself.
    """
    agent: str | None = None
    for level in range(_DEEPEST):  # a trace of a hostile file may go in a circle
        if span.operation == TOOL and (agent or (level and span.id in asking and span.parent in by_id)):
            return agent or span.id
        if span.operation in {AGENT, CHAIN}:
            agent = span.id
        if span.parent not in by_id:
            return None
        span = by_id[span.parent]
    return None


def _read_agent(name: str, spans: Sequence[Span], warnings: Sequence[str]) -> RecordedRun:
    told = {span.id: read_span_messages(span) for span in spans if span.operation in _READ - {TOOL}}
    workflows = [told[span.id] for span in spans if span.operation == WORKFLOW]
    # Each request repeats the messages before it, so that the longest one has them all.
    known = [*workflows, *reversed(told.values()), _join_steps(spans, told)]
    messages = max(known, key=len, default=[])
    conversation = read_conversation(messages)
    around = _read_workflow([each for each in workflows if each is not messages])
    # The conversation of one step is not the conversation of a workflow of several.
    is_whole = bool(messages) and str(around.get("final_output", "")) in conversation.messages[-1].text
    gaps = [*warnings, *_list_gaps(spans, told, conversation)]
    if messages and not is_whole:
        gaps.append(f"the output of the workflow is not that of its conversation ({len(messages)} messages)")
    run = read_message_run(messages, name, _read_totals(spans), gaps)
    plain: dict[str, Any] = {**as_object(run.case["agent_run"]), **around}
    ids = [each.call.id for each in conversation.calls]
    tools = [span for span in spans if span.operation == TOOL]
    plain["tool_calls"] = _add_spans(plain["tool_calls"], ids, tools)
    if not is_whole:
        del plain["messages"]
    return RecordedRun({**run.case, "agent_run": plain}, run.warnings, operation=_name_operation(spans))


def _name_operation(spans: Sequence[Span]) -> dict[str, str]:
    outermost = next((span for span in spans if span.operation in {AGENT, WORKFLOW}), spans[0])
    replies = (span.get("gen_ai.response.id") for span in reversed(spans) if span.operation in MODEL)
    response = next((each for each in replies if isinstance(each, str)), None)
    ids = {"trace_id": outermost.trace, "span_id": outermost.id}
    return {**ids, "response_id": response} if response else ids


def _join_steps(spans: Sequence[Span], told: Mapping[str, list[Any]]) -> list[Any]:
    """Returns the messages of an agent whose requests are logged as texts: all replies and answers."""
    models = [span for span in spans if span.operation in MODEL]
    if not all(span.get("input.value.prompts") for span in models):
        return []
    replies = {span.id: told[span.id][-1:] for span in models}
    answers = {span.id: [_write_answer(span)] for span in spans if span.operation == TOOL}
    asked = [each for span in spans if span.operation == WORKFLOW for each in told[span.id][:1]]
    return [*asked, *(each for span in spans for each in {**replies, **answers}.get(span.id, []))]


def _write_answer(span: Span) -> JsonObject:
    answer = _read_answer(span)
    content = span.error if answer.value is None else format_text(answer.value)
    status = "error" if span.error or answer.is_error else "success"
    named = {"tool_call_id": answer.id} if answer.id else {}
    return {"role": "tool", "name": _name_span(span), "content": content, "status": status, **named}


def _read_workflow(workflows: Iterable[Sequence[object]]) -> JsonObject:
    """Returns the first input and the last output of the workflows around the agents, if they have them."""
    messages = read_conversation(each for messages in workflows for each in messages).messages
    asked = [("input", each.text) for each in messages if each.role == "user"][:1]
    return dict([*asked, *(("final_output", each.text) for each in messages if each.role == "assistant")])


def _list_gaps(
    spans: Sequence[Span], told: Mapping[str, Sequence[object]], conversation: Conversation
) -> Iterator[str]:
    if not conversation.messages:
        yield "the trace has no gen_ai.output.messages, so that there is no output; record the contents"
    given = [span for span in spans if span.id in told and span.get(*FORMS["inputs"]) not in _EMPTY]
    if given and not any(each.role == "user" for each in conversation.messages):
        yield f"inputs of spans are not read ({len(given)})"
    tools = [span for span in spans if span.operation == TOOL]
    if silent := [span for span in tools if span.get(*FORMS["arguments"]) is None]:
        yield f"{len(silent)} of {len(tools)} tool spans have no gen_ai.tool.call.arguments"
    if not any(span.operation in MODEL for span in spans):
        yield "the trace has no span of a model"
    known = {None, *(span.error for span in spans if span.operation in _READ)}
    # A chain repeats what its parts have, but for an error of its own.
    others = Counter(each.operation for each in spans if each.operation != CHAIN or each.error not in known)
    yield from (f"spans of {name} are not read ({others[name]})" for name in others if name not in _READ)
    speakers = [span for span in spans if span.operation in {AGENT, *MODEL} and told[span.id]]
    replies = [read_message(told[span.id][-1]) for span in speakers]
    texts = {each.text for each in conversation.messages}
    if unread := [reply for reply in replies if reply.text not in {*texts, ""}]:
        yield f"replies are not part of the conversation and not read ({len(unread)})"


def _add_spans(calls: list[Any], ids: list[Any], tools: list[Span]) -> list[JsonObject]:
    """Adds to each call what its span says; the spans without a call in the messages come last."""
    waiting: defaultdict[tuple[str, object], deque[int]] = defaultdict(deque)
    told = [*map(_read_tool, tools)]
    for place, span in enumerate(tools):
        own = (span.get(*FORMS["call_ids"]) or _read_answer(span).id) if any(ids) else None
        waiting["id" if own else "name", str(own or _name_span(span))].append(place)
    merged: list[JsonObject] = []
    for call, name in zip(calls, ids, strict=True):
        found = waiting["id", str(name)] or waiting["name", call["name"]]
        if not found:
            merged.append(call)
            continue
        # Parallel calls of one tool may begin in another order than they were written in.
        args = parse_arguments(call["args"])
        place = next((each for each in found if told[each]["args"] == args), found[0])
        found.remove(place)
        own = {} if call["result"] is not None else {"result": told[place].get("result")}
        merged.append({**call, **own, **_read_tool_end(tools[place])})
    left = sorted(place for places in waiting.values() for place in places)
    return [*merged, *(told[place] for place in left)]


def _name_span(span: Span, form: str = "tools") -> object:
    return span.get(*FORMS[form]) or span.name


def _read_answer(span: Span) -> Answer:
    """Returns the answer of a tool, which may be logged as the message with it."""
    result = parse_json_text(span.get(*FORMS["results"]))
    if isinstance(result, dict) and result.keys() == {"output"}:
        result = result["output"]
    is_message = isinstance(result, dict) and open_message(result) is not None
    answers = read_message(result).answers if is_message else ()
    return answers[0] if answers else Answer(result)


def _read_tool(span: Span) -> JsonObject:
    args, result = parse_json_text(span.get(*FORMS["arguments"])), _read_answer(span).value
    call = {"name": _name_span(span), "args": {} if args is None else read_arguments(args)}
    return {**call, **({} if result is None else {"result": result}), **_read_tool_end(span)}


def _read_tool_end(span: Span) -> JsonObject:
    error = span.error or _read_answer(span).is_error
    return {"latency_ms": _measure([span]), **({"error": error} if error else {})}


def _read_totals(spans: Sequence[Span]) -> JsonObject:
    models = [span for span in spans if span.operation in MODEL]
    counts = [_count_tokens(span) for span in models]
    totals: dict[str, Any] = {"latency_ms": _measure(spans)}
    if counts and all(counts):
        totals |= {name: sum(each.get(name, 0) for each in counts) for name in counts[0]}
    model = models[-1].get(*FORMS["models"]) if models else None
    if isinstance(model, str):
        totals["model"] = model
    agents = [span for span in spans if span.operation in {AGENT, WORKFLOW}]
    errors = [span.error for span in (*agents, *models[-1:]) if span.error is not None]
    return {**totals, "error": errors[0]} if errors else totals


def _count_tokens(span: Span) -> dict[str, int]:
    details = as_object(parse_json_text(span.get("langfuse.observation.usage_details")))
    names = ("input_tokens", "output_tokens")
    logged = {name: details.get(name.removesuffix("_tokens")) for name in names}
    known = {name: span.get(*FORMS[name]) or logged[name] for name in names}
    # A column of a data frame has floats.
    whole = {name: int(each) if isinstance(each, float) else each for name, each in known.items()}
    return read_tokens(whole)


def _measure(spans: Sequence[Span]) -> float:
    start, end = min((span.start for span in spans), default=0), max((span.end for span in spans), default=0)
    return max(0, end - start) / _NANOSECONDS


SPANS: Final = RunFormat("OpenTelemetry trace", _read_exports, MARKS, is_export, joins=True)
