"""Reads a case from the caller's data, or lists its problems; wrong data never raises."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from agents.parsing.end_reasons import is_blocked, is_token_limit
from agents.parsing.outcomes import states_error
from evaluation.contract.contract import EvaluationCase, EvaluationContract
from evaluation.contract.requirements import FIELD_PATHS, Contract
from evaluation.contract.run import AgentRun, ToolCall
from evaluation.errors import ContractError
from evaluation.findings import TRUNCATED, Finding
from evaluation.importers.conversation import (
    Conversation,
    RecordedCall,
    convert_calls,
    ends_run,
    ends_with_question,
    read_conversation,
    read_last_answer,
)
from evaluation.importers.imported_message import dump_message, is_visible, read_run_error
from evaluation.sensitive.scanner import shorten
from evaluation.validation import (
    copy_json,
    describe_errors,
    find_odd_values,
    list_field_paths,
)
from evaluation.values import JsonObject, Severity, as_object


def name_tool(name: str) -> str:
    """Name a call in a sentence."""
    return f"a call of {shorten(name)}" if name else "a tool call"


def _find_unanswered(conversation: Conversation, writing: Collection[str]) -> Iterator[str]:
    """Report a call without an answer, if the messages record answers or it writes, and the run went on."""
    last = [] if conversation.has_reply else conversation.last_calls
    has_answers = any(each.answer is not None for each in conversation.calls)
    asked = [each for each in conversation.calls if has_answers or each.call.name in writing]
    if lost := [each for each in asked if each.answer is None and each not in last]:
        name = name_tool(lost[0].call.name)
        yield f"messages[{lost[0].message}] holds {name} that no message answers; record the answer"


def _complete_calls(
    calls: Sequence[ToolCall], recorded: Sequence[ToolCall]
) -> tuple[list[ToolCall], list[str]]:
    """Add to ``tool_calls`` the answers that only the messages hold: one of them may say that a call failed.

    The calls of a tool are in the same order on both sides.

    Returns:
        The calls, and the names of those that only the messages hold.
    """
    waiting: defaultdict[str, deque[ToolCall]] = defaultdict(deque)
    for call in recorded:
        waiting[call.name].append(call)
    complete = []
    for call in calls:
        other = waiting[call.name].popleft() if waiting[call.name] else None
        answer = {"result": other.result, "error": other.error} if other and _is_open(call) else {}
        complete.append(call.model_copy(update=answer))
    return complete, [name for name, left in waiting.items() if left]


def _is_open(call: ToolCall) -> bool:
    """Return whether the record of a call says nothing of how it ended."""
    return (call.result is None or call.result == "") and not call.error


def _doubt(reason: str, severity: Severity = "warning") -> Finding:
    """Build a reason why a record cannot be trusted; with severity ``info``, a run may pass."""
    return Finding("agent_run", "record", None, severity, "record", reason)


def _check_end(conversation: Conversation, run: AgentRun, rules: EvaluationContract) -> Iterator[Finding]:
    """Report a run that ended before the assistant replied, unless its last tool may end it."""
    calls = run.tool_calls
    if conversation.cut_off is not None:
        yield _describe_cut(conversation.cut_off)
        return
    output, has_reply = run.final_output, conversation.has_reply
    if has_reply and output is None and ends_with_question(conversation):
        yield _doubt(_UNANSWERED, "info")
    if has_reply or (calls and not conversation.is_recorded):
        return
    # Many recorders write an empty output for a run that stopped at a call.
    if output is not None and (is_visible(output) or not conversation.ends_with_call):
        return
    tools = {each.call.name: each for each in conversation.last_calls}
    failed = {call.name for call in calls[-len(tools) :] if call.error}
    done = {name for name, each in tools.items() if not _has_failed(each)} - failed
    if not done.isdisjoint(rules.trajectory.final_tools) or any(map(ends_run, done)):
        return
    yield _describe_end(list(tools))


def _describe_cut(cause: str) -> Finding:
    if is_token_limit(cause):
        # It fails: more of it was never written.
        return Finding(TRUNCATED, "record", False, "critical", "response", _TRUNCATED)
    if is_blocked(cause):
        return _doubt(f"The last reply was blocked or refused ({shorten(cause)}), so the run has no output")
    cut = f"The last reply was cut off ({shorten(cause)})"
    return _doubt(f"{cut}, so the run has not finished; record all of it")


_UNANSWERED: Final = (
    "The run ends with a message of the user, so it has no final output; "
    "record the reply, or check assistant_messages"
)
_TRUNCATED: Final = (
    "The last reply was cut off at its limit of tokens, so it is not complete; "
    "allow the model more tokens, or ask for a shorter reply"
)


def _has_failed(call: RecordedCall) -> bool:
    return call.answer is not None and (call.answer.is_error or states_error(call.answer.value))


def _describe_end(tools: Sequence[str]) -> Finding:
    last = f"with {', '.join(map(name_tool, tools))} and " if tools else ""
    hint = ", or name the tool in trajectory.final_tools" if tools else ""
    problem = f"The run ends {last}without a reply of the assistant, so it has not finished"
    return _doubt(f"{problem}; record the reply{hint}")


_LONGEST_NAME: Final = 200
_CASE: Final = frozenset(EvaluationCase.model_fields)
_NORMALIZED: Final = frozenset(
    {"reference_output", "expected_trajectory", "trajectory_match_mode", "thresholds", "rubric"}
)
"""Fields of the contract that the state has in another form."""
_CONTRACT: Final = frozenset(EvaluationContract.model_fields)
_FIELDS: Final = tuple(dict.fromkeys((*list_field_paths(EvaluationCase), *FIELD_PATHS)))


@dataclass(frozen=True, slots=True)
class AcceptedCase:
    """A valid case: its contract, its run and further fields, also as plain JSON and as JSON text."""

    contract: Contract | None
    """None if it states none, and no earlier run to compare with."""
    case: EvaluationCase
    plain: dict[str, Any]
    text: str
    output: str = ""
    """The final output, or the assistant's last message; empty if the run has not finished."""
    doubts: tuple[Finding, ...] = ()
    """The reasons why the record cannot be trusted."""
    conversation: Conversation | None = None
    """The messages of the run; None if it records none."""


