"""Reads from the answer of a tool whether its call acted: the one reader for live and for recorded runs.

A refusal is read first, in any usual form: a status line, an error page, a field that says no, a sentence in
English or German. Known successes are broad: an object without a sign of refusal, an id, a sentence that
affirms. A bare number, an empty text, or words without relation are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from agents.parsing.loose_json import load_json, read_beginning, read_record, unwrap_fence
from agents.parsing.prose_outcomes import (
    AFFIRMATION,
    CONFIRMATION,
    DECIDING,
    ENDING_VERBS,
    ERROR_BEGINNING,
    WITHOUT_ERROR,
    Outcome,
    affirms,
    read_prose,
)
from agents.parsing.tool_names import has_past_form, split_name

_DEPTH: Final = 4
"""Most values within each other that are read."""

# Fields of an object. Names and states are compared in lower case without underscores.
_ERRORS: Final = frozenset(
    {"error", "errors", "iserror", "exception", "failed", "failure", "failures", "fault", "usererrors"}
    | {"validationerrors", "errno"}
)
_CAUSES: Final = re.compile(
    r"(?!on|stop|ignore|continue|last|max)\w*(?:error|failure|refusal|decline|denial|rejection)"
    r"(?:(?:cause|code|count|desc|description|detail|id|info|list|message|msg|name|reason|summary|text|type)s?)?"
)
"""Matches the name of a field that has a value only if the call failed."""
_ZERO_CODE: Final = re.compile("(?:error|errno|err(?:or)?code) 0+")
"""Matches the name and the value of a code which says that there is no error, whatever a message says."""
_SUCCESSES: Final = frozenset({"success", "ok", "succeeded", "successful", "issuccess", "executed"})
_DECISIONS: Final = frozenset(
    {"approved", "accepted", "authorized", "allowed", "permitted", "confirmed", "granted", "valid", "found"}
    | {"acknowledged", "available", "eligible", "possible"}
)
_STAYS_FALSE: Final = frozenset({"available", "found", "valid", "granted", "allowed", "permitted"})
"""Decisions that turn false because a tool did its work: a booked room is not available any more."""
_EXITS: Final = frozenset({"exitcode", "returncode", "exitstatus", "rc"})
_CODES: Final = frozenset({"statuscode", "httpstatus", "httpcode", "status"})
_RESULT_CODES: Final = frozenset({"resultcode", "responsecode", "retcode", "errcode"})
_STATES: Final = frozenset({"status", "state", "outcome", "type"})
_WHOLE_STATES: Final = (_STATES - {"type"}) | {"phase"} | _RESULT_CODES
"""Fields that name the state of the whole: a word that is not known leaves the act open."""
_ABOUT_STATUS: Final = (
    frozenset({"message", "msg", "reason", "detail", "details", "description", "code", "title"})
    | {"retmsg", "errmsg"} | _ERRORS | _SUCCESSES | _DECISIONS | _EXITS | _CODES | _STATES | _RESULT_CODES
)  # fmt: skip
"""The fields of an answer that says no more than its status; other fields are those of a record."""
_WRAPPERS: Final = frozenset(
    {"text", "content", "structuredcontent", "result", "results", "response", "data", "output"}
)
_AROUND: Final = frozenset({"type", "iserror", "meta", "annotations"})
"""Fields beside a wrapped answer, in MCP and in content parts."""
_EARLIER: Final = ("previous", "old", "before", "original", "request", "input", "arg", "param")
"""How the name of a field begins that does not hold the result."""
_COUNTS: Final = re.compile(
    r"\w*(?:affected|changed|(?:dele|inser|upda)ted|matched|modified|sent)(?:count|rows)?|rowcount"
)

# Values of fields, and answers of one word.
_FAILED: Final = frozenset({"error", "fail"})
"""The failures of JSend, which no tool gives a thing on purpose."""
_REFUSED: Final = _FAILED | {
    "failed", "failure", "errored", "declined", "denied", "rejected", "refused", "aborted", "unsuccessful",
    "expired", "forbidden", "timeout", "unauthorized", "abgelehnt", "fehler",
}  # fmt: skip
_NEGATIVE: Final = _REFUSED | {
    "bad", "blocked", "bounced", "conflict", "err", "exceeded", "insufficient", "invalid", "missing", "nok",
    "reverted", "rollback", "unavailable", "undelivered",
}  # fmt: skip
"""Words any of which makes a state a refusal: ``card_declined``, ``INSUFFICIENT_FUNDS``."""
_BUSY: Final = frozenset({"busy", "full", "occupied", "offline", "overloaded", "unreachable"})
"""Words that make a state a refusal if the answer says no more; else they may describe a thing."""
_NEGATIONS: Final = frozenset({"cannot", "no", "non", "not", "nein", "nicht", "out"})
_CREATING: Final = frozenset({"add", "create", "insert", "make", "open", "register"})
_IDS: Final = ("id", "key", "number", "reference", "url")
"""Ends of the names of fields that name a thing."""
_LIVE: Final = frozenset({
    "active", "applied", "available", "captured", "created", "enabled", "inactive", "live", "new", "online",
    "open", "opened", "pending", "planned", "progress", "ready", "requested", "resolved", "running",
    "settled", "solved", "transit", "up", "valid", "waiting",
})  # fmt: skip
"""Words for the state of a thing that exists or is being made."""
_OPEN: Final = re.compile("cancell?ed|draft|ignored|incomplete|noop|skipped|unchanged")
_TO_COME: Final = re.compile(
    rf"(?:is|was)?(?:(?:pending|in|under|needs?|requires?|await(?:s|ing)|waiting)\w{{0,8}}?(?:{DECIDING})"
    rf"|(?:{DECIDING}|action)(?:pending|required|needed|requested)|dryrun|simulat(?:ed|ion)|preview(?:only)?)"
)
"""A state, or the name of a field that is true, which says that the act is still to come."""
_NO: Final = frozenset({"", "false", "none", "null", "0", "no", "nein"})
_NO_ERROR: Final = (_NO - {"no", "nein"}) | {"n/a", "-", "ok", "success", "no error"}
_ERROR_CODE: Final = re.compile("[45][0-9]{2}")
_NOTHING: Final = re.compile(r"(?:null|none|nil|undefined|nan|n/a|[-+]?[\d.,\s]*\d\s?%?)?")

_DOCUMENT: Final = re.compile(r"""\{\s*["'}]|\[\s*(?:[\[{"'\d\]-]|true|false|null)|"(?:[^"\\]|\\.)*+"\s*\Z""")


def read_outcome(tool: str, answer: object, *, is_error: bool = False) -> Outcome:
    """Reads whether the call of an acting tool acted.

    Args:
        tool: The name of the tool; the past form of its verb affirms.
        answer: Its answer, a text or a value of JSON; None if there is none.
        is_error: Whether the call raised an error, or its answer is marked as one.
    """
    return "refused" if is_error else _read_value(tool, answer, _DEPTH)


def states_error(answer: object, depth: int = _DEPTH) -> bool:
    """Checks whether the answer of any tool, also of one that reads, says that the call failed.

    It is narrower than ``read_outcome``: a thing that is read may have been refused, and prose says nothing.

    Args:
        answer: A text, which may be JSON or JSON in a fence, an object, or a list of parts.
        depth: Most values within each other that are read.
    """
    parts: Sequence[object] = answer if isinstance(answer, list) else ()
    if isinstance(answer, str):
        if answer.strip(" .!").lower() in _REFUSED or ERROR_BEGINNING.match(answer):
            return True
        parts = [_load(answer)]
    elif isinstance(answer, Mapping):
        fields = _fold_names(answer)
        states = _REFUSED if _ABOUT_STATUS.issuperset(fields) else _FAILED
        # A command that ended with another code than 0 was run, and may have found nothing.
        if any(_is_failure(name, value, states) for name, value in fields.items() if name not in _EXITS):
            return True
        parts = [fields[name] for name in fields.keys() & _WRAPPERS]
    return depth > 0 and any(states_error(part, depth - 1) for part in parts)


def _load(text: str) -> object:
    """Reads an object, a list or a text that is written as JSON, or as Python writes it; None for prose."""
    document = unwrap_fence(text)
    if not _DOCUMENT.match(document):
        return read_record(document)
    # Python writes other quotation marks than JSON, and recorders cut long answers.
    return load_json(document) if document[0] == '"' else read_beginning(document)


def _fold_names(fields: Mapping[object, object]) -> dict[str, object]:
    return {_fold_word(name): value for name, value in fields.items()}


def _fold_word(value: object) -> str:
    if not isinstance(value, str):
        return ""
    return _fold_name(value) if len(value) <= _LONGEST_NAME else _SEPARATORS.sub("", value).lower()


_SEPARATORS: Final = re.compile(r"[\s_.!-]")
_LONGEST_NAME: Final = 40


@lru_cache(1024)  # the fields of the answers of a run recur
def _fold_name(name: str) -> str:
    return _SEPARATORS.sub("", name).lower()


def _is_failure(name: str, value: object, states: frozenset[str]) -> bool:
    text = value.strip().lower() if isinstance(value, str) else None
    if name in _ERRORS:
        return _is_stated(value)
    if name in _SUCCESSES:
        return value in (False, 0) if text is None else text in _NO
    if name in _EXITS:
        return value not in (0, None) and text not in _NO
    is_code = name in _CODES | _RESULT_CODES and _ERROR_CODE.fullmatch(str(value)) is not None
    return is_code or (name in _STATES and text in states)


def _is_stated(error: object) -> bool:
    """Checks whether the value of a field for errors says that there was one."""
    if isinstance(error, Mapping):
        return any(map(_is_stated, error.values()))
    return error.strip(" .!0").lower() not in _NO_ERROR if isinstance(error, str) else bool(error)


def _read_value(tool: str, value: object, depth: int) -> Outcome:
    if isinstance(value, bool):
        return "acted" if value else "refused"
    if isinstance(value, str):
        return _read_text(tool, value, depth)
    value = _unwrap(value)
    if isinstance(value, Mapping) and depth:
        return _read_object(tool, _fold_names(value), depth - 1)
    if isinstance(value, list) and depth:
        texts = (each for each in value if isinstance(each, Mapping) and each.get("type") == "text")
        if any(map(states_error, texts)):
            return "refused"
        return _join(_read_value(tool, each, depth - 1) for each in value)
    return "unknown"


def _unwrap(value: object) -> object:
    """Returns the value of the only field of an object, if it is an object or a list of objects."""
    while isinstance(value, Mapping) and len(value) == 1:
        [(name, inner)] = _fold_names(value).items()
        inner = _load(inner) if isinstance(inner, str) else inner
        is_object = all(isinstance(each, Mapping) for each in (inner if isinstance(inner, list) else [inner]))
        is_own = name in _ABOUT_STATUS | _REFUSED or name.startswith(_EARLIER) or _names_error(name, inner)
        if not is_object or is_own:
            break
        value = inner
    return value


def _join(outcomes: Iterator[Outcome]) -> Outcome:
    """Returns the outcome of an answer with several parts: unknown if only some of them were refused."""
    kinds = {*outcomes} - {"unknown"}
    return kinds.pop() if len(kinds) == 1 else "unknown"


@lru_cache(64)  # the record and the search for defects read the answers of a run
def _read_text(tool: str, text: str, depth: int) -> Outcome:
    value = _load(text)
    if value is not None and depth:
        return _read_value(tool, value, depth - 1)
    word = text.strip().lower()
    if _NOTHING.fullmatch(word):
        return "unknown"
    is_refused = word.strip(" .!") in _REFUSED or word in _NO
    if is_refused and not has_past_form(tool, word.rstrip(".!")):
        return "refused"
    return read_prose(tool, text)


def _read_object(tool: str, fields: Mapping[str, object], depth: int) -> Outcome:
    signs = {*_list_signs(tool, fields), *_list_inner_signs(tool, fields, depth)} - {"acted"}
    stated = (name for name, value in fields.items() if value is True or _fold_word(value) in {"true", "yes"})
    if signs or any(map(_TO_COME.fullmatch, stated)):
        return "refused" if "refused" in signs else "unknown"
    wrapped = [each for name, each in fields.items() if name in _WRAPPERS]
    if wrapped and fields.keys() - _AROUND <= _WRAPPERS:
        return _join(_read_value(tool, each, depth) for each in wrapped)
    return "acted" if fields else "unknown"


def _list_signs(tool: str, fields: Mapping[str, object]) -> Iterator[Outcome]:
    """Yields the fields of an object that speak against an act."""
    is_status, is_done = _says_only_status(fields), _is_done(tool, fields)
    numbers = {name: value for name, value in fields.items() if type(value) is int}
    is_fine = any(_ZERO_CODE.fullmatch(f"{name} {value}") for name, value in fields.items())
    for given, value in fields.items():
        is_error = given not in _ERRORS and _names_error(given, value, is_record=is_done)
        if is_error and is_fine:
            continue
        name = "error" if is_error else given
        if _is_failure("statuscode" if name == "code" and is_status else name, value, _FAILED):
            # A number of failures may stand beside one of successes, and a record may tell of an error.
            is_partial = given in numbers and any(numbers[other] > 0 for other in numbers if other != given)
            is_record = isinstance(value, str) and bool(fields.get("id")) and _has_state(tool, fields)
            yield "unknown" if name in _ERRORS and (is_partial or is_record) else "refused"
        elif value is False and not is_done and name not in _DECISIONS and CONFIRMATION.fullmatch(name):
            # What was created may be in any state.
            yield ("acted", "unknown", "refused")[is_status + (not _creates(tool))]
        else:
            yield _read_field(tool, name, value, is_status=is_status)
    counts = [numbers[name] for name in numbers if _COUNTS.fullmatch(name) or has_past_form(tool, name)]
    if counts and not any(counts):
        yield "unknown"


def _states_success(fields: Mapping[str, object]) -> bool:
    return any(fields.get(name) is True for name in _SUCCESSES)


def _creates(tool: str) -> bool:
    return bool(_CREATING & {*split_name(tool)})


def _is_done(tool: str, fields: Mapping[str, object]) -> bool:
    """Checks whether a field affirms the act, or names a thing, so that others may be details of it."""
    is_affirmed = any(value is True and AFFIRMATION.fullmatch(name) for name, value in fields.items())
    is_named = any(value and name.endswith(_IDS) for name, value in fields.items())
    return is_affirmed or is_named or _states_success(fields) or _has_state(tool, fields)


def _names_error(name: str, value: object, *, is_record: bool = False) -> bool:
    """Checks whether a field is of an error: in a record, and as a text, it may be a setting."""
    is_group = isinstance(value, list | Mapping) and not is_record
    return name.startswith("error") and (is_group or bool(_CAUSES.fullmatch(name)))


def _says_only_status(fields: Mapping[str, object]) -> bool:
    """Checks whether an object has no field of a record: those that are null or "not done" are none."""
    is_success = _states_success(fields)
    return all(
        name in _ABOUT_STATUS
        or _CAUSES.fullmatch(name)
        or _names_error(name, value)
        or value is None
        or (value is False and not is_success and AFFIRMATION.fullmatch(name))
        for name, value in fields.items()
    )


def _has_state(tool: str, fields: Mapping[str, object]) -> bool:
    state = fields.get("status", fields.get("state"))
    return isinstance(state, str) and _read_state(tool, state, _NEGATIVE) == "acted"


def _read_denied(tool: str, name: str, *, is_status: bool) -> Outcome:
    """Reads a field whose value is false or no: "acted" if that says nothing against an act."""
    if has_past_form(tool, name) or name in _WHOLE_STATES:
        return "refused"
    is_undone = any(has_past_form(verb, name) for verb in ENDING_VERBS) or has_past_form(tool, f"un{name}")
    if is_undone or name in {"queued", "scheduled"}:
        return "acted"  # it was not undone and does not wait, or an unlocked account is not locked
    if name in _STAYS_FALSE | _LIVE and ENDING_VERBS & {*split_name(tool)}:
        return "unknown" if name in _STAYS_FALSE else "acted"
    if is_status:
        return "refused" if name in _DECISIONS or AFFIRMATION.fullmatch(name) else "acted"
    return "unknown" if name in _DECISIONS - {"available"} else "acted"


def _read_code(name: str, code: int, *, is_status: bool) -> Outcome:
    is_code = name in _RESULT_CODES or (name in _CODES and code in range(300, 400))
    is_code = is_code or (is_status and name in _CODES | {"code"})
    return "unknown" if is_code and code not in (0, 1, *range(200, 300)) else "acted"


def _read_field(tool: str, name: str, value: object, *, is_status: bool) -> Outcome:
    """Reads the word of a field on an act: "acted" if it says nothing against it."""
    if name == "detail" and isinstance(value, list):
        return "refused"
    if value is False or _fold_word(value) in {"false", "no", "nein"}:
        return _read_denied(tool, name, is_status=is_status)
    if name in _REFUSED - _ERRORS - _FAILED and value and not has_past_form(tool, name):
        return "refused" if value is True else "unknown"
    if type(value) is int:
        return _read_code(name, value, is_status=is_status)
    return _read_word(tool, name, value, is_status=is_status) if isinstance(value, str) else "acted"


def _read_word(tool: str, name: str, text: str, *, is_status: bool) -> Outcome:
    if name.startswith(_EARLIER):
        return "acted"
    is_whole = name in _WHOLE_STATES
    if is_whole or name.endswith(("status", "state", "outcome")) or (name == "result" and " " not in text):
        # What was created may be in any state.
        is_made = not is_whole or (not is_status and _creates(tool))
        negative = _NEGATIVE | _NEGATIONS if is_whole or name == "result" else _NEGATIVE
        negative |= _BUSY if is_status else frozenset()
        read = _read_state(tool, text, negative)
        return "acted" if read == "unknown" and is_made and not _is_open(text) else read
    if _CAUSES.fullmatch(name) and _is_stated(text):
        return "refused" if is_status else "unknown"
    is_refused = is_status and _read_text(tool, text.replace("_", " "), 1) == "refused"
    return "refused" if is_refused else "acted"


def _is_open(state: str) -> bool:
    word = _fold_word(state)
    return bool(_OPEN.fullmatch(word) or _TO_COME.fullmatch(word))


def _read_state(tool: str, text: str, negative: frozenset[str]) -> Outcome:
    """Reads the value of a state, word by word: a word that is not known affirms nothing."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).replace("_", " ").lower()
    words = {*re.findall(r"[^\W\d]+", WITHOUT_ERROR.sub("ok", plain))}
    # A tool that sets a state answers with the state that it has set.
    sets_state = bool({"status", "state", "stage"} & {*split_name(tool)})
    word = _fold_word(text)
    if has_past_form(tool, word) or word in {*split_name(tool)} - _FAILED:
        return "acted"
    if words & (_FAILED if sets_state else negative) or ERROR_BEGINNING.match(text):
        return "refused"
    if _is_open(text):
        return "unknown"
    is_live = words & _LIVE or word.endswith("ing") or text.isdecimal()
    return "acted" if sets_state or is_live or affirms(tool, plain) else "unknown"


def _list_inner_signs(tool: str, fields: Mapping[str, object], depth: int) -> Iterator[Outcome]:
    """Yields what values within an object say against an act."""
    is_wrapper = (_ABOUT_STATUS | _WRAPPERS).issuperset(fields)
    for name, value in fields.items() if depth else ():
        is_wrapped = name in _WRAPPERS and (is_wrapper or not isinstance(value, str))
        if name in _ERRORS or name.startswith(_EARLIER) or not (is_wrapped or isinstance(value, Mapping)):
            continue
        parts = value if isinstance(value, list) else [value]
        read = {_read_value(tool, each, depth - 1) for each in parts if each is not False}
        if "refused" in read:
            # Beside the fields of a record, it may be that of something else.
            yield "refused" if len(read) == 1 and (is_wrapped or len(fields) == 1) else "unknown"
