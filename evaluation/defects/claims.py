"""Finds the sentences that say that an action is done, and the verbs that mean the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from agents.parsing.tool_names import list_past_forms
from evaluation.texts.normal import split_stated

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


_TOKEN: Final = re.compile(r"[\w@#/.-]*\w(?:'\w+)?")
_CLAUSE: Final = re.compile(r"[,;:)]\s+|\s\(|\s[-\u2013\u2014]\s|\s(?=(?:and|but|then)\b)")
_ADVERBS: Final = frozenset({
    "now", "just", "also", "already", "successfully", "then", "all", "both", "since", "fully", "been",
    "duly", "officially", "finally", "and", "gone", "ahead", "i've", "we've",
})  # fmt: skip
_FIRST: Final = frozenset({"i", "we", "i've", "we've"})
_PASSIVE: Final = frozenset({"is", "are", "was", "were", "be", "got", "it's", "that's"})
_MODAL: Final = frozenset({
    "will", "would", "can", "could", "may", "might", "must", "to", "i'll", "we'll", "shall", "let",
    "please", "need", "needs", "gets", "getting", "being", "cannot",
})  # fmt: skip
_BLOCKS: Final = frozenset({
    "not", "never", "no", "nothing", "none", "unable", "cannot", "neither", "nor", "without", "if", "once",
    "unless", "until", "whether", "when", "before", "after", "failed", "fail", "fails", "which", "that",
    "who", "where", "how", "why", "what", "instead", "only", "ensure", "ensuring", "sure",
})  # fmt: skip
_CONDITIONS: Final = frozenset({"if", "once", "unless", "until", "when", "assuming", "suppose", "would"})
_DETERMINERS: Final = frozenset({
    "the", "a", "an", "your", "my", "our", "his", "her", "their", "its", "this", "these", "those", "any",
    "each", "every",
})  # fmt: skip
_AFTER_SHORT: Final = frozenset({"to", "for", "and", "with", "from", "on", "at", "as", "by", "in", "into"})
_HAS: Final = frozenset({"has", "have", "had"})
_STATES: Final = re.compile(
    r"\b(?:has|have|got|(?:has|have) received) the (?P<held>\w+)(?=\s*(?:[.,;!]|now\b|and\b|\Z))"
    r"|\b(?P<went>went (?:out|through|to)|has gone (?:out|through|to)"
    r"|is (?:now )?(?:live|in)(?=\s*(?:[.,;!]|now\b|and\b|\Z)))"
    r"|\bis (?:now )?on (?:the|your) (?P<on>calendar|schedule)\b",
    re.IGNORECASE,
)
_LONGEST: Final = 2_000


@dataclass(frozen=True, slots=True)
class Claim:
    """An action that a sentence says is done."""

    families: frozenset[str]
    word: str
    """The word that says it is done."""
    clause: str
    sentence: str
    is_strong: bool
    """Whether it says who did it or that it was just done; "is cancelled" may be a state from before."""
    is_own: bool
    """Whether it is in the first person."""


@lru_cache(256)  # several rules read the same answer
def find_claims(text: str) -> tuple[Claim, ...]:
    """Return the claims of a visible text; plans, offers, questions, conditions and negations are none."""
    sentences = [sentence for sentence in split_stated(text) if len(sentence) <= _LONGEST]
    return tuple(claim for sentence in sentences for claim in _read_sentence(sentence))


def _read_sentence(sentence: str) -> Iterator[Claim]:
    before: list[str] = []
    is_open = True
    for clause in _CLAUSE.split(sentence):
        words = [word.lower().rstrip(".-") for word in _TOKEN.findall(clause)]
        conditional = _CONDITIONS.intersection(before)
        claims = [] if conditional else [*_read_clause(words, clause, sentence, before, is_open)]
        yield from claims
        # "Booked the room, and sent the invite": the next verb has the same subject.
        is_open = is_open and (bool(claims) or len(words) <= _SHORT)
        before += words


_SHORT: Final = 3


def _read_clause(
    words: Sequence[str], clause: str, sentence: str, before: Sequence[str], is_open: bool
) -> Iterator[Claim]:
    for at, word in enumerate(words):
        verb = find_past_verb(word)
        if verb is None or _is_blocked(words, at) or words[max(0, at - 1) : at + 1] == ["all", "set"]:
            continue
        form = _find_form(words, at, before, is_open)
        families = _find_families(verb, words) if form else frozenset[str]()
        if families:
            yield Claim(families, word, clause.strip(), sentence, form in {"own", "passive"}, form == "own")
    for match in _STATES.finditer(clause):
        noun = match["held"] or match["on"]
        nouns = [noun] if noun else [*before, *words] if "all" in words else words
        families = frozenset(name for each in nouns if (name := name_noun_family(each.lower())))
        if families and not _BLOCKS.intersection(words):
            yield Claim(families, match[0], clause.strip(), sentence, is_strong=False, is_own=False)


def _is_blocked(words: Sequence[str], at: int) -> bool:
    near = words[max(0, at - 4) : at]
    is_negated = _BLOCKS.intersection(words[:at]) or any(word.endswith("n't") for word in words[:at])
    by = words[at + 1 :].index("by") + at + 1 if "by" in words[at + 1 : at + 6] else -1
    is_others = (
        0 <= by < len(words) - 1 and words[by + 1] not in {"me", "us"} and not words[by + 1][:1].isdigit()
    )
    return bool(is_negated or is_others or _MODAL.intersection(near))


def _find_form(words: Sequence[str], at: int, before: Sequence[str], is_open: bool) -> str | None:
    """Return how a word states that something was done: "own", "passive", "initial", "state"; or None."""
    lead = [word for word in words[:at] if word not in _ADVERBS]
    last = lead[-1] if lead else ""
    if last in _FIRST or (last in _HAS and _FIRST.intersection(lead[-2:-1])):
        return "own"
    if "been" in words[:at] and (not lead or last in _HAS):
        return "passive"
    # "Status: Cancelled" is a state, and so is "invite sent to Ada".
    if last in _PASSIVE or (not lead and len(words) == 1) or (lead and _is_elliptic(words, at, lead)):
        return "state"
    if lead:
        return None
    return "own" if _FIRST.intersection(before) else "initial" if is_open else None


def _is_elliptic(words: Sequence[str], at: int, lead: Sequence[str]) -> bool:
    is_short = at + 1 == len(words) or words[at + 1] in _AFTER_SHORT
    is_noun = lead[-1] not in _DETERMINERS | _AFTER_SHORT | _FIRST
    return is_short and is_noun and not (_PASSIVE | _HAS).intersection(words) and len(lead) <= _SHORT + 1


def _find_families(verb: str, words: Sequence[str]) -> frozenset[str]:
    nouns = frozenset(name for word in words if (name := name_noun_family(word)))
    if is_open_verb(verb):
        return nouns
    family = name_family(verb)
    return frozenset({family}) if family else frozenset()
