"""Reads a verdict from a model's reply, and finds a denial in it. It fails closed, and never raises."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from agents.parsing.loose_json import (
    find_containers,
    fold_object,
    is_finite_json,
    iter_objects,
    load_json,
    read_boolean,
    replace_surrogates,
)
from agents.parsing.thoughts import remove_marked_thoughts
from agents.reply_types import Unreadable, Verdict

# An escape may spell a key, so the object has to be decoded before it can be passed over.
_VERDICT_SIGN: Final = re.compile(r"success|feedback|\\u", re.IGNORECASE)
_PREFIX: Final = re.compile(r"^(?:is|was|has|overall|final|judge|total|stated)_")
_APPROVALS: Final = frozenset({
    "success", "successful", "pass", "passed", "passes", "approve", "approved", "accept", "accepted",
    "acceptable", "ok",
})  # fmt: skip
_MET: Final = frozenset({
    "met", "achieved", "complete", "completed", "finished", "done", "fulfilled", "allowed", "satisfied",
    "correct", "compliant", "valid", "satisfactory", "safe", "harmless", "appropriate", "factual",
    "faithful", "grounded", "truthful", "final", "ready",
})  # fmt: skip
"""Names, also behind a noun (goal_achieved), that deny with false or no; another text may be a date."""
_OPPOSITES: Final = frozenset({"not", "never", "un", "in", "non", "partially"})
_VERDICTS: Final = frozenset({
    "verdict", "decision", "judgment", "judgement", "conclusion", "status", "outcome", "result", "rating",
    "grade", "mark", "overall", "assessment", "pass_fail", "label",
    "recommendation", "recommended_action", "action",
})  # fmt: skip
_WORK: Final = r"(?:\w+_)?(?:review|revisions?|(?:re)?work|improvements?|changes?|corrections?|fix|retry)"
_FAULT: Final = re.compile(
    rf"""errors? | error_message | failure_reason | failures? | fail(?:s|ed)? | reject(?:ed)? | refused?
    | deny | denied | (?:block|halt)(?:ed)? | in(?:complete|correct|valid) | un(?:successful|acceptable|safe)
    | wrong | harmful | toxic | hallucinat(?:ed|ion) | retry | revise | redo | must_fix
    | (?:needs?|requires?)_{_WORK} | {_WORK}_(?:needed|required)""",
    re.VERBOSE,
)
"""Names that deny with any value, unless it says that there is none."""
_NOTHING: Final = re.compile(
    r"\W*(?:(?:no|none|nothing|null|nil|false|n/?a|0)(?:\s+(?:errors?|failures?))?(?:\s+found)?)?\W*",
    re.IGNORECASE,
)
_NO: Final = frozenset({"no", "n", "false"})
_REFUSING_WORD: Final = re.compile(
    r"""\s*(?-i:[DEF])[+-]?\s*$ | [^\w❌✗✘👎]*+(?: [❌✗✘👎]
    | (?:not|never)[\s_-]+(?:pass|approv|accept|allow|ok|success|met)\w*
    | (?:fail|reject|refus|disapprov)\w* | den(?:y|ied) | block(?:ed)? | halt(?:ed)? | abort(?:ed)?
    | revise | retry | redo | do[\s_-]+not[\s_-]+(?:approve|accept|pass)
    | un(?:successful|acceptable|satisfactory|clear|decided)
    | in(?:correct|sufficient|adequate|valid|complete|conclusive) | wrong | bad | poor
    | needs?[\s_-](?:work|review|revision|improvement)
    | nein | abgelehnt | durchgefallen | nicht[\s_-]+(?:bestanden|erfüllt|erreicht|genehmigt|akzeptab\w+) )
    (?: \s*+$ | \s*+[^\w\s] | \s+(?:because|as|since|due)\b | \s+(?:the|this)\s+(?:output|answer|run)\b )""",
    re.IGNORECASE | re.VERBOSE,
)
_APPROVING_WORD: Final = re.compile(
    r"\W*+(?:true|yes|ja|y|1|ok(?:ay)?|pass(?:e[sd])?|success(?:ful)?|approv(?:ed?|al)|accept(?:ed|able)?)\b",
    re.IGNORECASE,
)


def read_verdict(text: str) -> Verdict | Unreadable:
    """Reads a verdict.

    A success needs a complete JSON object that states it, and no field that contradicts it. A reply is
    unreadable if an object is cut off, if an object mentions success or feedback and is no verdict, if two
    verdicts differ, or if the value is neither a boolean nor the word "true" or "false".

    Args:
        text: A model's reply.

    Returns:
        The verdict, or the reason if none can be read.
    """
    # A lone end of thoughts may be a quotation, so objects before it are read as well.
    document = remove_marked_thoughts(text)
    spans = [*find_containers(document)]
    if None in spans:
        return Unreadable(text, "a JSON object is cut off")
    objects = [document[slice(*each)] for each in spans if each and _VERDICT_SIGN.search(document, *each)]
    verdicts = [verdict for each in objects if (verdict := _read_object(each)) is not None]
    if len(verdicts) < len(objects):
        return Unreadable(text, "no single boolean 'success' in a JSON object")
    if not verdicts:
        return Unreadable(text, "no JSON object with a boolean 'success'")
    if len({verdict["success"] for verdict in verdicts}) > 1:
        return Unreadable(text, "two verdicts that contradict each other")
    return verdicts[-1]


def _read_object(written: str) -> Verdict | None:
    value = load_json(written)
    try:
        fields = fold_object(value.items()) if isinstance(value, dict) else {}
    except ValueError:
        return None
    success = read_boolean(fields.get("success"))
    if success is None or (success and (find_denial(value) is not None or not is_finite_json(value))):
        return None
    return Verdict(success=success, feedback=_read_feedback(fields.get("feedback")))


def _read_feedback(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "" if value is None else replace_surrogates(text)


def find_denial(value: object) -> str | None:
    """Finds a field that states a refusal, such as ``"passed": "false"`` or ``"verdict": "fail"``.

    Args:
        value: A decoded reply. Nested objects and lists are searched, too.

    Returns:
        The field with its value, as text; None if there is none.
    """
    objects = iter_objects(value) if isinstance(value, Mapping) else ()
    fields = ((str(name), part) for each in objects for name, part in each.items())
    return next((f"{name!r} is {part!r}" for name, part in fields if _is_denial(name, part)), None)


def _is_denial(name: str, value: object) -> bool:
    # In lower case with underscores, without a prefix such as "is" or "overall".
    words = re.sub(r"[\W_]+|(?<=[a-z\d])(?=[A-Z])", "_", name)
    field = _PREFIX.sub("", words.casefold().strip("_"))
    text = value.strip(" .!*").lower() if isinstance(value, str) else None
    if _FAULT.fullmatch(field):
        return bool(value) if text is None else _NOTHING.fullmatch(text) is None
    if field in _APPROVALS:
        # A text such as "not yet" or "unclear" is no approval either; null is a field that was left out.
        return value is not None and not value if text is None else _APPROVING_WORD.match(text) is None
    is_no = value is False or text in _NO
    if field in _VERDICTS:
        return is_no or (isinstance(value, str) and _REFUSING_WORD.match(value) is not None)
    return is_no and field.rpartition("_")[2] in _MET and _OPPOSITES.isdisjoint(field.split("_"))
