"""Evalsets of Google's Agent Development Kit, with keys in camelCase or in snake_case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evaluation.errors import ContractError
from evaluation.recordings.message_runs import read_message_run
from evaluation.recordings.recorded_run import RecordedRun, list_ignored
from evaluation.values import JsonObject, as_list, as_object

_READ_OF_SETS: Final = frozenset({"eval_set_id", "eval_cases", "name", "description", "creation_timestamp"})
_READ: Final = frozenset({"eval_id", "conversation", "creation_timestamp"})
_READ_OF_INVOCATIONS: Final = frozenset({
    "invocation_id", "user_content", "final_response", "intermediate_data", "creation_timestamp", "duration",
})  # fmt: skip
_CAPITAL: Final = re.compile("[A-Z]")


class EvalsetFormat:
    """A set of conversations; each is a run."""

    name = "ADK evalset"

    def recognises(self, value: object) -> bool:
        """Returns whether the value has a list of eval cases."""
        return isinstance(_spell(value).get("eval_cases"), list)

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields the run of each case.

        Raises:
            ContractError: A case has no conversation, or a content is in no known format.
        """
        whole = _spell(value)
        for case in map(_spell, as_list(whole.get("eval_cases"))):
            invocations = [_spell(each) for each in as_list(case.get("conversation"))]
            name = case.get("eval_id")
            if not invocations:
                raise ContractError(f"the case {name} has no conversation; record one")
            ignored = [list_ignored(whole, _READ_OF_SETS, "the evalset")]
            ignored += [list_ignored(case, _READ, f"the case {name}")]
            ignored += [list_ignored(each, _READ_OF_INVOCATIONS, "the invocation") for each in invocations]
            contents = [content for each in invocations for content in _list_contents(each)]
            warnings = [text for texts in ignored for text in texts]
            yield read_message_run(contents, name, None, warnings)


def _spell(value: object) -> JsonObject:
    """Returns an object with its keys in snake_case; an empty one if it is none."""
    fields = as_object(value).items()
    return {_CAPITAL.sub(lambda match: f"_{match[0].lower()}", name): field for name, field in fields}


def _list_contents(invocation: JsonObject) -> Iterator[object]:
    yield invocation.get("user_content")
    data = _spell(invocation.get("intermediate_data"))
    for event in map(as_object, as_list(data.get("invocation_events"))):
        if isinstance(content := event.get("content"), dict):
            yield {**content, "name": event.get("author")}
    for author, parts in _list_authored(data):
        yield {"role": "model", "parts": parts, "name": author}
    uses, responses = as_list(data.get("tool_uses")), as_list(data.get("tool_responses"))
    if uses:
        yield {"role": "model", "parts": [{"function_call": each} for each in uses]}
    if responses:
        yield {"role": "user", "parts": [{"function_response": each} for each in responses]}
    if (response := invocation.get("final_response")) is not None:
        yield response


def _list_authored(data: JsonObject) -> Iterator[tuple[object, object]]:
    for each in as_list(data.get("intermediate_responses")):
        author, parts = each if isinstance(each, list) and len(each) == 2 else (None, [])  # noqa: PLR2004
        yield author, parts
