"""Evalsets of Google's Agent Development Kit, with keys in camelCase or in snake_case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evaluation.errors import ContractError
from evaluation.recordings.message_runs import read_message_run
from evaluation.recordings.recorded_run import RecordedRun, list_ignored
from evaluation.values import JsonObject, as_list, as_object

_READ_OF_SETS: Final = frozenset({
    "evalSetId", "eval_set_id", "evalCases", "eval_cases", "name", "description", "creationTimestamp",
    "creation_timestamp",
})  # fmt: skip
_READ: Final = frozenset({
    "evalId", "eval_id", "conversation", "creationTimestamp", "creation_timestamp",
})  # fmt: skip
_READ_OF_INVOCATIONS: Final = frozenset({
    "invocationId", "invocation_id", "userContent", "user_content", "finalResponse", "final_response",
    "intermediateData", "intermediate_data", "creationTimestamp", "creation_timestamp", "duration",
})  # fmt: skip


class EvalsetFormat:
    """A set of conversations; each is a run."""

    name = "ADK evalset"

    def recognises(self, value: object) -> bool:
        """Returns whether the value has a list of eval cases."""
        return isinstance(value, dict) and isinstance(_get(value, "eval_cases"), list)

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields the run of each case.

        Raises:
            ContractError: A case has no conversation, or a content is in no known format.
        """
        for case in map(as_object, as_list(_get(value, "eval_cases"))):
            invocations = [as_object(each) for each in as_list(case.get("conversation"))]
            name = _get(case, "eval_id")
            if not invocations:
                raise ContractError(f"the case {name} has no conversation; record one")
            ignored = [list_ignored(value, _READ_OF_SETS, "the evalset")]
            ignored += [list_ignored(case, _READ, f"the case {name}")]
            ignored += [list_ignored(each, _READ_OF_INVOCATIONS, "the invocation") for each in invocations]
            contents = [content for each in invocations for content in _list_contents(each)]
            warnings = [text for texts in ignored for text in texts]
            yield read_message_run(contents, name, None, warnings)


def _get(value: JsonObject, name: str) -> object:
    first, *others = name.split("_")
    return value.get(name, value.get(first + "".join(map(str.capitalize, others))))


def _list_contents(invocation: JsonObject) -> Iterator[object]:
    yield _get(invocation, "user_content")
    data = as_object(_get(invocation, "intermediate_data"))
    for event in map(as_object, as_list(_get(data, "invocation_events"))):
        if isinstance(content := event.get("content"), dict):
            yield {**content, "name": event.get("author")}
    for author, parts in _list_authored(data):
        yield {"role": "model", "parts": parts, "name": author}
    uses, responses = as_list(_get(data, "tool_uses")), as_list(_get(data, "tool_responses"))
    if uses:
        yield {"role": "model", "parts": [{"function_call": each} for each in uses]}
    if responses:
        yield {"role": "user", "parts": [{"function_response": each} for each in responses]}
    if (response := _get(invocation, "final_response")) is not None:
        yield response


def _list_authored(data: JsonObject) -> Iterator[tuple[object, object]]:
    for each in as_list(_get(data, "intermediate_responses")):
        author, parts = each if isinstance(each, list) and len(each) == 2 else (None, [])  # noqa: PLR2004
        yield author, parts