@dataclass(frozen=True, slots=True)
class RefusedCase:
    """An invalid case, with one sentence for each problem."""

    problems: tuple[str, ...]
    case_id: str | None = None
    quoted: object = None
    """The JSON value that the problems quote."""


@dataclass(frozen=True, slots=True)
class UnreadableCase:
    """Stands for a case that could not be read from its file; ``evaluate`` reports it as invalid."""

    where: str
    problem: str


def with_baseline(case: object, baseline: object) -> object:
    """Return the case with ``baseline`` in place of its ``baseline_metrics``."""
    plain = to_plain_case(case)
    compared = {"runs": [*baseline]} if isinstance(baseline, list | tuple) else baseline
    return {**plain, "baseline_metrics": compared} if isinstance(plain, Mapping) else plain


def with_contract(case: object, contract: object) -> object:
    """Return the case with ``contract`` in place of its own demands.

    Raises:
        ContractError: The contract is no object, or has a field of a run.
    """
    plain = to_plain_case(case)
    stated = contract
    if isinstance(contract, BaseModel):
        stated = contract.model_dump(exclude_unset=True, include={*_CONTRACT})
    if not isinstance(stated, Mapping):
        raise ContractError(
            f'contract is a {type(stated).__name__}; give an object, such as {{"must_call": ["get_order"]}}'
        )
    if misplaced := sorted((_CASE - _CONTRACT).intersection(stated)):
        raise ContractError(f"contract has {misplaced[0]}, which demands nothing; give it with the run")
    if not isinstance(plain, Mapping):
        return plain
    fields = restore_case(plain)
    # One that is empty is stated, too, and demands nothing.
    return {
        **{name: value for name, value in fields.items() if name not in {*_CONTRACT, "contract"}},
        **(stated or {"contract": Contract()}),
    }


def read_case(data: object) -> AcceptedCase | RefusedCase:
    """Validate a case: an object in the document's shape, an ``EvaluationCase``, or an evaluated state.

    A list, or an object whose ``messages`` are one, is the messages of a run without a contract.

    An accepted case shares nothing with ``data``, but a ``Contract`` in its field ``contract``, which is
    valid already and stands for the fields of a contract, and the ``Conversation`` that its messages were
    read as, in its field ``conversation``.
    """
    if isinstance(data, UnreadableCase):
        return RefusedCase((f"{data.where}: {data.problem}",), data.where)
    value, contract, conversation = to_plain_case(data), None, None
    if value == []:
        return RefusedCase(("the list of messages is empty; give the messages of a run",))
    if isinstance(value, Mapping):
        fields = restore_case(value)
        contract = stated if isinstance(stated := fields.get("contract"), Contract) else None
        conversation = read if isinstance(read := fields.get("conversation"), Conversation) else None
        given = {"contract": contract, "conversation": conversation}
        own = {name: each for name, each in fields.items() if given.get(name) is None}
        value = own if contract is None else {**contract.plain, **own}
    copy = copy_json(value)
    return _refuse_values(value) if copy is None else _validate(*copy, contract, conversation)


