"""Traces of LangChain: runs with ``run_type`` and ``child_runs``, as tracers and LangSmith keep them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evaluation.importers.imported_message import UnknownFormatError, read_list, read_object, read_objects
from evaluation.recordings.formats.conversations import are_messages
from evaluation.recordings.recorded_run import RecordedRun, RunFormat, read_message_run
from evaluation.values import JsonObject, as_list, as_object

_TYPES: Final = ("tool", "chain", "llm", "chat_model", "retriever", "embedding", "prompt", "parser")


def _read_trace(value: JsonObject) -> Iterator[RecordedRun]:
    """Yields the run, and the run of each agent that a tool calls."""
    end = read_list(_read_outputs(value), "messages", "the trace")
    asked = _list_asked(value)
    is_asked = end or asked or not value["inputs"]
    error = _find_error(value)
    yield read_message_run(
        end or [*asked, *_list_said(value)],
        value.get("id"),
        {} if error is None else {"error": error},
        [] if is_asked else ["the trace: inputs are not read"],
    )
    for nested in _list_nested(value, inside=False):
        yield from _read_trace(nested)


def _list_children(run: JsonObject) -> list[dict[str, object]]:
    children = read_objects(run, "child_runs", f"the run {run.get('name')}")
    for child in children:
        if (kind := child.get("run_type")) not in _TYPES:
            raise UnknownFormatError(
                f"the run {child.get('name')} has the run_type {kind!r}, which is not known"
            )
    return children


def _read_outputs(run: JsonObject) -> JsonObject:
    return read_object(run, "outputs", f"the run {run.get('name')}")


def _list_nested(run: JsonObject, *, inside: bool) -> Iterator[JsonObject]:
    """Yields the outermost chains that tools run and that call a model."""
    for child in _list_children(run):
        if inside and child.get("run_type") == "chain" and any(_list_said(child)):
            yield child
        else:
            yield from _list_nested(child, inside=inside or child.get("run_type") == "tool")


def _list_asked(run: JsonObject) -> list[object]:
    inputs = read_object(run, "inputs", "the trace")
    given = next((inputs[name] for name in ("messages", "prompts", "input") if inputs.get(name)), [])
    first = given[0] if isinstance(given, list) and given else given
    if isinstance(first, str):
        return [{"role": "user", "content": first}]
    # A model gets a list of messages for each of its prompts.
    return as_list(first) if are_messages(first) else as_list(given)


def _list_said(run: JsonObject) -> Iterator[object]:
    """Yields the replies of the models and the answers of the tools, in their order."""
    outputs = _read_outputs(run)
    if run.get("run_type") == "tool":
        yield _read_answer(run)
        return
    replies = read_list(outputs, "generations", f"the run {run.get('name')}")[:1]
    # What is no message is refused as one.
    yield from (as_object(each).get("message") for reply in replies for each in as_list(reply)[:1] or [None])
    for child in _list_children(run):
        yield from _list_said(child)


def _find_error(run: JsonObject) -> str | None:
    """Returns why a run has no answer; a tracer sets the outputs and the time when a run ends."""
    if run.get("error"):
        return _read_error(run)
    is_open = any(run.get(name, "") is None for name in ("end_time", "outputs"))
    return "the trace was written before its end; record all of it" if is_open else None


def _read_error(run: JsonObject) -> str:
    return str(run["error"]).split("Traceback", maxsplit=1)[0]


def _read_answer(run: JsonObject) -> object:
    answer, error = _read_outputs(run).get("output"), run.get("error")
    if isinstance(answer, dict) and not error:
        return answer
    return {
        "type": "tool",
        "name": run.get("name"),
        "content": _read_error(run) if error else answer,
        "status": "error" if error else "success",
    }


TRACE: Final = RunFormat("LangChain trace", _read_trace, (frozenset({"run_type", "inputs"}),))
