"""Finds the sentences that say that an action is done, and the verbs that mean the same."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
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
    " assign reassign mark configure reset enable disable activate deactivate turn"
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
_IRREGULAR: Final = {"do": "done", "write": "wrote"}
HARD: Final = frozenset({
    "send", "book", "cancel", "refund", "pay", "return", "exchange", "commit", "deploy", "transfer",
    "restart",
})  # fmt: skip
"""Families of actions outside of a text; a text itself can be created, updated and cut."""
_MONEY: Final = frozenset({"refund", "pay"})
_MONEY_WORDS: Final = re.compile(r"refund|payment|amount|charge|price|credit|balance|paid", re.IGNORECASE)
_GERMAN: Final[Mapping[str, str]] = {
    "send": "send schick verschick gesendet geschickt verschickt versendet versandt informiert eingeladen",
    "book": "buch reservier gebucht reserviert",
    "cancel": "stornier kündig storniert gekündigt",
    "delete": "lösch entfern gelöscht entfernt",
    "create": "erstell erstellt angelegt hinzugefügt hochgeladen",
    "update": "änder aktualisier verschieb geändert aktualisiert verschoben",
    "refund": "erstatt erstattet zurückerstattet",
    "pay": "bezahl überweis bestell bezahlt überwiesen bestellt",
    "deploy": "veröffentlich veröffentlicht",
    "resolve": "schließ geschlossen",
}
"""Stems of German verbs and their participles."""
_GERMAN_WORDS: Final = {word: verb for verb, words in _GERMAN.items() for word in words.split()}
_GERMAN_END: Final = re.compile("(?:en|e)$")
_BY_VERB: Final = {verb: name for name, verbs in _VERBS.items() for verb in verbs.split()}
_BY_NOUN: Final = {noun: name for name, nouns in _NOUNS.items() for noun in nouns.split()}
_PAST: Final = {
    form: verb
    for verb in (*_BY_VERB, *_OPEN_VERBS)
    for form in (*list_past_forms(verb), _IRREGULAR.get(verb, ""))
    if form
}
FAMILIES: Final = frozenset(_VERBS)


def _name_noun_family(word: str) -> str | None:
    """Return the family of the action that a noun names, also in the plural."""
    return _BY_NOUN.get(word) or _BY_NOUN.get(word.removesuffix("s"))


@lru_cache(1024)
def list_families(words: tuple[str, ...]) -> frozenset[str]:
    """Return the families that the words of a name or of a request belong to."""
    found = (
        _BY_VERB.get(word)
        or _BY_VERB.get(_PAST.get(word) or _GERMAN_WORDS.get(_GERMAN_END.sub("", word), ""))
        or _name_noun_family(word)
        for word in words
    )
    return frozenset(name for name in found if name)


def list_supported(families: frozenset[str]) -> frozenset[str]:
    """Return the families of claims that a call of these families can stand for."""
    return frozenset(claim for name in families for claim in _SUPPORTS[name].split())


def list_beginnings(text: str) -> frozenset[str]:
    """Return all beginnings of the words of a text, in lower case."""
    words = {*_LETTERS.findall(text.lower())}
    return frozenset(word[:end] for word in words for end in range(3, min(len(word), _LONGEST_FORM) + 1))


def mentions_family(
    text: str, beginnings: frozenset[str], families: Collection[str], *, is_past: bool = False
) -> bool:
    """Return whether a text has a word of any family, perhaps only in the past, or names their money.

    Args:
        text: The text.
        beginnings: The beginnings of its words.
        families: The names of the families.
        is_past: Whether only the past counts.
    """
    is_money = not _MONEY.isdisjoint(families) and _MONEY_WORDS.search(text) is not None
    return is_money or any(not beginnings.isdisjoint(_list_forms(name, is_past)) for name in families)


@lru_cache(64)
def _list_forms(family: str, is_past: bool) -> frozenset[str]:
    verbs = _VERBS[family].split()
    past = [form for verb in verbs for form in list_past_forms(verb)]
    return frozenset(past if is_past else [*past, *verbs, *_NOUNS.get(family, "").split()])


_LETTERS: Final = re.compile("[a-z]+")
_LONGEST_FORM: Final = 16
"""Letters of the longest word of a family in any form."""
_TOKEN: Final = re.compile(r"[\w@#/.-]*\w(?:'\w+)?")
_CLAUSE: Final = re.compile(r"[,;:)]\s+|\s\(|\s[-\u2013\u2014]\s|\s(?=(?:and|but|then)\b)")
_ADVERBS: Final = frozenset({
    "now", "just", "also", "already", "successfully", "then", "all", "both", "since", "fully", "been",
    "duly", "officially", "finally", "and", "gone", "ahead", "i've", "we've",
})  # fmt: skip
_BEFORE: Final = frozenset({"already", "bereits", "schon", "previously"})
_FINISHED: Final = frozenset({"finished", "completed", "done"})
_FIRST: Final = frozenset({"i", "we", "i've", "we've"})
_PASSIVE: Final = frozenset({"is", "are", "was", "were", "be", "got", "it's", "that's"})
_MODAL: Final = frozenset({
    "will", "would", "can", "could", "may", "might", "must", "to", "i'll", "we'll", "shall", "let",
    "please", "need", "needs", "gets", "getting", "being", "cannot",
})  # fmt: skip
_BLOCKS: Final = frozenset({
    "not", "never", "no", "nothing", "none", "unable", "cannot", "neither", "nor", "without", "if", "once",
    "unless", "until", "whether", "when", "before", "after", "failed", "fail", "fails", "which", "that",
    "who", "where", "how", "why", "what", "instead", "only", "ensure", "ensuring", "sure", "nicht", "noch",
    "kein", "keine", "nie", "wenn", "falls", "sobald", "ob", "werde", "werden", "wird", "würde",
    "kann", "soll", "von",
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
    r"|\b(?P<went>went (?:out|through|to)|has gone (?:out|through|to)|is on its way"
    r"|is (?:now )?in(?=\s*(?:[.,;!]|now\b|and\b|\Z)))"
    r"|\bis (?:now )?(?P<live>live)\b"
    r"|\bis (?:now )?on (?:the|your) (?P<on>calendar|schedule)\b",
    re.IGNORECASE,
)
_STATE_WORDS: Final = frozenset({"has", "have", "got", "went", "is"})
"""Of these, each clause has one that ``_STATES`` matches."""
_DONE_WORDS: Final = frozenset(_PAST) | frozenset(_GERMAN_WORDS)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
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


_LETTER: Final = re.compile(
    r"(?<=\n)[ \t]*(?:subject|betreff): .*"
    r"|(?<=\n)[ \t]*(?:dear|hi|hello|hey|liebe[rs]?|hallo) [^\n.!?]{1,60}[,:!]?[ \t]*\n.*",
    re.DOTALL | re.IGNORECASE,
)
"""Matches a letter within an answer, up to the end: what it says is said to somebody else."""


def split_sentences(text: str) -> list[str]:
    """Split a text at the ends of its sentences and lines."""
    return _SENTENCE.split(text)


@lru_cache(256)  # several rules read the same answer
def find_claims(text: str) -> tuple[Claim, ...]:
    """Return the claims of a visible text; plans, offers, questions, conditions and negations are none."""
    stated = split_stated(_LETTER.sub("", text) if "\n" in text else text)
    sentences = [sentence for sentence in stated if len(sentence) <= _LONGEST]
    return tuple(claim for sentence in sentences for claim in _read_sentence(sentence))


def _read_sentence(sentence: str) -> Iterator[Claim]:
    before: list[str] = []
    is_open = True
    for clause in _CLAUSE.split(sentence):
        words = _TOKEN.findall(clause.lower())
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
        if word not in _DONE_WORDS and not word.endswith("ing"):
            continue
        is_german = word in _GERMAN_WORDS and word not in _BY_VERB
        verb = _GERMAN_WORDS[word] if is_german else _find_past_verb(words, at)
        if verb is None or _is_blocked(words, at) or words[max(0, at - 1) : at + 1] == ["all", "set"]:
            continue
        form = _find_german_form(words[:at]) if is_german else _find_form(words, at, before, is_open)
        families = _find_families(verb, words) if form else frozenset[str]()
        if families:
            is_strong = form == "own" or (form == "passive" and not _BEFORE.intersection(words))
            yield Claim(families, word, clause.strip(), sentence, is_strong, form == "own")
    for match in _STATES.finditer(clause) if not _STATE_WORDS.isdisjoint(words) else ():
        noun = match["held"] or match["on"] or (match["live"] and "deployment")
        nouns = [noun] if noun else [*before, *words] if "all" in words else words
        families = frozenset(name for each in nouns if (name := _name_noun_family(each.lower())))
        if families and not _BLOCKS.intersection(words):
            yield Claim(families, match[0], clause.strip(), sentence, is_strong=False, is_own=False)


def _find_past_verb(words: Sequence[str], at: int) -> str | None:
    """Return the verb that a word is a past form of, also of "finished updating"; or None."""
    if at and words[at - 1] in _FINISHED and words[at].endswith("ing"):
        stem = words[at].removesuffix("ing")
        return next((verb for verb in (stem, f"{stem}e", stem[:-1]) if verb in _BY_VERB), None)
    return _PAST.get(words[at])


def _find_german_form(lead: Sequence[str]) -> str | None:
    """Return the form of a participle at the end of a German clause."""
    if {"ich", "wir"}.intersection(lead) and {"habe", "haben"}.intersection(lead):
        return "own"
    if {"wurde", "wurden"}.intersection(lead):
        return "passive"
    return "state" if {"ist", "sind"}.intersection(lead) else None


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
    lead = [word for word in words[:at] if word not in _ADVERBS | _FINISHED]
    last = lead[-1] if lead else ""
    if last in _FIRST or (last in _HAS and _FIRST.intersection(lead[-2:-1])):
        return "own"
    if "been" in words[:at] and (not lead or last in _HAS):
        return "passive"
    # "Status: Cancelled" is a state, and so are "invite sent to Ada" and "the deal has moved to Won".
    if last in _PASSIVE or (not lead and len(words) == 1) or (lead and _is_elliptic(words, at, lead)):
        return "state"
    if last in _HAS and len(lead) > 1 and _is_without_object(words, at):
        return "state"
    if lead:
        return None
    return "own" if _FIRST.intersection(before) else "initial" if is_open else None


def _is_elliptic(words: Sequence[str], at: int, lead: Sequence[str]) -> bool:
    is_short = _is_without_object(words, at)
    is_noun = lead[-1] not in _DETERMINERS | _AFTER_SHORT | _FIRST
    return is_short and is_noun and not (_PASSIVE | _HAS).intersection(words) and len(lead) <= _SHORT + 1


def _is_without_object(words: Sequence[str], at: int) -> bool:
    return at + 1 == len(words) or words[at + 1] in _AFTER_SHORT


def _find_families(verb: str, words: Sequence[str]) -> frozenset[str]:
    # The object of "processed" says what was done.
    names = map(_name_noun_family, words) if verb in _OPEN_VERBS else [_BY_VERB.get(verb)]
    return frozenset(name for name in names if name)
