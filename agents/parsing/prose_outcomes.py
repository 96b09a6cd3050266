"""Reads from the prose that a tool answered whether its call acted.

A sentence affirms if it has a general word of success, or the past form of the tool's verb or of a verb of
the same family, and no sign of refusal. The past form of a verb of another family tells of the thing that the
tool should have changed: "Order is locked".
"""

from __future__ import annotations

import html
import re
from functools import lru_cache
from http import HTTPStatus
from typing import Final, Literal

from agents.parsing.tool_names import ACTING_VERBS, list_past_forms, match_past, split_name

Outcome = Literal["acted", "refused", "unknown"]

_LONGEST: Final = 2_000
"""Characters of prose that are read: an answer begins with what was done."""
_RENAMED: Final = ("Payload Too Large", "Content Too Large", "Unprocessable Content")
"""Names of RFC 9110 and of servers, which ``HTTPStatus`` of Python 3.11 has otherwise."""
_PHRASES: Final = "|".join(
    map(re.escape, (*_RENAMED, *(each.phrase for each in HTTPStatus if each in range(400, 600))))
)
ERROR_BEGINNING: Final = re.compile(
    rf"""[\W_]*+(?: [\w.]*(?:error|exception)(?:[ \[(](?=[^:\n]*\d)[\w ()\]]{{1,24}})?[*_]*:
    | error> | fail(?:ed|ure):
    | error\ (?:executing|invoking)\ tool
    | an\ (?:\w+\ )?error\ (?:has\ )?occurred | error\ from\ server | tool_use_error>
    | remote:\ (?:error|fatal): | [\w-]+\ ?:\ (?:access|permission)\ (?:is\ )?denied
    | \w+(?:denied|exceeded|notempty|notfound)\b | zugriff\ verweigert
    | traceback\ \(most\ recent\ call\ last\)
    | (?:http(?:/[\d.]+)?|(?:error|status|code)(?:\ code)?:?)\ [45]\d\d\b(?!-)
    | [45]\d\d\W{{1,3}}(?:{_PHRASES}|(?:client|server)\ error)\b | (?:{_PHRASES})\W*\Z
    | fehler\W*(?:beim|:) )""",
    re.IGNORECASE | re.VERBOSE,
)
"""How the answer of a failed call begins in HTTP, Python, SQL, LangGraph, MCP and OpenAI's Agents SDK."""
_QUOTED: Final = re.compile(
    r"""(?<!\w)(?:'[^'\n]*'|"[^"\n]*"|`[^`\n]*`|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»)(?!\w)"""
)
WITHOUT_ERROR: Final = re.compile(
    r"""\b(?:no|0|zero|without(?:\ any)?|kein\w*|ohne)\s(?:\w+\s)?
        (?:errors?|fail(?:ures?|ed)|problems?|issues?|warnings?|conflicts?|fehlern?|probleme?)\b(?:\ found)?
    | \b(?:errors?|fail(?:ed|ures?)|fehler)\s?[:=]\s?(?:0\b
        |(?:none|null|false|no)\b(?=\s*(?:\Z|[\n.,;|)\]]|found|detected|reported)))
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
    r"not (?:yet |been |be |fully )*(?:\w{2,}ed|\w+able|sent|paid|made|found|done|bought|possible)",
    r"not (?:enough|eligible)\b",
    r"done (?:nothing|no \w+)",
    r"(?:(?:un|not )able|fail\w*|refus\w*) to(?: \w+)?",
    r"(?:no \w+(?: \w+)?|nothing) (?:was|were|could be|(?:has|have) been|exists?|found|available)(?: \w+)?",
    r"no such|nothing to|(?:can|could) no longer",
    r"insufficient|invalid|too many requests|rate limit\w*|quota exceeded",
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
    r"konnten? (?:\w+ ){0,4}?kein\w*(?: \w+){1,4}|kein\w*(?: \w+){1,3} konnten?(?: \w+){1,3}",
)
_REFUSAL: Final = re.compile("|".join(rf"\b(?:{each})" for each in _REFUSALS))
"""What states in a sentence that something was not done."""
_FAULT: Final = re.compile(r"\b(?:errors?|exception|fehler)\b(?! (?:report|log|message|page|handler))")
"""Nouns that state a refusal, unless the sentence affirms: "ticket 12 created: error on login"."""
_NOT_BY_THIS: Final = re.compile(
    r"\b(?:already|bereits|schon|by (?:another|others?|someone)"
    r"|(?:0|zero) (?:of|(?:\w+ )?(?:rows?|records?|items?|messages?|e?mails?|files?|orders?)))\b"
)
"""What leaves open whether the call did it: it had been done before, or it was done to nothing."""
_NOT_YET: Final = re.compile(
    r"\b(?:(?:will|would|must|shall|can) (?:\w+ )?be|to be|once|dry[- ]run|wird|probelauf)\b"
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
DECIDING: Final = "approval|confirmation|authori[sz]ation|review|verification|permission|consent"
_TO_DO: Final = re.compile(
    r"\b(?:approve|authori[sz]e|click|confirm|reply|sign|verify)\b[^.]{0,30}? to "
    rf"|\b(?<!not )(?:awaits?|awaiting|needs?|pending|requires?) (?!no )(?:\w+ ){{0,2}}?(?:{DECIDING})\b"
    rf"|(?<!no )(?<!further )\b(?:{DECIDING}) (?:is |was )?(?:needed|pending|required|requested)\b"
)
"""Matches what has to be done before the tool can act."""
_TAKEN: Final = re.compile(r"\b(?:(?:completely|fully|over) ?booked|sold out|ausgebucht|ausverkauft)\b")
_ROWS: Final = re.compile(r"(?:insert \d+|update|delete|merge|copy) [1-9]\d*\s*")
"""Matches the answer of PostgreSQL to a statement that changed rows."""
_SUBORDINATE: Final = re.compile(
    r"(?:\A|(?<=[.!;] ))(?:as|because|da|obwohl|since|weil)\b[^,.]*, "
    r"|,? \b(?:because|weil|before|bevor)\b[^.;]*|, da\b[^.;]*"
)
"""Clauses that give a cause or what comes later: the main clause says what was done."""
_TURN: Final = re.compile(r"\b(?:but|however|although|though|except|aber|jedoch|allerdings)\b")
_AFFIRMING: Final = (
    "ok(?:ay)?|yes|true|ack(?:nowledged)?|done|success\\w*|succe[es]d(?:ed|s)?|complete[ds]?|finished|accepted|added|confirmed"
    "|queued|scheduled|processed|recorded|received|initiated|executed|performed|stored|delivered|printed|built"
    "|approved|20[0-6]|ja|erledigt|fertig|erfolgreich\\w*|abgeschlossen|gesendet|versandt|verschickt|erstellt"
    "|angelegt|gespeichert|aktualisiert|geändert|hinzugefügt|bestätigt|ausgeführt|übertragen|veröffentlicht"
    "|eingetragen|angenommen|aufgegeben|übermittelt|freigegeben"
)
ENDING_VERBS: Final = frozenset({
    "archive", "cancel", "close", "deactivate", "delete", "disable", "discard", "drop", "kill", "pause",
    "purge", "remove", "revoke", "stop", "terminate", "uninstall", "unsubscribe", "void", "withdraw",
    "gelöscht", "storniert", "entfernt", "gekündigt",
})  # fmt: skip
"""Acting verbs after which a thing is no longer there, or no longer works."""
_BARRING: Final = frozenset({"ban", "block", "decline", "deny", "lock", "mute", "reject", "suspend"})
_FAMILIES: Final = (
    ENDING_VERBS,
    _BARRING,
    frozenset({"pay", "charge", "transfer", "wire", "deposit", "debit", "capture"})
    | {"bezahlt", "gezahlt", "überwiesen"},
    frozenset({"refund", "return", "credit", "erstattet"}),
    frozenset({"book", "reserve", "order", "buy", "purchase", "gebucht", "reserviert", "bestellt"}),
    frozenset({"start", "resume", "launch", "activate", "reactivate", "enable", "restart", "unlock"}),
    frozenset({"move"}),
)
"""Verbs, or German past forms, that affirm only in the answer of a tool with a verb of the same family."""
_HALTING: Final = _BARRING | {
    "cancel", "discard", "kill", "pause", "revoke", "stop", "terminate", "void", "withdraw",
}  # fmt: skip
"""Verbs that end a thing: they affirm no other act, also of a tool that changes things in any way."""
_CHANGING: Final = frozenset(
    {"adjust", "apply", "change", "edit", "mark", "modify", "patch", "process", "set", "sync", "update"}
)
"""Verbs of tools that change a thing in any way, so that a verb of any family affirms."""
_NAMED_ID: Final = (
    r"(?:ids?|number|no|nr|ref|reference|code|confirmation|ticket|kennung|nummer)\b\W{0,3}"
    r"(?:is |ist )?#?[\w-]*\d"
)
_BEGINNING: Final = r"[\W_]*(?:(?:i|we|have|has|been|all|successfully|status|result)\b[\W_]*)*"
_LONE_ID: Final = re.compile(
    r"(?=\S*\d)(?=\S*[^\W\d]|\d+-\d|#)[#\w:/.?=&%@+-]{3,}|https?://\S+|[✓✔✅👍]\ufe0f?"
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?;])\s+|\n+")


def may_have_acted(answer: str) -> bool:
    """Checks whether the answer of a failed call leaves open that it acted before a server failed."""
    return _LATE.search(answer.replace("_", " ")) is not None


_MARKUP: Final = re.compile(r"\s*<[!?]?[A-Za-z][^<>]*>")
_ERROR_ELEMENT: Final = re.compile(
    r"<(?:\w+:)?(?:errors?|fault|exception|failure|tool_use_error)\b[^<>/]*>(?!\s*(?:0|false|none|null)?\s*</)",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(r"<(?:title|h1)\b[^<>]*>([^<]*)", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]*>")


def read_prose(tool: str, text: str) -> Outcome:
    """Reads from prose, or a page, whether a tool acted; questions and quotations state nothing."""
    if _MARKUP.match(text):
        if _ERROR_ELEMENT.search(text):
            return "refused"
        text = html.unescape("\n".join(_HEADING.findall(text)) or _TAG.sub(" ", text).strip())
    if ERROR_BEGINNING.match(text) and not WITHOUT_ERROR.match(text.lower()):
        return "refused"
    if _LONE_ID.fullmatch(text.strip()):
        return "acted"
    plain = _QUOTED.sub("…", text[:_LONGEST]).lower().replace("’", "'")
    plain = plain.replace("cannot", "can not").replace("can't", "can not").replace("n't", " not")
    plain = _TAKEN.sub("unavailable", _SUBORDINATE.sub("", WITHOUT_ERROR.sub("ok", plain)))
    plain = "done" if _ROWS.fullmatch(plain) else match_past(tool).sub("done", plain)
    plain = _match_none(tool).sub("not done", plain)
    is_own = _affirms_own_verb(plain)
    sentences = (_read_sentence(tool, each) for each in _SENTENCE_END.split(plain))
    stated = [read for read in sentences if read != "unknown"]
    if len({*stated}) <= 1:
        is_to_come = "acted" in stated and not is_own and (_TO_DO.search(plain) or _is_draft(tool, plain))
        return stated[0] if stated and not is_to_come else "unknown"
    # What follows a refusal may be done about it; only the tool's own verb contradicts it.
    return "refused" if stated[0] == "refused" and not is_own else "unknown"


@lru_cache(256)
def _match_none(tool: str) -> re.Pattern[str]:
    """Returns a pattern of what denies the act of a tool: "no refund" for ``refund``."""
    verbs = "|".join({*split_name(tool)} & ACTING_VERBS) or "(?!)"
    return re.compile(rf"\b(?:no|keine?) (?:{verbs})\b")


def _is_draft(tool: str, text: str) -> bool:
    return "draft" not in split_name(tool) and re.search(r"\bas (?:an? )?draft\b", text) is not None


def affirms(tool: str, text: str) -> bool:
    """Checks whether a text in lower case has a word of success, or a past form that affirms the act."""
    return (match_past(tool).search(text) or _match_affirmation(tool)[0].search(text)) is not None


@lru_cache(256)
def _match_affirmation(tool: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Returns patterns of what affirms the act of a tool, anywhere in a sentence and at its beginning."""
    verbs = {*split_name(tool)}
    if verbs & ACTING_VERBS and not verbs & _CHANGING:
        others = frozenset().union(*(family for family in _FAMILIES if not family & verbs))
    else:
        others = _HALTING - verbs
    words = rf"(?:{_AFFIRMING}|{_list_forms(frozenset(others))})\b"
    return re.compile(rf"\b(?:{_NAMED_ID}|{words})"), re.compile(rf"{_BEGINNING}{words}")


def _list_forms(without: frozenset[str]) -> str:
    """Lists the past forms of acting verbs, and the German ones of families, as alternatives."""
    verbs = frozenset().union(ACTING_VERBS, *_FAMILIES) - without
    forms = {form for verb in verbs for form in (list_past_forms(verb) if verb in ACTING_VERBS else [verb])}
    return "|".join(sorted(forms))


CONFIRMATION: Final = re.compile(_AFFIRMING)
"""A word of success that is no act of its own."""
AFFIRMATION: Final = re.compile(rf"{_AFFIRMING}|{_list_forms(frozenset())}")
"""A word that affirms the act of some tool."""


def _read_sentence(tool: str, sentence: str) -> Outcome:
    if sentence.rstrip(" \"')").endswith("?"):
        return "unknown"
    anywhere, at_beginning = _match_affirmation(tool)
    is_open = _NOT_BY_THIS.search(sentence) is not None
    refusal = _REFUSAL.search(sentence)
    if at_beginning.match(sentence) and not (refusal and refusal[0].startswith("done ")):
        # What follows the verb is about its object: "deleted 3 failed jobs".
        return "unknown" if is_open or any(map(_REFUSAL.search, _TURN.split(sentence)[1:])) else "acted"
    if refusal:
        first = sentence[: refusal.start()].rpartition(",")[0]
        is_open = is_open or _affirms_own_verb(sentence) or anywhere.search(first) is not None
        return "unknown" if is_open else "refused"
    if _FAULT.search(sentence) and not _affirms_own_verb(sentence):
        return "refused"
    is_open = is_open or _NOT_YET.search(sentence) is not None
    return "acted" if anywhere.search(sentence) and not is_open else "unknown"


def _affirms_own_verb(text: str) -> bool:
    return re.search(r"\bdone\b", _REFUSAL.sub("", text)) is not None
