"""Reads the messages of a run at intake: its tool calls, its output, and what keeps it from being trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from agents.parsing.end_reasons import is_blocked, is_token_limit
from evaluation.importers.imported_conversation import Conversation, RecordedCall, read_conversation
from evaluation.importers.imported_message import is_visible
from evaluation.importers.tool_answers import describes_error
from evaluation.inputs.contract import EvaluationCase
from evaluation.inputs.messages import convert_calls
from evaluation.inputs.record_agreement import add_results, check_calls, name_tool
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
        is_open = any(doubt.severity != "info" and not doubt.is_truncated for doubt in ends)
        is_unanswered = conversation.ends_with_user
        output = "" if is_open or is_unanswered or run.error is not None else conversation.output
    writing = {*(case.trajectory.writing_tools or ()), *run.writing_tools}
    doubts = (*map(Doubt, check_calls(conversation, run, writing)), *ends)
    return ImportedRun(*_add_calls(plain, run, conversation), output, doubts)


def _add_calls(
    plain: dict[str, object], run: AgentRun, conversation: Conversation
) -> tuple[dict[str, object], AgentRun]:
    plain = {**plain, "messages": [each.plain for each in conversation.messages]}
    if "tool_calls" in run.model_fields_set:
        return plain, add_results(run, conversation)
    # Without any call, it stays open whether the messages record calls at all.
    if not conversation.calls:
        return plain, run
    calls = convert_calls(conversation)
    models = [ToolCall.model_validate(call) for call in calls]
    return {**plain, "tool_calls": calls}, run.model_copy(update={"tool_calls": models})


def _check_end(conversation: Conversation, case: EvaluationCase) -> Iterator[Doubt]:
    """Report a run that ended before the assistant replied, unless its last tool may end it."""
    calls = case.agent_run.tool_calls
    if conversation.cut_off is not None:
        yield _describe_cut(conversation.cut_off)
        return
    output = case.agent_run.final_output
    if conversation.has_reply and conversation.ends_with_user and output is None:
        yield Doubt(_UNANSWERED, "info")
    if conversation.has_reply or (calls and not conversation.is_recorded):
        return
    # Many recorders write an empty output for a run that stopped at a call.
    if output is not None and (is_visible(output) or not conversation.ends_with_call):
        return
    tools = {each.call.name: each for each in conversation.last_calls}
    failed = {call.name for call in calls[-len(tools) :] if call.error}
    done = {name for name, each in tools.items() if not _has_failed(each)} - failed
    if not done.isdisjoint(case.trajectory.final_tools):
        return
    yield _describe_end(list(tools), case)


def _describe_cut(cause: str) -> Doubt:
    if is_token_limit(cause):
        return Doubt(_TRUNCATED, "critical", is_truncated=True)
    if is_blocked(cause):
        return Doubt(f"The last reply was blocked or refused ({shorten(cause)}), so the run has no output")
    cut = f"The last reply was cut off ({shorten(cause)})"
    return Doubt(f"{cut}, so the run has not finished; record all of it")


_UNANSWERED: Final = (
    "The run ends with a message of the user, so it has no final output; "
    "record the reply, or check assistant_messages"
)
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