def select_fields(state: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of a case in the state of a larger graph, which may have been evaluated before."""
    case = restore_case(state)
    return {name: value for name, value in case.items() if name in _CASE or isinstance(value, Contract)}


def restore_case(state: Mapping[str, object]) -> Mapping[str, object]:
    """Return the case of the final state of an evaluation; any other object as it is."""
    if not state.keys() >= {"contract", "evaluation_report"}:
        return state
    stated = {name: each for name, each in state.items() if name in _CASE - _NORMALIZED}
    # A run without a contract has the default one here, so that an empty one was stated.
    return {**(as_object(state["contract"]) or {"contract": Contract()}), **stated}


def _validate(
    value: Any,  # noqa: ANN401 - JSON
    text: str,
    contract: Contract | None,
    read: Conversation | None,
) -> AcceptedCase | RefusedCase:
    fields = value
    if contract is not None:
        fields = {name: each for name, each in value.items() if name not in _CONTRACT}
    try:
        case = EvaluationCase.model_validate(fields)
    except ValidationError as error:
        return refuse_case(describe_errors(error, value, _FIELDS), value)
    return _import_messages(case, contract or _read_contract(case), value, text, read)


def _read_contract(case: EvaluationCase) -> Contract | None:
    is_compared = case.baseline_metrics is not None
    return Contract.of(case) if is_compared or not _CONTRACT.isdisjoint(case.model_fields_set) else None


def _import_messages(
    case: EvaluationCase,
    contract: Contract | None,
    plain: dict[str, Any],
    text: str,
    read: Conversation | None,
) -> AcceptedCase | RefusedCase:
    """Read the messages of a run: its output, and its calls, if ``tool_calls`` is absent."""
    run, stated, rules = case.agent_run, plain["agent_run"], (contract or Contract()).rules
    if "user_input" in stated:
        rest = {name: value for name, value in stated.items() if name != "user_input"}
        stated = {"input": stated["user_input"], **rest}
    plain = {**plain, "agent_run": stated}
    if "messages" not in run.model_fields_set:
        return AcceptedCase(contract, case, plain, text, run.final_output or "")
    try:
        conversation = read or read_conversation(run.messages)
    except ContractError as error:
        return refuse_case([f"agent_run.{error}"], plain)
    ends = [] if run.error is not None else list(_check_end(conversation, run, rules))
    calls = convert_calls(conversation)
    recorded = [ToolCall.model_validate(call) for call in calls]
    models, lost = _complete_calls(run.tool_calls, recorded)
    if "tool_calls" not in run.model_fields_set:
        models, lost, stated = recorded, [], {**stated, "tool_calls": calls}
    # A record that states the calls before it, such as a session of a coding agent, has all answers.
    whole = [call.name for call in models if "earlier_calls" in run.model_fields_set]
    writing = {*(rules.trajectory.acting_tools or ()), *run.acting_tools, *whole}
    doubts = [*map(_doubt, _find_gaps(conversation, models, lost, writing)), *ends]
    stated = {**stated, "messages": [each.plain for each in conversation.messages]}
    case = case.model_copy(update={"agent_run": run.model_copy(update={"tool_calls": models})})
    output = run.final_output if run.final_output is not None else _find_output(conversation, run, ends)
    plain = {**plain, "agent_run": stated}
    return AcceptedCase(contract, case, plain, text, output, tuple(doubts), conversation)


def _find_output(conversation: Conversation, run: AgentRun, ends: Sequence[Finding]) -> str:
    """Return the last answer of a run that has finished; an empty text for another one."""
    is_open = any(doubt.severity != "info" and doubt.name != TRUNCATED for doubt in ends)
    has_ended = not (is_open or ends_with_question(conversation) or run.error is not None)
    return read_last_answer(conversation) if has_ended else ""


def _find_gaps(
    conversation: Conversation, calls: Sequence[ToolCall], lost: Sequence[str], writing: Collection[str]
) -> Iterator[str]:
    """Report calls and answers that only one of ``messages`` and ``tool_calls`` has, or none."""
    if lost:
        correct = "record the same calls in both, or leave tool_calls out"
        yield f"messages hold {name_tool(lost[0])} that tool_calls lacks; {correct}"
    # Calls that the messages lack explain answers without a call.
    if conversation.orphans and len(conversation.orphans) > len(calls) - len(conversation.calls):
        index = conversation.orphans[0]
        yield f"messages[{index}] answers a tool call that no message before it makes; record the call"
    if any(map(_is_open, calls)):
        yield from _find_unanswered(conversation, writing)


def refuse_case(problems: Sequence[str], value: object, quoted: object = None) -> RefusedCase:
    """Refuse a case; ``quoted`` is the JSON value that the problems quote, by default the case."""
    # Without its name, a refused case could not be found among many reports.
    name = value.get("case_id") if isinstance(value, Mapping) else None
    case_id = shorten(name, _LONGEST_NAME) if isinstance(name, str) else None
    return RefusedCase(tuple(problems), case_id, value if quoted is None else quoted)


def to_plain_case(data: object) -> object:
    """Write a case that is a model as an object, and messages alone as a case.

    Of the other fields of an agent's state, only ``error`` and an empty list ``tool_calls`` count.
    """
    state = data if isinstance(data, Mapping) and "agent_run" not in data else {}
    messages = state.get("messages", data)
    if isinstance(messages, list | tuple) and messages:
        run: JsonObject = {"messages": [dump_message(message) for message in messages]}
        # An empty list beside the messages says that none was made; messages alone may lack them.
        stated: JsonObject = {"earlier_calls": []} if state.get("tool_calls") == [] else {}
        return {"agent_run": {**run, **stated, **read_run_error(state)}}
    # Only fields that are set: a default that is written out would count as a demand of the contract.
    return data.model_dump(exclude_unset=True, warnings=False) if isinstance(data, BaseModel) else data


def _refuse_values(value: object) -> RefusedCase:
    problem = next(find_odd_values(value), "the case cannot be written as JSON")
    return refuse_case([problem], value, problem)
