"""Compares the ``tool_calls`` of a run with the calls that its messages hold, and adds their answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Final, TypeAlias

from evaluation.importers.imported_conversation import Conversation, RecordedCall
from evaluation.importers.imported_message import Answer, parse_arguments
from evaluation.importers.tool_answers import describes_error
from evaluation.inputs.run import AgentRun, ToolCall
from evaluation.sensitive.quoting import shorten

Matches: TypeAlias = Mapping[int, RecordedCall]
"""The calls of the messages by their place in ``tool_calls``."""

_CORRECT: Final = "; record the same calls in both, or leave tool_calls out"


def name_tool(name: str) -> str:
    """Name a call in a sentence."""
    return f"a call of {shorten(name)}" if name else "a tool call"


def add_results(run: AgentRun, conversation: Conversation) -> AgentRun:
    """Add the answers that only the messages hold: one of them may say that the call failed."""
    calls = run.tool_calls
    matches, _ = _match_calls(conversation, calls)
    results = {place: _find_unrecorded_result(calls[place], other) for place, other in matches.items()}
    if all(result is None for result in results.values()):
        return run
    complete = [
        call if results.get(place) is None else call.model_copy(update={"result": results[place]})
        for place, call in enumerate(calls)
    ]
    return run.model_copy(update={"tool_calls": complete})


def check_calls(conversation: Conversation, run: AgentRun, writing: Collection[str]) -> Iterator[str]:
    """Describe what keeps the calls of a run from being trusted; ``writing`` are the tools that write."""
    if "tool_calls" in run.model_fields_set:
        return _find_disagreements(conversation, run.tool_calls, writing)
    return chain(_find_orphans(conversation), _find_unanswered(conversation.calls, conversation, writing))


def _find_orphans(conversation: Conversation) -> Iterator[str]:
    if conversation.orphans:
        index = conversation.orphans[0]
        yield f"messages[{index}] answers a tool call that no message before it makes; record the call"


def _find_unanswered(
    calls: Sequence[RecordedCall], conversation: Conversation, writing: Collection[str]
) -> Iterator[str]:
    """Report a call without an answer, if the messages record answers or it writes, and the run went on."""
    last = [] if conversation.has_reply else conversation.last_calls
    has_answers = any(each.answer is not None for each in conversation.calls)
    asked = [each for each in calls if has_answers or each.call.name in writing]
    if lost := [each for each in asked if each.answer is None and each not in last]:
        name = name_tool(lost[0].call.name)
        yield f"messages[{lost[0].message}] holds {name} that no message answers; record the answer"


def _find_disagreements(
    conversation: Conversation, calls: Sequence[ToolCall], writing: Collection[str]
) -> Iterator[str]:
    """Compare ``tool_calls`` with the messages, which may lack calls: messages are often cut.

    Only a conversation that begins with the request, ends with the reply and holds calls of its own shows
    that a call was not made.
    """
    matches, missing = _match_calls(conversation, calls)
    if missing is not None:
        name = name_tool(missing.call.name)
        yield f"messages[{missing.message}] holds {name} that tool_calls lacks or holds otherwise{_CORRECT}"
        return
    yield from _find_contradictions(calls, matches)
    if matches and conversation.is_whole:
        yield from _find_invented(calls, matches)
    if len(conversation.orphans) > len(calls) - len(matches):
        yield from _find_orphans(conversation)
    unknown = [matches[place] for place in matches if calls[place].result is None and not calls[place].error]
    yield from _find_unanswered(unknown, conversation, writing)


def _match_calls(
    conversation: Conversation, calls: Sequence[ToolCall]
) -> tuple[Matches, RecordedCall | None]:
    """Find the calls of the messages in ``tool_calls``; calls of one message may be there in any order.

    Returns:
        The matches, and the first call that is not there.
    """
    arguments = [parse_arguments(call.args) for call in calls]
    matches: dict[int, RecordedCall] = {}
    for _, group in groupby(conversation.calls, key=lambda recorded: recorded.message):
        start = max(matches, default=-1) + 1
        for recorded in group:
            args = parse_arguments(recorded.call.args)
            places = (place for place in range(start, len(calls)) if place not in matches)
            name = recorded.call.name
            fits = (place for place in places if _is_same_call(name, args, calls[place], arguments[place]))
            place = next(fits, None)
            if place is None:
                return matches, recorded
            matches[place] = recorded
    return matches, None


def _is_same_call(name: str, args: object, recorded: ToolCall, recorded_args: object) -> bool:
    # Without arguments, the record of a call is a mere name.
    return name == recorded.name and (recorded.args is None or args == recorded_args)


def _find_unrecorded_result(recorded: ToolCall, other: RecordedCall) -> object:
    """Return the answer that only the message holds; None if ``tool_calls`` says how the call ended."""
    is_open = (recorded.result is None or recorded.result == "") and not recorded.error
    return other.answer.value if is_open and other.answer is not None else None


def _find_contradictions(calls: Sequence[ToolCall], matches: Matches) -> Iterator[str]:
    """Describe how a call and the same call in the messages contradict each other."""
    for place, recorded in matches.items():
        where = f"tool_calls[{place}] and messages[{recorded.message}] disagree"
        yield from (f"{where}{problem}{_CORRECT}" for problem in _compare_call(calls[place], recorded))
    # Parallel calls have no order, so a false number of the message would hide a wrong order.
    numbered = [(calls[place].message, recorded.message) for place, recorded in sorted(matches.items())]
    for number, group in groupby(numbered, key=lambda pair: pair[0]):
        if number is not None and len({message for _, message in group}) > 1:
            yield f"tool_calls[].message {number} stands for calls of several messages{_CORRECT}"


def _compare_call(recorded: ToolCall, other: RecordedCall) -> Iterator[str]:
    if recorded.kind in {"action", "reasoning"}:
        yield f": a tool call is recorded with kind {recorded.kind!r}"
    if other.answer is None:
        return
    if other.answer.is_error and not recorded.error:
        yield ": only the message says that the call failed"
    if _differ(recorded.result, other.answer):
        yield " about the result of the call"


def _differ(result: object, answer: Answer) -> bool:
    """Return whether two answers differ: one describes an error, or two texts that are not merely cut."""
    if result is None or result == "":
        return False
    if not isinstance(result, str) or not isinstance(answer.value, str):
        # One of them may be the object that the other one writes, in any notation.
        return describes_error(answer.value) and not describes_error(result)
    short, long = sorted((result.strip(), answer.value.strip()), key=len)
    return not long.startswith(short.rstrip(".… "))


def _find_invented(calls: Sequence[ToolCall], matches: Matches) -> Iterator[str]:
    """Describe the first tool call that the messages lack; calls of other agents may be elsewhere."""
    if len({call.agent for call in calls if call.agent is not None}) > 1:
        return
    places = (place for place, call in enumerate(calls) if place not in matches and call.kind == "tool")
    for place in list(places)[:1]:
        yield f"tool_calls[{place}] is {name_tool(calls[place].name)} that the messages lack{_CORRECT}"
