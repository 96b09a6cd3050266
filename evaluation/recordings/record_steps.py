"""What templates cannot say of the records of some formats: functions of a run and its records."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from agents.parsing.loose_json import change_leaves
from evaluation.recordings.record_template import find
from evaluation.values import JsonObject, as_list, as_object

_BLOCK: Final = re.compile(r"```(?:mswea_)?bash(?:_command)?\s*\n(.*?)\n```", re.DOTALL)
_SUBMIT: Final = re.compile(r"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT|MINI_SWE_AGENT_FINAL_OUTPUT")


def mark_commands(_run: JsonObject, records: list[object]) -> list[object]:
    """Writes the commands of a text as calls, and marks the message of the user that answers them."""
    marked: list[object] = []
    is_open = False
    for record in records:
        fields = as_object(record)
        is_agent, is_answer = fields.get("role") == "assistant", is_open and fields.get("role") == "user"
        written = {"tool_calls": [*map(_name_submission, as_list(fields.get("tool_calls")))]}
        commands = written if written["tool_calls"] else _read_commands(fields)
        is_open = is_agent and not written["tool_calls"] and bool(commands)
        changes = commands if is_agent else {"role": "observation"} if is_answer else {}
        marked.append({**fields, **changes} if changes else record)
    return marked


def _name_submission(call: object) -> object:
    function = as_object(as_object(call).get("function"))
    is_last = _SUBMIT.search(str(function.get("arguments")))
    return {**as_object(call), "function": {**function, "name": "submit"}} if is_last else call


def _read_commands(fields: JsonObject) -> JsonObject:
    """Returns the text and the calls of a message with commands; no field if it has none."""
    action, text = fields.get("action"), str(fields.get("content"))
    if isinstance(action, str) and action.strip():
        call = {"name": action.split()[0], "args": {"command": action}}
        return {"content": fields.get("thought") or text, "tool_calls": [call]}
    names = (("submit" if _SUBMIT.search(each) else "bash", each) for each in _BLOCK.findall(text))
    calls = [{"name": name, "args": {"command": command}} for name, command in names]
    # The agent has to write one block; a text with more is answered with a complaint.
    return {"content": _BLOCK.sub("", text).strip(), "tool_calls": calls} if len(calls) == 1 else {}


def add_question(run: JsonObject, records: list[object]) -> list[object]:
    """Puts the input of a run of the OpenAI Agents SDK before its items."""
    asked = find(run, "original_input|originalInput|input")
    items = [{"role": "user", "content": asked}] if isinstance(asked, str) else as_list(asked)
    return [*({"type": "input_item", "raw_item": each} for each in items), *records]


def replace_earlier(_run: JsonObject, records: list[object]) -> list[object]:
    """Returns the last state of each record: Gemini CLI writes one again when its calls are answered.

    Those from the one on to which the user went back are marked; from all of them, if it is not there.
    """
    last: dict[object, object] = {}
    for place, record in enumerate(records):
        id_, back = find(record, "id"), find(record, "$rewindTo")
        names = [*last] if isinstance(back, str) else []
        left = names[names.index(back) if back in names else 0 :]
        last |= {name: {"left": last[name]} for name in left}
        if not isinstance(back, str):
            last[id_ if isinstance(id_, str) else place] = record
    return [*last.values()]


def mark_branches(_run: JsonObject, records: list[object]) -> list[object]:
    """Marks the entries of pi that are not on the way to the last one: the user went back before them."""
    links = [(str(find(each, "id")), str(find(each, "parentId") or "")) for each in records]
    chosen = _list_way(dict(links), links[-1][0] if links else "")
    pairs = zip(records, links, strict=True)
    return [each if id_ in chosen or not parent else {"left": each} for each, (id_, parent) in pairs]


def _list_way(parents: Mapping[str, str], last: str) -> set[str]:
    """Returns the ids of an entry and of all those that it follows."""
    way = set[str]()
    while last in parents and last not in way:
        way.add(last)
        last = parents[last]
    return way


def mark_session(_run: JsonObject, records: list[object]) -> list[object]:
    """Marks the records behind a prompt that the user of Claude Code took back, and a summary at the start.

    Only a prompt begins a branch: of parallel calls, the last entry follows from one result alone.
    """
    links = [*map(_read_link, records)]
    said = [id_ for record, (id_, _) in zip(records, links, strict=True) if _is_said(record)]
    last = next(filter(None, reversed(said)), "")
    forks = {parent for _, parent in links} - _list_way(dict(links), last)
    roots: dict[str, str] = {}
    for id_, parent in links:
        roots |= {id_: roots.get(parent, parent or id_)} if id_ else {}
    left, marked = set[str](), list[object]()
    for record, (id_, parent) in zip(_mark_summary(records), links, strict=True):
        is_fork = id_ in forks and roots.get(id_) == roots.get(last) and _is_prompt(record)
        left |= {id_} if id_ and (is_fork or parent in left) else set()
        marked.append({"left": record} if id_ in left else record)
    return marked


def _read_link(record: object) -> tuple[str, str]:
    """Returns the id of an entry and of the one before; the first prompts of a session have one in common."""
    session = find(record, "sessionId") if _is_prompt(record) else None
    before = find(record, "parentUuid|logicalParentUuid") or session
    return str(find(record, "uuid") or ""), str(before or "")


def _is_said(record: object) -> bool:
    return find(record, "type") in ("user", "assistant") and not find(record, "isSidechain")


def _is_prompt(record: object) -> bool:
    is_result = find(record, "message.content.0.type") == "tool_result"
    is_of_program = find(record, "isMeta") or find(record, "isCompactSummary")
    return _is_said(record) and find(record, "type") == "user" and not is_result and not is_of_program


def _mark_summary(records: list[object]) -> list[object]:
    kinds = ["summary" if find(each, "isCompactSummary") is True else find(each, "type") for each in records]
    first = next((place for place, kind in enumerate(kinds) if kind in ("summary", "assistant")), None)
    if first is None or kinds[first] != "summary":
        return records
    marked = {**as_object(records[first]), "stands_for_earlier": True}
    return [*records[:first], marked, *records[first + 1 :]]


def mark_steps(run: JsonObject, records: list[object]) -> list[object]:
    """Names the subagent of each step of ATIF, and puts the last message of a subagent where its result is.

    A step that was copied from an earlier trajectory made no calls in this one.
    """
    children = as_list(run.get("subagent_trajectories"))
    ends = {str(find(each, "trajectory_id")): find(each, "steps.-1.message") for each in children}
    return [_mark_step(as_object(each), ends) if isinstance(each, dict) else each for each in records]


def _mark_step(step: JsonObject, ends: JsonObject) -> JsonObject:
    agent = find(step, "extra.agent_id") if find(step, "extra.is_sidechain") is True else None
    marked = {**step, "nested_agent": agent}
    if step.get("is_copied_context") is True:
        marked = {name: value for name, value in marked.items() if name not in ("tool_calls", "timestamp")}
    results = find(step, "observation.results")
    if not isinstance(results, list):
        return marked
    filled = [_fill_result(each, ends) for each in results]
    return {**marked, "observation": {"results": filled}}


def _fill_result(result: object, ends: JsonObject) -> object:
    end = ends.get(str(find(result, "subagent_trajectory_ref.0.trajectory_id")))
    is_open = end is not None and find(result, "content") is None
    return {**as_object(result), "content": end} if is_open else result


def attach(run: JsonObject, records: list[object]) -> list[object]:
    """Puts the texts in their places that Inspect has elsewhere, because they are long or repeated."""
    attachments = as_object(run.get("attachments"))
    return [change_leaves(record, partial(_attach, attachments)) for record in records]


def _attach(attachments: JsonObject, value: object) -> object:
    is_reference = isinstance(value, str) and value.startswith("attachment://")
    return attachments.get(str(value).removeprefix("attachment://"), value) if is_reference else value


STEPS: Final[Mapping[str, Callable[[JsonObject, list[object]], list[object]]]] = {
    step.__name__: step
    for step in (
        mark_commands,
        add_question,
        mark_steps,
        replace_earlier,
        mark_branches,
        mark_session,
        attach,
    )
}
"""The steps by the name that a format gives as ``prepare``."""
