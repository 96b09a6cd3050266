"""Finds the sentences of a turn that say that an action is done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.defects.verb_families import find_past_verb, is_open_verb, name_family, name_noun_family
from evaluation.texts.visible import split_stated

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


def find_claims(text: str) -> Iterator[Claim]:
    """Yield the claims of a visible text; plans, offers, questions, conditions and negations are none."""
    for sentence in split_stated(text):
        if len(sentence) <= _LONGEST:
            yield from _read_sentence(sentence)


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
