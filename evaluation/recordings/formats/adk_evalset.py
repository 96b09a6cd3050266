"""Evalsets of Google's Agent Development Kit, with keys in camelCase or in snake_case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evaluation.errors import ContractError
from evaluation.importers.imported_message import (
    UnknownFormatError,
    read_list,
    read_object,
    read_objects,
    read_run_error,
)
from evaluation.recordings.recorded_run import RecordedRun, RunFormat, read_message_run
from evaluation.values import JsonObject, as_object

_CAPITAL: Final = re.compile("[A-Z]")


def _read_evalset(value: JsonObject) -> Iterator[RecordedRun]:
    """Yields a run for each case.

    Raises:
        ContractError: A case has no conversation, or a content is in no known format.
    """
    for case in map(_spell, read_objects(_spell(value), "eval_cases", "the evalset")):
        name = case.get("eval_id")
        invocations = [_spell(each) for each in read_objects(case, "conversation", f"the case {name}")]
        if not invocations:
            raise ContractError(f"the case {name} has no conversation; record one")
        contents = [content for each in invocations for content in _list_contents(each)]
        yield read_message_run(contents, name, read_run_error(case))


def _spell(value: object) -> JsonObject:
    """Returns an object with its keys in snake_case; an empty one if it is none."""
    fields = as_object(value).items()
    return {_CAPITAL.sub(lambda match: f"_{match[0].lower()}", name): field for name, field in fields}


def _list_contents(invocation: JsonObject) -> Iterator[object]:
    yield invocation.get("user_content")
    data = _spell(read_object(invocation, "intermediate_data", "the invocation"))
    for event in read_objects(data, "invocation_events", "the invocation"):
        if content := read_object(event, "content", "the event"):
            yield {**content, "name": event.get("author")}
    for author, parts in _list_authored(data):
        yield {"role": "model", "parts": parts, "name": author}
    uses = read_objects(data, "tool_uses", "the invocation")
    responses = read_objects(data, "tool_responses", "the invocation")
    if uses:
        yield {"role": "model", "parts": [{"function_call": each} for each in uses]}
    if responses:
        yield {"role": "user", "parts": [{"function_response": each} for each in responses]}
    if (response := invocation.get("final_response")) is not None:
        yield response


def _list_authored(data: JsonObject) -> Iterator[tuple[object, object]]:
    for each in read_list(data, "intermediate_responses", "the invocation"):
        if not isinstance(each, list) or len(each) != 2:  # noqa: PLR2004
            raise UnknownFormatError("the invocation has intermediate_responses that are no pairs")
        yield each[0], each[1]


EVALSET: Final = RunFormat(
    "ADK evalset", _read_evalset, (frozenset({"eval_cases"}), frozenset({"evalCases"}))
)
