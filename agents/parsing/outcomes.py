"""Reads from the answer of a tool whether its call acted: the one reader for live and for recorded runs.

A refusal is read first, in any usual form: a status line, an error page, a field that says no, a sentence in
English or German. Known successes are broad: an object without a sign of refusal, an id, a sentence that
affirms. A bare number, an empty text, or words without relation are unknown.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Final, Literal

from agents.parsing.loose_json import load_json, read_beginning, unwrap_fence
from agents.parsing.tool_names import ACTING_VERBS, has_past_form, list_past_forms, match_past, split_name

Outcome = Literal["acted", "refused", "unknown"]

_DEPTH: Final = 4
"""Most values within each other that are read."""
_LONGEST: Final = 2_000
"""Characters of prose that are read: an answer begins with what was done."""

# Fields of an object. Names and states are compared in lower case without underscores.
_ERRORS: Final = frozenset(
    {"error", "errors", "iserror", "exception", "errormessage", "errorcode", "failed", "failure", "failures"}
    | {"fault", "usererrors", "validationerrors"}
)
_SUCCESSES: Final = frozenset({"success", "ok", "succeeded", "successful", "issuccess", "executed"})
_DECISIONS: Final = frozenset(
    {"approved", "accepted", "authorized", "allowed", "permitted", "confirmed", "granted", "valid", "found"}
)
_EXITS: Final = frozenset({"exitcode", "returncode", "exitstatus", "rc"})
_CODES: Final = frozenset({"statuscode", "httpstatus", "httpcode", "status"})
_STATES: Final = frozenset({"status", "state", "outcome", "type"})
_ABOUT_STATUS: Final = (
    frozenset({"message", "msg", "reason", "detail", "details", "description", "code", "title"})
    | _ERRORS | _SUCCESSES | _DECISIONS | _EXITS | _CODES | _STATES
)  # fmt: skip
"""The fields of an answer that says no more than its status; other fields are those of a record."""
_WRAPPERS: Final = frozenset(
    {"text", "content", "structuredcontent", "result", "results", "response", "data", "output"}
)
_AROUND: Final = frozenset({"type", "iserror", "meta", "annotations"})
"""Fields beside a wrapped answer, in MCP and in content parts."""
_EARLIER: Final = ("previous", "old", "before", "original", "request", "input", "arg", "param")
"""How the name of a field begins that does not hold the result."""
_COUNTS: Final = re.compile(r"\w*(?:affected|changed|(?:dele|inser|upda)ted|matched|modified|sent)(?:count)?")

# Values of fields, and answers of one word.
_FAILED: Final = frozenset({"error", "fail"})
"""The failures of JSend, which no tool gives a thing on purpose."""
_REFUSED: Final = _FAILED | {
    "failed", "failure", "errored", "declined", "denied", "rejected", "refused", "aborted", "unsuccessful",
    "expired", "forbidden", "timeout", "unauthorized", "abgelehnt", "fehler",
}  # fmt: skip
_OPEN: Final = re.compile("cancell?ed|draft|ignored|incomplete|noop|skipped|unchanged")
_DECIDING: Final = "approval|confirmation|authori[sz]ation|review|verification|permission|consent|action"
_TO_COME: Final = re.compile(
    rf"(?:is|was)?(?:(?:pending|in|under|needs?|requires?|await(?:s|ing)|waiting)\w{{0,8}}?(?:{_DECIDING})"
    rf"|(?:{_DECIDING})(?:pending|required|needed|requested)|dryrun|simulat(?:ed|ion)|preview(?:only)?)"
)
"""A state, or the name of a field that is true, which says that the act is still to come."""
_NO: Final = frozenset({"", "false", "none", "null", "0", "no", "nein"})
_NO_ERROR: Final = (_NO - {"no", "nein"}) | {"n/a", "-", "ok", "success", "no error"}
_ERROR_CODE: Final = re.compile("[45][0-9]{2}")
_NOTHING: Final = re.compile(r"(?:null|none|nil|undefined|nan|n/a|[-+]?[\d.,\s]*\d\s?%?)?")

_DOCUMENT: Final = re.compile(r"""\{\s*["'}]|\[\s*(?:[\[{"'\d\]-]|true|false|null)|"(?:[^"\\]|\\.)*+"\s*\Z""")
_MARKUP: Final = re.compile(r"\s*<[!?]?[A-Za-z][^<>]*>")
_ERROR_ELEMENT: Final = re.compile(
    r"<(?:\w+:)?(?:errors?|fault|exception|failure|tool_use_error)\b[^<>/]*>(?!\s*(?:0|false|none|null)?\s*</)",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(r"<(?:title|h1)\b[^<>]*>([^<]*)", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]*>")
_PHRASES: Final = "|".join(re.escape(each.phrase) for each in HTTPStatus if each in range(400, 600))
_ERROR_BEGINNING: Final = re.compile(
    rf"""[\W_]*+(?: \w*(?:error|exception)[*_]*: | fail(?:ed|ure): | error\ (?:executing|invoking)\ tool
    | an\ error\ occurred\ while\ running\ the\ tool | tool_use_error>
    | traceback\ \(most\ recent\ call\ last\)
    | (?:http(?:/[\d.]+)?|(?:error|status|code)(?:\ code)?:?)\ [45]\d\d\b(?!-)
    | [45]\d\d\W{{1,3}}(?:{_PHRASES}|(?:client|server)\ error)\b | (?:{_PHRASES})\W*\Z
    | fehler\W*(?:beim|:) )""",
    re.IGNORECASE | re.VERBOSE,
)
"""How the answer of a failed call begins in HTTP, Python, LangGraph, MCP and OpenAI's Agents SDK."""
_QUOTED: Final = re.compile(
    r"""(?<!\w)(?:'[^'\n]*'|"[^"\n]*"|`[^`\n]*`|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»)(?!\w)"""
)
_WITHOUT_ERROR: Final = re.compile(
    r"""\b(?:no|0|zero|without(?:\ any)?|kein\w*|ohne)\s(?:\w+\s)?
        (?:errors?|fail(?:ures?|ed)|problems?|issues?|warnings?|conflicts?|fehlern?|probleme?)\b(?:\ found)?
    | \b(?:errors?|fail(?:ed|ures?)|fehler)\s?[:=]\s?(?:0|none|null|false|no)\b
    | \bexit(?:ed)?\W(?:with\s)?(?:code|status)?\W*0\b""",
    re.VERBOSE,
)
_DENIED: Final = (
    "declined|denied|refused|rejected|expired|failed|aborted|blocked|forbidden|unauthori[sz]ed|unavailable"
    "|unsuccessful|suspended|timed out|fehlgeschlagen|gescheitert|abgelehnt|abgelaufen|verweigert|abgebrochen"
    "|gesperrt|verboten|ungültig"
)
_CAUSE: Final = "because|due|by|for|since|with|after|the|your|this|it|wegen|von|durch|weil"
_REFUSALS: Final = (
    r"\A[45]\d\d: ",
    r"(?:could|can|did|will|would|may|must) not(?: be| have been)?(?: \w+)?(?: (?:or|and|oder) \w+)*",
    r"never (?:been )?(?:\w{2,}ed|done)",
    r"(?:does|do) not (?:exist|have|match|support|belong|allow|own|accept|permit|meet|qualify)",
    r"not (?:yet |been |be |fully )*(?:\w{2,}ed|\w+able|sent|paid|made|found|done|bought|possible|enough)",
    r"(?:(?:un|not )able|fail\w*|refus\w*) to(?: \w+)?",
    r"(?:no \w+(?: \w+)?|nothing) (?:was|were|has been|have been|exists?|found|available)(?: \w+)?",
    r"no such|nothing to|not enough|insufficient|invalid|too many requests|rate limit\w*|quota exceeded",
    r"connection (?:was )?(?:reset|refused|closed|aborted|lost)",
    r"exceed(?:s|ed) (?:the|your|its|max\w*)|with (?:an )?errors?|time[- ]?out",
    r"exit(?:ed)?\W(?:with )?(?:code|status)?\W*[1-9]\d*",
    rf"(?:was|were|is|are|been|be|got|has) (?:{_DENIED})",
    # A participle that is no attribute: "expired tokens" states nothing.
    rf"(?<!as )(?<!to )(?:{_DENIED})(?=\s*(?:\Z|[.,:;!)(–-]|(?:{_CAUSE})\b))",
    r"(?:konnten?|kann|darf|dürfen)\b[^.]{0,60}?\bnicht(?: \w+ (?:werden|sein))?",
    r"(?:wurden?|ist|sind|existier(?:t|en)) nicht(?: \w+)?",
    r"nicht (?:\w+ )?(?:möglich|erlaubt|vorhanden|verfügbar|\w*ge\w+|\w+iert|(?:be|er|ver)\w+t)",
    r"kein\w* (?:\w+ )?(?:gefunden|berechtigung|zugriff|guthaben|deckung)",
)
_REFUSAL: Final = re.compile("|".join(rf"\b(?:{each})" for each in _REFUSALS))
"""What states in a sentence that something was not done."""
_FAULT: Final = re.compile(r"\b(?:errors?|exception|fehler)\b(?! (?:report|log|message|page|handler))")
"""Nouns that state a refusal, unless the sentence affirms: "ticket 12 created: error on login"."""
_NOT_BY_THIS: Final = re.compile(
    r"\b(?:already|bereits|schon"
    r"|(?:0|zero) (?:of|(?:\w+ )?(?:rows?|records?|items?|messages?|e?mails?|files?|orders?)))\b"
)
"""What leaves open whether the call did it: it had been done before, or it was done to nothing."""
_NOT_YET: Final = re.compile(
    r"\b(?:(?:will|would|must|shall|can) (?:\w+ )?be|once|dry[- ]run|wird|probelauf)\b"
)
"""What says of an act that it is still to come."""
_LATE: Final = re.compile(
    r"""(?:\A|\b(?:http(?:/[\d.]+)?|\w*error|\w*exception|status|(?:status\ ?)?code)\b)\W{0,9}5\d\d\b
    | \b(?:server\ (?:error|fault)|service\ (?:is\ )?(?:temporarily\ )?unavailable|gateway
        |time[sd]?[\ -]?out|deadline\ exceeded|(?:respon\w+|answer\w*|reply)\ in\ time
        |(?:not|never|no|without(?:\ an?)?)\ respon\w+
        |conne(?:ct|x)ion|lost\ (?:the\ )?(?:contact|link)|reset\ by\ peer|broken\ pipe|hung\ up|network
        |socket|unreachable|upstream|partial\w*|zeitüberschreitung|verbindung\w*|serverfehler)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What leaves open in the answer of a failed call whether it acted before it failed."""
_TURN: Final = re.compile(r"\b(?:but|however|although|though|except|aber|jedoch|allerdings)\b")
_AFFIRMING: Final = (
    "ok(?:ay)?|yes|true|ack|done|success\\w*|succe[es]d(?:ed|s)?|complete[ds]?|finished|accepted|added|confirmed"
    "|queued|scheduled|processed|recorded|received|started|initiated|executed|performed|stored|credited"
    "|delivered|printed|built|approved|20[0-6]|ja|erledigt|fertig|erfolgreich\\w*|abgeschlossen|gesendet|versandt"
    "|verschickt|erstellt|angelegt|gespeichert|gelöscht|storniert|gebucht|bezahlt|gezahlt|überwiesen"
    "|aktualisiert|geändert|hinzugefügt|erstattet|bestellt|bestätigt|ausgeführt|übertragen|entfernt|reserviert"
    "|veröffentlicht|eingetragen|gekündigt|angenommen|aufgegeben|übermittelt|freigegeben"
)
_ENDING_VERBS: Final = frozenset({
    "ban", "block", "cancel", "close", "decline", "deny", "discard", "drop", "kill", "mute", "reject",
    "revoke", "suspend", "terminate", "void", "withdraw",
})  # fmt: skip
"""Acting verbs whose past form affirms nothing in the answer of a tool with another verb."""
_PAST: Final = "|".join(
    sorted({form for verb in ACTING_VERBS - _ENDING_VERBS for form in list_past_forms(verb)})
)
_NAMED_ID: Final = (
    r"(?:ids?|number|no|nr|ref|reference|code|confirmation|ticket|kennung|nummer)\b\W{0,3}"
    r"(?:is |ist )?#?[\w-]*\d"
)
_AFFIRMATION: Final = re.compile(rf"\b(?:{_NAMED_ID}|(?:{_AFFIRMING}|{_PAST})\b)")
_BEGINS_AFFIRMING: Final = re.compile(
    rf"[\W_]*(?:(?:i|we|have|has|been|all|successfully|status|result)\b[\W_]*)*(?:{_AFFIRMING}|{_PAST})\b"
)
_LONE_ID: Final = re.compile(
    r"(?=\S*\d)(?=\S*[^\W\d]|\d+-\d|#)[#\w:/.?=&%@+-]{3,}|https?://\S+|[✓✔✅👍]\ufe0f?"
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?;])\s+|\n+")


def read_outcome(tool: str, answer: object, *, is_error: bool = False) -> Outcome:
    """Reads whether the call of an acting tool acted.

    Args:
        tool: The name of the tool; the past form of its verb affirms.
        answer: Its answer, a text or a value of JSON; None if there is none.
        is_error: Whether the call raised an error, or its answer is marked as one.
    """
    return "refused" if is_error else _read_value(tool, answer, _DEPTH)


def may_have_acted(answer: str) -> bool:
    """Checks whether the answer of a failed call leaves open that it acted before a server failed."""
    return _LATE.search(answer.replace("_", " ")) is not None


def states_error(answer: object, depth: int = _DEPTH) -> bool:
    """Checks whether the answer of any tool, also of one that reads, says that the call failed.

    It is narrower than ``read_outcome``: what is read may have been refused, and free prose says nothing.

    Args:
        answer: A text, which may be JSON or JSON in a fence, an object, or a list of parts.
        depth: Most values within each other that are read.
    """
    parts: Sequence[object] = answer if isinstance(answer, list) else ()
    if isinstance(answer, str):
        if answer.strip(" .!").lower() in _REFUSED or _ERROR_BEGINNING.match(answer):
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
        return None
    # Python writes other quotation marks than JSON, and recorders cut long answers.
    return load_json(document) if document[0] == '"' else read_beginning(document)


def _fold_names(fields: Mapping[object, object]) -> dict[str, object]:
    return {_fold_word(name): value for name, value in fields.items()}


def _fold_word(value: object) -> str:
    return re.sub(r"[\s_.!-]", "", value).lower() if isinstance(value, str) else ""


def _is_failure(name: str, value: object, states: frozenset[str]) -> bool:
    text = value.strip().lower() if isinstance(value, str) else None
    if name in _ERRORS:
        return _is_stated(value)
    if name in _SUCCESSES:
        return value in (False, 0) if text is None else text in _NO
    if name in _EXITS:
        return value not in (0, None) and text not in _NO
    is_code = name in _CODES and _ERROR_CODE.fullmatch(str(value)) is not None
    return is_code or (name in _STATES and text in states)


def _is_stated(error: object) -> bool:
    """Checks whether the value of a field for errors says that there was one."""
    if isinstance(error, Mapping):
        return any(map(_is_stated, error.values()))
    return error.strip().lower() not in _NO_ERROR if isinstance(error, str) else bool(error)


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
        if not is_object or name in _ABOUT_STATUS | _REFUSED or name.startswith(_EARLIER):
            break
        value = inner
    return value


def _join(outcomes: Iterator[Outcome]) -> Outcome:
    """Returns the outcome of an answer with several parts: unknown if only some of them were refused."""
    kinds = {*outcomes} - {"unknown"}
    return kinds.pop() if len(kinds) == 1 else "unknown"


def _read_text(tool: str, text: str, depth: int) -> Outcome:
    value = _load(text)
    if value is not None and depth:
        return _read_value(tool, value, depth - 1)
    word = text.strip().lower()
    if _NOTHING.fullmatch(word):
        return "unknown"
    if not has_past_form(tool, word.rstrip(".!")) and (word in _NO or states_error(text, 0)):
        return "refused"
    if not _MARKUP.match(text):
        return _read_prose(tool, text)
    if _ERROR_ELEMENT.search(text):
        return "refused"
    return _read_prose(tool, html.unescape("\n".join(_HEADING.findall(text)) or _TAG.sub(" ", text).strip()))


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
    is_status = _ABOUT_STATUS.issuperset(fields)
    numbers = {name: value for name, value in fields.items() if type(value) is int}
    for name, value in fields.items():
        if _is_failure("statuscode" if name == "code" and is_status else name, value, _FAILED):
            # A number of failures may stand beside one of successes.
            is_partial = name in numbers and any(numbers[other] > 0 for other in numbers if other != name)
            yield "unknown" if name in _ERRORS and is_partial else "refused"
        elif (value is False and has_past_form(tool, name)) or (name == "detail" and isinstance(value, list)):
            yield "refused"
        elif name in _REFUSED - _ERRORS - _FAILED and value and not has_past_form(tool, name):
            yield "refused" if value is True else "unknown"
        elif name in _DECISIONS and (value is False or _fold_word(value) in _NO - {""}):
            yield "refused" if is_status else "unknown"
        elif isinstance(value, str):
            yield _read_field(tool, name, value, is_status=is_status)
    counts = [numbers[name] for name in numbers if _COUNTS.fullmatch(name) or has_past_form(tool, name)]
    if counts and not any(counts):
        yield "unknown"


def _read_field(tool: str, name: str, text: str, *, is_status: bool) -> Outcome:
    """Reads what a text says in a field: "acted" if it says nothing against an act."""
    word = _fold_word(text)
    if name.endswith(("status", "state", "outcome")) and not name.startswith(_EARLIER):
        # A tool that sets a state answers with the state that it has set.
        states = _FAILED if {"status", "state", "stage"} & {*split_name(tool)} else _REFUSED
        if has_past_form(tool, word):
            return "acted"
        if word in states or _ERROR_BEGINNING.match(text):
            return "refused"
        return "unknown" if _OPEN.fullmatch(word) or _TO_COME.fullmatch(word) else "acted"
    is_refused = is_status and _read_text(tool, text.replace("_", " "), 1) == "refused"
    return "refused" if is_refused else "acted"


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


def _read_prose(tool: str, text: str) -> Outcome:
    """Reads from the prose that a tool answered whether it acted; questions and quotations state nothing."""
    if _ERROR_BEGINNING.match(text):
        return "refused"
    if _LONE_ID.fullmatch(text.strip()):
        return "acted"
    plain = _QUOTED.sub("…", text[:_LONGEST]).lower().replace("’", "'")
    plain = plain.replace("cannot", "can not").replace("can't", "can not").replace("n't", " not")
    plain = match_past(tool).sub("done", _WITHOUT_ERROR.sub("ok", plain))
    stated = [read for each in _SENTENCE_END.split(plain) if (read := _read_sentence(each)) != "unknown"]
    if len({*stated}) <= 1:
        return stated[0] if stated else "unknown"
    # What follows a refusal may be done about it; only the tool's own verb contradicts it.
    return "refused" if stated[0] == "refused" and not _affirms_own_verb(plain) else "unknown"


def _read_sentence(sentence: str) -> Outcome:
    if sentence.rstrip(" \"')").endswith("?"):
        return "unknown"
    is_open = _NOT_BY_THIS.search(sentence) is not None
    if _BEGINS_AFFIRMING.match(sentence):
        # What follows the verb is about its object: "deleted 3 failed jobs".
        return "unknown" if is_open or any(map(_REFUSAL.search, _TURN.split(sentence)[1:])) else "acted"
    if _REFUSAL.search(sentence):
        return "unknown" if is_open or _affirms_own_verb(sentence) else "refused"
    if _FAULT.search(sentence) and not _affirms_own_verb(sentence):
        return "refused"
    is_open = is_open or _NOT_YET.search(sentence) is not None
    return "acted" if _AFFIRMATION.search(sentence) and not is_open else "unknown"


def _affirms_own_verb(text: str) -> bool:
    return re.search(r"\bdone\b", _REFUSAL.sub("", text)) is not None
