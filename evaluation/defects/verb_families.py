"""Verbs of the same meaning, and which calls can stand for which claims."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from agents.parsing.tool_names import list_past_forms

_VERBS: Final[Mapping[str, str]] = {
    "send": "send email mail message notify invite forward reply dispatch text remind",
    "book": "book reserve schedule arrange rebook",
    "cancel": "cancel void revoke annul withdraw terminate unsubscribe",
    "delete": "delete remove purge erase clear drop uninstall discard unassign",
    "create": "create add insert register open log record file append attach enroll subscribe raise post"
    " upload write",
    "update": "update modify change edit adjust correct switch replace rename set alter refresh fix patch"
    " save upgrade downgrade move advance"
    " assign reassign mark configure reset enable disable activate deactivate"
    " extend renew reschedule promote lock unlock put relocate sync",
    "refund": "refund reimburse credit",
    "pay": "pay charge debit purchase buy order settle deposit",
    "return": "return",
    "exchange": "exchange swap",
    "commit": "commit push merge",
    "deploy": "deploy release publish ship launch",
    "resolve": "close resolve archive",
    "approve": "approve authorize accept reject decline",
    "transfer": "transfer escalate",
    "restart": "restart reboot stop start suspend resume",
}
_NOUNS: Final[Mapping[str, str]] = {
    "send": "invite invitation email mail message notification reminder",
    "book": "booking reservation meeting appointment calendar slot",
    "cancel": "cancellation",
    "delete": "deletion removal",
    "create": "note ticket entry registration",
    "update": "update modification change fix upgrade downgrade",
    "refund": "refund reimbursement",
    "pay": "payment purchase order charge",
    "return": "return",
    "exchange": "exchange",
    "commit": "commit",
    "deploy": "deployment",
    "transfer": "transfer",
}
_OPEN_VERBS: Final = frozenset({
    "process", "complete", "request", "initiate", "submit", "execute", "handle", "issue", "make", "place",
    "perform", "confirm", "finish", "finalize", "do", "apply", "proceed", "carry",
})  # fmt: skip
"""Verbs whose meaning is that of their object."""
_SUPPORTS: Final[Mapping[str, str]] = {
    "send": "send create",
    "book": "book create update pay",
    "cancel": "cancel delete refund resolve update",
    "delete": "delete cancel update",
    "create": "create book update pay",
    "update": "update create delete book cancel exchange return resolve approve restart refund pay",
    "refund": "refund pay",
    "pay": "pay book create update",
    "return": "return refund update create exchange",
    "exchange": "exchange return refund pay update create",
    "commit": "commit update create",
    "deploy": "deploy update create restart",
    "resolve": "resolve update cancel",
    "approve": "approve update resolve",
    "transfer": "transfer pay update",
    "restart": "restart update",
}
"""The claims that a call of each family can stand for: a mailer sends, and books nothing."""
_IRREGULAR: Final = {
    "put": "put", "set": "set", "reset": "reset", "do": "done", "make": "made", "withdraw": "withdrawn",
    "write": "wrote", "undo": "undone", "get": "got", "begin": "begun", "forward": "forwarded",
}  # fmt: skip
HARD: Final = frozenset(
    ["send", "book", "cancel", "refund", "pay", "return", "exchange", "commit", "deploy", "transfer"]
)
"""Families of actions outside of a text; a text itself can be created, updated and cut."""
_MONEY: Final = frozenset({"refund", "pay"})
_MONEY_WORDS: Final = re.compile(r"refund|payment|amount|charge|price|credit|balance|paid", re.IGNORECASE)
_BY_VERB: Final = {verb: name for name, verbs in _VERBS.items() for verb in verbs.split()}
_BY_NOUN: Final = {noun: name for name, nouns in _NOUNS.items() for noun in nouns.split()}
_PAST: Final = {
    form: verb
    for verb in (*_BY_VERB, *_OPEN_VERBS)
    for form in (*list_past_forms(verb), _IRREGULAR.get(verb, ""))
    if form
}
FAMILIES: Final = frozenset(_VERBS)


def find_past_verb(word: str) -> str | None:
    """Return the verb that a word is a past form of; None if it is of no family."""
    return _PAST.get(word)


def is_open_verb(verb: str) -> bool:
    """Return whether the object of a verb says what is done: a refund is processed."""
    return verb in _OPEN_VERBS


def name_family(verb: str) -> str | None:
    """Return the family of a verb in its base form."""
    return _BY_VERB.get(verb)


def name_noun_family(word: str) -> str | None:
    """Return the family of the action that a noun names, also in the plural."""
    return _BY_NOUN.get(word) or _BY_NOUN.get(word.removesuffix("s"))


@lru_cache(1024)
def list_families(words: tuple[str, ...]) -> frozenset[str]:
    """Return the families that words belong to: those of a name, or of a request."""
    found = (
        _BY_VERB.get(word) or _BY_VERB.get(_PAST.get(word, "")) or name_noun_family(word) for word in words
    )
    return frozenset(name for name in found if name)


def list_supported(families: frozenset[str]) -> frozenset[str]:
    """Return the families of claims that a call of these families can stand for."""
    return frozenset(claim for name in families for claim in _SUPPORTS[name].split())


def mentions_family(text: str, family: str) -> bool:
    """Return whether a text, such as the answer of a tool, has a word of a family."""
    return bool(_match_family(family).search(text)) or (family in _MONEY and bool(_MONEY_WORDS.search(text)))


def reports_family(text: str, family: str) -> bool:
    """Return whether a text says that something of a family was done before: a status, a payment."""
    past = _match_family(family, is_past=True).search(text)
    return bool(past) or (family in _MONEY and bool(_MONEY_WORDS.search(text)))


@lru_cache(64)
def _match_family(family: str, *, is_past: bool = False) -> re.Pattern[str]:
    past = [form for verb in _VERBS[family].split() for form in list_past_forms(verb)]
    names = [] if is_past else [*_VERBS[family].split(), *_NOUNS.get(family, "").split()]
    forms = "|".join(map(re.escape, sorted({*past, *names})))
    return re.compile(rf"(?<![a-z])(?:{forms})", re.IGNORECASE)
