"""Builds the evidence of short runs."""

import json

from evaluation import evaluate
from evaluation.defects.evidence import build_call, build_evidence, build_evidence_of_answer
from evaluation.defects.rules import find_defects

TASK = "Book the room Fjord on 2026-05-04 and mail the confirmation to ada@example.com."
STRICT = {"audit": {"defects": "fail"}}
SLOTS = ("find_slots", {"day": "2026-05-04"}, {"slots": ["10:00", "11:00"]})
BOOKED = ("book_room", {"room": "Fjord", "day": "2026-05-04"}, {"status": "confirmed", "id": "bk_7712"})


def run(task, *parts):
    """Returns the findings of a conversation; a part is a text of the assistant, or (tool, args, result)."""
    messages = [{"role": "user", "content": task}]
    for number, part in enumerate(parts):
        if isinstance(part, str):
            messages.append({"role": "assistant", "content": part})
            continue
        name, args, result = part
        call = {
            "id": str(number),
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(args)},
        }
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": str(number), "content": json.dumps(result)})
    actions = [
        {"kind": "tool", "name": name, "args": args, "result": json.dumps(result), "error": None}
        for name, args, result in (part for part in parts if not isinstance(part, str))
    ]
    return find_defects(build_evidence({"messages": messages}, actions, parts[-1]))


def levels(task, *parts):
    """Returns the rules and levels of the findings of a conversation, without notes."""
    return {(each.rule, each.level) for each in run(task, *parts) if each.level != "note"}


def report_on(task, answer, **run):
    """Returns the report of a run that is failed by a defect."""
    return evaluate({"agent_run": {"input": task, "final_output": answer, **run}, **STRICT})


def judge_answer(task, calls, answer):
    """Returns the levels of the findings of an answer after calls of tools."""
    made = [build_call(place, call) for place, call in enumerate(calls)]
    return {each.level for each in find_defects(build_evidence_of_answer(task, answer, made))}
