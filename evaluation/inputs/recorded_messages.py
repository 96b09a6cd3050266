"""Reads the messages of a run at intake: its tool calls, its output, and what keeps it from being trusted."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from agents.parsing.end_reasons import is_blocked, is_token_limit
from evaluation.importers.imported_conversation import Conversation, RecordedCall, read_conversation
from evaluation.importers.imported_message import is_visible
from evaluation.importers.tool_answers import describes_error
from evaluation.inputs.contract import EvaluationCase
from evaluation.inputs.messages import convert_calls
from evaluation.inputs.record_agreement import (
    describe_missing,
    find_contradictions,
    find_invented,
    find_unrecorded_result,
    match_calls,
    name_tool,
)
from evaluation.inputs.run import AgentRun, ToolCall
from evaluation.sensitive.quoting import shorten
from evaluation.values import Severity


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason why a record cannot be trusted, in one sentence; with severity ``info``, a run may pass.

    ``is_truncated`` tells a reply that reached a limit of tokens, which fails: more of it was never written.
    """

    reason: str
    severity: Severity = "warning"
    is_truncated: bool = False


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """A run with the data of its messages."""

    plain: dict[str, object]
    """The run as JSON; its messages have ``role`` and ``content`` as OpenAI spells them."""
    run: AgentRun
    output: str
    doubts: tuple[Doubt, ...] = ()


def import_run(plain: dict[str, object], case: EvaluationCase) -> ImportedRun:
    """Read the messages of a run: its calls, if ``tool_calls`` is absent, and its output.

    Args:
        plain: The run as JSON.
        case: The same run as a model, and its contract.

    Raises:
        ContractError: A message is in no known format.
    """
    run = case.agent_run
    if "messages" not in run.model_fields_set:
        return ImportedRun(plain, run, run.final_output or "")
    conversation = read_conversation(run.messages)
    ends = [] if run.error is not None else list(_check_end(conversation, case))
    output = run.final_output
    if output is None:
        is_unfinished = run.error is not None or any(map(_leaves_output_open, ends))
        output = "" if is_unfinished else conversation.output
    writing = {*(case.trajectory.writing_tools or ()), *run.writing_tools}
    doubts = (*map(Doubt, _check_calls(conversation, run, writing)), *ends)
    return ImportedRun(*_add_calls(plain, run, conversation), output, doubts)


def _add_calls(
    plain: dict[str, object], run: AgentRun, conversation: Conversation
) -> tuple[dict[str, object], AgentRun]:
    plain = {**plain, "messages": [each.plain for each in conversation.messages]}
    if "tool_calls" in run.model_fields_set:
        return plain, _add_results(run, conversation)
    # Without any call, it stays open whether the messages record calls at all.
    if not conversation.calls:
        return plain, run
    calls = convert_calls(conversation)
    models = [ToolCall.model_validate(call) for call in calls]
    return {**plain, "tool_calls": calls}, run.model_copy(update={"tool_calls": models})


def _add_results(run: AgentRun, conversation: Conversation) -> AgentRun:
    """Add the answers that only the messages hold: one of them may say that the call failed."""
    calls = run.tool_calls
    matches, _ = match_calls(conversation, calls)
    results = {place: find_unrecorded_result(calls[place], other) for place, other in matches.items()}
    if all(result is None for result in results.values()):
        return run
    complete = [
        call if results.get(place) is None else call.model_copy(update={"result": results[place]})
        for place, call in enumerate(calls)
    ]
    return run.model_copy(update={"tool_calls": complete})


def _check_end(conversation: Conversation, case: EvaluationCase) -> Iterator[Doubt]:
    """Report a run that ended before the assistant replied, unless its last tool may end it."""
    calls = case.agent_run.tool_calls
    if conversation.cut_off is not None:
        yield _describe_cut(conversation.cut_off)
        return
    if conversation.has_reply or (calls and not conversation.is_recorded):
        return
    output = case.agent_run.final_output
    # Many recorders write an empty output for a run that stopped at a call.
    if output is not None and (is_visible(output) or not conversation.ends_with_call):
        return
    tools = {each.call.name: each for each in conversation.last_calls}
    failed = {call.name for call in calls[-len(tools) :] if call.error}
    done = {name for name, each in tools.items() if not _has_failed(each)} - failed
    if not done.isdisjoint(case.trajectory.final_tools):
        return
    yield _describe_end(list(tools), case)


def _leaves_output_open(doubt: Doubt) -> bool:
    return doubt.severity != "info" and not doubt.is_truncated


def _describe_cut(cause: str) -> Doubt:
    if is_token_limit(cause):
        return Doubt(_TRUNCATED, "critical", is_truncated=True)
    if is_blocked(cause):
        return Doubt(f"The last reply was blocked or refused ({shorten(cause)}), so the run has no output")
    cut = f"The last reply was cut off ({shorten(cause)})"
    return Doubt(f"{cut}, so the run has not finished; record all of it")


_TRUNCATED: Final = (
    "The last reply was cut off at its limit of tokens, so it is not complete; "
    "allow the model more tokens, or ask for a shorter reply"
)


def _has_failed(call: RecordedCall) -> bool:
    return call.answer is not None and (call.answer.is_error or describes_error(call.answer.value))


def _describe_end(tools: Sequence[str], case: EvaluationCase) -> Doubt:
    last = f"with {', '.join(map(name_tool, tools))} and " if tools else ""
    problem = f"The run ends {last}without a reply of the assistant"
    writes = set(tools).intersection(case.trajectory.writing_tools or ())
    if tools and not writes and _asks_only_for_effects(case):
        return Doubt(f"{problem}; its effects were compared all the same", "info")
    hint = ", or name the tool in trajectory.final_tools" if tools else ""
    return Doubt(f"{problem}, so it has not finished; record the reply{hint}")


def _asks_only_for_effects(case: EvaluationCase) -> bool:
    """Return whether the contract compares effects; it does not if it expects nothing but reading calls."""
    expected = {name for action in case.expected_trajectory or () for name in action.names}
    writing = set(case.trajectory.writing_tools or ())
    return case.trajectory.asks_for_effects and (not expected or not expected.isdisjoint(writing))


def _check_calls(conversation: Conversation, run: AgentRun, writing: Collection[str]) -> Iterator[str]:
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
    matches, missing = match_calls(conversation, calls)
    if missing is not None:
        yield describe_missing(missing)
        return
    yield from find_contradictions(calls, matches)
    if matches and conversation.is_whole:
        yield from find_invented(calls, matches)
    if len(conversation.orphans) > len(calls) - len(matches):
        yield from _find_orphans(conversation)
    unknown = [matches[place] for place in matches if calls[place].result is None and not calls[place].error]
    yield from _find_unanswered(unknown, conversation, writing)
