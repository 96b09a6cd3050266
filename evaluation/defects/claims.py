"""Finds the sentences that say that an action is done, and the verbs that mean the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

from agents.parsing.tool_names import list_past_forms
from evaluation.patterns import matches_pattern
from evaluation.texts.normal import cache_by_text, split_stated

_WORDS: Final[Mapping[str, Any]] = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))
"""The families of verbs that mean the same, with the claims that a call of each can stand for (a mailer
sends, and books nothing), and lists of words by what they tell."""
_FAMILIES: Final[Mapping[str, Mapping[str, list[str]]]] = _WORDS["families"]
FAMILIES: Final = frozenset(_FAMILIES)
HARD: Final = frozenset(name for name, family in _FAMILIES.items() if family.get("hard"))
"""Families of actions outside of a text; a text itself can be created, updated and cut."""
_MONEY_WORDS: Final = re.compile(r"refund|payment|amount|charge|price|credit|balance|paid", re.IGNORECASE)
_PAID_WORDS: Final = re.compile("refund|payment|paid", re.IGNORECASE)


@cache
def read_words(name: str) -> frozenset[str]:
    """Return a list of words."""
    return frozenset(_WORDS[name])


@cache
def read_pattern(name: str, words: frozenset[str] = frozenset()) -> re.Pattern[str]:
    """Return a pattern of alternatives; one may be a list of a begin, alternatives, and an end.

    ``words`` stand for WORDS in it.
    """
    rows = (row if isinstance(row, list) else ["", [row], ""] for row in _WORDS["patterns"][name])
    parts = (f"{begin}(?:{'|'.join(inner)}){end}" for begin, inner, end in rows)
    return re.compile("|".join(parts).replace("WORDS", "|".join(words)), re.IGNORECASE)


def read_groups(name: str) -> tuple[frozenset[str], ...]:
    """Return groups of words that mean the same."""
    return tuple(map(frozenset, _WORDS[name]))


def read_states() -> Mapping[re.Pattern[str], frozenset[str]]:
    """Return patterns of the words for a state, each with the states that contradict it."""
    rows = _WORDS["contradicting_states"].items()
    return {re.compile(rf"\b(?:{words})\b", re.IGNORECASE): frozenset(states) for words, states in rows}


def _index(kind: str) -> dict[str, str]:
    """Return the family of each word of a kind."""
    return {word: name for name, family in _FAMILIES.items() for word in family.get(kind, ())}


_BY_VERB: Final = _index("verbs")
_BY_NOUN: Final = _index("nouns")
_BY_COMMAND: Final = _index("commands")
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_BY_GERMAN: Final = {
    each: to for word, to in _index("german").items() for each in (word, word.translate(_UMLAUTS))
}
"""By stems of verbs and by participles; the names of tools have no umlaut."""
_OPEN_VERBS: Final = read_words("open_verbs")
"""Verbs whose meaning is that of their object."""
_PAST: Final = {"done": "do", "wrote": "write", "gone": "delete", "active": "activate"} | {
    form: verb for verb in (*_BY_VERB, *_OPEN_VERBS) for form in list_past_forms(verb)
}


def _name_noun_family(word: str) -> str | None:
    """Return the family of the action that a noun names, also in the plural."""
    return _BY_NOUN.get(word) or _BY_NOUN.get(word.removesuffix("s"))


@lru_cache(1024)
def list_families(words: tuple[str, ...]) -> frozenset[str]:
    """Return the families that the words of a name or of a request belong to."""
    found = (
        _BY_VERB.get(word)
        or _BY_VERB.get(_PAST.get(word) or _BY_GERMAN.get(re.sub("(?:en|e)$", "", word), ""))
        or _name_noun_family(word)
        or _BY_COMMAND.get(word)
        for word in words
    )
    return frozenset(name for name in found if name)


def list_supported(families: frozenset[str]) -> frozenset[str]:
    """Return the families of claims that a call of these families can stand for; of none, all."""
    return frozenset(claim for name in families for claim in _FAMILIES[name]["supports"]) or FAMILIES


@lru_cache(4096)  # each turn reads the answers of all calls before it
def mentions_family(text: str, families: frozenset[str], *, is_past: bool = False) -> bool:
    """Return whether a text has a word of any family, perhaps only in the past, or names their money."""
    money = _PAID_WORDS if is_past else _MONEY_WORDS
    is_money = bool(families & {"refund", "pay"}) and money.search(text) is not None
    return is_money or any(matches_pattern(_write_forms(name, is_past), text) for name in families)


@lru_cache(64)
def _write_forms(family: str, is_past: bool) -> str:
    """Write a pattern of words that begin with a form of a family."""
    row = _FAMILIES[family]
    past = [form for verb in row["verbs"] for form in list_past_forms(verb)]
    forms = past if is_past else [*past, *row["verbs"], *row.get("nouns", ())]
    return f"(?i)(?:^|[^a-z])(?:{'|'.join(forms)})"


_TOKEN: Final = re.compile(r"[\w@#/.-]*\w(?:'\w+)?")
_CLAUSE: Final = re.compile(r"[,;:)]\s+|\s\(|\s[-\u2013\u2014]\s|\s(?=(?:and|but|then)\b)")
_BEFORE: Final = frozenset({"already", "bereits", "schon", "previously"})
_FIRST: Final = frozenset({"i", "we", "i've", "we've"})
_PASSIVE: Final = frozenset({"is", "are", "was", "were", "be", "got", "it's", "that's"})
_MODAL: Final = read_words("modal")
_BLOCKS: Final = read_words("blocks")
_IDIOMS: Final = read_pattern("idioms")
_NOTHING: Final = frozenset({"no", "none", "nothing", "zero", "nobody"})
_CONDITIONS: Final = frozenset({"if", "once", "unless", "until", "when", "assuming", "suppose", "would"})
_AFTER_SHORT: Final = frozenset({"to", "for", "and", "with", "from", "on", "at", "as", "by", "in", "into"})
_HAS: Final = frozenset({"has", "have", "had"})
_STATES: Final = read_pattern("states")
_STATE_VERBS: Final = frozenset({"has", "have", "got", "went", "is"})
"""Each match of ``_STATES`` begins with one; the search takes far longer than this test."""
_LONGEST: Final = 2_000


Form = Literal["own", "passive", "state"]


@dataclass(frozen=True, slots=True)
class Claim:
    """An action that a sentence says is done."""

    families: frozenset[str]
    word: str
    """The word that says it is done."""
    clause: str
    sentence: str
    is_hard: bool
    """Whether the action is one outside of a text; a text itself can be created, updated and cut."""
    form: Form = "state"
    """How it says so: "own" is the first person, and "passive" tells news; "is cancelled" is a state."""
    is_before: bool = False
    """Whether it says that it was done before."""


def split_sentences(text: str) -> list[str]:
    """Split a text at the ends of its sentences and lines."""
    return re.split(r"(?<=[.!?])\s+|\n+", text)


def list_bare_claims(text: str) -> list[str]:
    """Return the sentences that say only that all is done."""
    return [sentence for sentence in split_stated(text) if read_pattern("all_done").match(sentence)]


@cache_by_text
def find_claims(text: str) -> tuple[Claim, ...]:
    """Return the claims of a visible text; plans, offers, questions, conditions and negations are none."""
    stated = split_stated(read_pattern("letter").sub("", text) if "\n" in text else text)
    sentences = (sentence for sentence in stated if len(sentence) <= _LONGEST)
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
        is_german = word in _BY_GERMAN and word not in _BY_VERB
        verb = _BY_GERMAN[word] if is_german else _PAST.get(word)
        if verb is None or _is_blocked(words, at) or _IDIOMS.search(" ".join(words[max(0, at - 1) : at + 2])):
            continue
        form = _find_german_form(words[:at]) if is_german else _find_form(words, at, before, is_open)
        families = _find_families(verb, words) if form else frozenset[str]()
        if families:
            is_hard = verb in read_words("hard_verbs") or not families.isdisjoint(HARD)
            is_before = not _BEFORE.isdisjoint(words)
            yield Claim(families, word, clause.strip(), sentence, is_hard, form or "state", is_before)
    for match in _STATES.finditer(clause) if not _STATE_VERBS.isdisjoint(words) else ():
        noun = match["held"] or match["on"] or (match["live"] and "deployment")
        nouns = [noun] if noun else [*before, *words] if "all" in words else words
        families = frozenset(name for each in nouns if (name := _name_noun_family(each.lower())))
        if families and not _BLOCKS.intersection(words):
            yield Claim(families, match[0], clause.strip(), sentence, not families.isdisjoint(HARD))


def _find_german_form(lead: Sequence[str]) -> Form | None:
    """Return the form of a participle at the end of a German clause."""
    if {"ich", "wir"}.intersection(lead) and {"habe", "haben"}.intersection(lead):
        return "own"
    if {"wurde", "wurden"}.intersection(lead):
        return "passive"
    return "state" if {"ist", "sind"}.intersection(lead) else None


def _is_blocked(words: Sequence[str], at: int) -> bool:
    near = words[max(0, at - 4) : at]
    is_negated = _BLOCKS.intersection(words[:at]) or any(word.endswith("n't") for word in words[:at])
    # "I bought nothing" and "I sent no mail" say that it was not done.
    is_negated = is_negated or not _NOTHING.isdisjoint(words[at + 1 : at + 2])
    after = pairwise(words[at + 1 : at + 7])
    is_others = any(by == "by" and not (who in {"me", "us"} or who[0].isdigit()) for by, who in after)
    return bool(is_negated or is_others or _MODAL.intersection(near))


def states_plainly(sentence: str, said: re.Match[str]) -> bool:
    """Return whether what is said has no negation or plan before it, and its sentence no condition."""
    before = _TOKEN.findall(_CLAUSE.split(sentence[: said.end()].lower())[-1])
    return not _is_blocked(before, len(before)) and _CONDITIONS.isdisjoint(sentence.lower().split())


def _find_form(words: Sequence[str], at: int, before: Sequence[str], is_open: bool) -> Form | None:
    """Return how a word states that something was done: "own", "passive" or "state"; None if it does not."""
    lead = [word for word in words[:at] if word in _FIRST or word not in read_words("adverbs")]
    last = lead[-1] if lead else ""
    if last in _FIRST or (last in _HAS and _FIRST.intersection(lead[-2:-1])):
        return "own"
    # "The book was published" tells a story; "your order was cancelled" and "it is now cancelled" tell news.
    is_news = (last in {"was", "were"} and "your" in lead) or (last in _PASSIVE and "now" in words[:at])
    if is_news or ("been" in words[:at] and (not lead or last in _HAS)):
        return "passive"
    # "Status: Cancelled" is a state, and so are "invite sent to Ada" and "the deal has moved to Won".
    if last in _PASSIVE or (not lead and len(words) == 1) or (lead and _is_elliptic(words, at, lead)):
        return "state"
    if lead:
        return "state" if last in _HAS and len(lead) > 1 and _is_without_object(words, at) else None
    return "own" if _FIRST.intersection(before) else "state" if is_open else None


def _is_elliptic(words: Sequence[str], at: int, lead: Sequence[str]) -> bool:
    is_short = _is_without_object(words, at)
    is_noun = lead[-1] not in read_words("determiners") | _AFTER_SHORT | _FIRST
    return is_short and is_noun and not (_PASSIVE | _HAS).intersection(words) and len(lead) <= _SHORT + 1


def _is_without_object(words: Sequence[str], at: int) -> bool:
    return at + 1 == len(words) or words[at + 1] in _AFTER_SHORT


def _find_families(verb: str, words: Sequence[str]) -> frozenset[str]:
    # The object of "processed" says what was done.
    names = map(_name_noun_family, words) if verb in _OPEN_VERBS else [_BY_VERB.get(verb)]
    return frozenset(filter(None, names))
