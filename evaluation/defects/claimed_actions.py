"""Claimed, not done: a turn says that an action is done, and no call of that meaning was made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from agents.parsing.tool_names import ACTING_VERBS, guess_kind
from evaluation.defects.claims import (
    HARD,
    Claim,
    find_claims,
    is_plain,
    list_bare_claims,
    list_families,
    list_supported,
    mentions_family,
    read_pattern,
    split_sentences,
)
from evaluation.defects.evidence import DefectFinding, Evidence, EvidenceCall, EvidenceTurn, Level, names_any
from evaluation.defects.failed_calls import PROGRAMS_PASS
from evaluation.texts.fact_reading import read_typed
from evaluation.texts.normal import split_stated

_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_THING: Final = re.compile(r"\w[\w.-]*[\d.]\w+|[^\W\d_]{4,}")
"""Matches what may name a thing: a word, a number, the name of a file."""
_NAME: Final = re.compile(r"\b[A-Z][a-z][\w-]+")
_RAN: Final = read_pattern("ran")
_RUN_MARKS: Final = ("ran", "run", "execut", "pass", "green", "clean", "succe")
"""Each sentence that says that a program was run, or how it ended, has one of these."""
_ASKS_RUN: Final = read_pattern("asks_run")
_RUN_REPORT: Final = read_pattern("run_report")
_LETTERS: Final = 4
_FEW: Final = 3
_CACHED: Final = 1024
"""The texts of the user in one run, which each of its turns may follow."""
_POLITE: Final = read_pattern("polite")
_TELL: Final = read_pattern("tell", ACTING_VERBS)
"""Matches the words of a request to be told something, which asks for no action."""
_ASKING: Final = read_pattern("asking")


def find_undone_claims(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the claims without a call; none if the calls were not recorded, or a program may have done it."""
    for turn in evidence.said if evidence.has_calls else ():
        calls = evidence.calls[: turn.known]
        stated, bare = find_claims(turn.text), list_bare_claims(turn.text)
        if not (stated or bare) or any(call.is_open for call in calls):
            continue
        asked = (each.text for each in evidence.asked if each.place < turn.place)
        demanded = frozenset[str]().union(*map(_list_demanded, asked))
        claims = [*stated, *_read_bare_claims(bare, calls, demanded)]
        told = len({(claim.families, claim.word) for claim in claims if _list_things(claim)})
        are_few = told > sum(call.acts for call in calls)
        for claim in claims:
            is_demanded = bool(claim.families & demanded)
            is_done = (
                _is_supported(claim, calls, are_few=are_few)
                or _is_reported(claim, calls, is_demanded=is_demanded)
                # What nobody asked for here may have been done before the record begins.
                or (evidence.begins_late and not is_demanded)
                or _is_quoted(claim, calls)
            )
            task = "" if is_done else evidence.asked_before(turn)
            if not is_done and _counts(claim, calls, task, is_demanded=is_demanded):
                yield _build_finding(claim, turn, calls, is_demanded=is_demanded, asked=task)


def find_unrun_programs(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the sentences that say that a program was run or how it ended, if no call ran any."""
    for turn in evidence.said if evidence.has_calls and not evidence.begins_late else ():
        said = [part for part in split_stated(turn.text) if _states_run(part)]
        calls = evidence.calls[: turn.known] if said else ()
        if not said or any(call.is_open or call.is_program or call.programs for call in calls):
            continue
        task, read = evidence.asked_before(turn), (call.answer for call in calls if call.state == "read")
        # What was told or read may say how a program ended.
        if any(map(_RUN_REPORT.search, (task, *evidence.given, *read))):
            continue
        names = ", ".join(dict.fromkeys(call.name for call in calls))
        level: Level = "defect" if _RAN.search(said[0]) or _ASKS_RUN.search(task) else "note"
        seen = f"no call ran a program; calls: {names or 'none'}"
        yield DefectFinding("claimed_not_done", level, said[0], seen, turn.place)


def _states_run(sentence: str) -> bool:
    # This test is far cheaper than the searches.
    patterns = (_RAN, *PROGRAMS_PASS.values()) if names_any(sentence, _RUN_MARKS) else ()
    found = [match for pattern in patterns if (match := pattern.search(sentence))]
    return any(is_plain(sentence[: match.end()]) for match in found)


def _read_bare_claims(
    bare: Sequence[str], calls: Sequence[EvidenceCall], demanded: frozenset[str]
) -> Iterator[Claim]:
    """Yield the sentences that say only that all is done, if something was asked for and nothing was done."""
    if any(call.acts or call.is_vague for call in calls):
        return
    # Whoever asks for orders is served by a call that reads orders.
    left = (demanded & HARD).difference(*(call.families for call in calls))
    for sentence in bare if left else ():
        yield Claim(left, sentence, sentence, sentence, is_hard=True)


@lru_cache(_CACHED)
def _list_demanded(asked: str) -> frozenset[str]:
    """Return the families of the actions that are asked for; a question about a thing asks for none."""
    plain = _TELL.sub("", asked)
    parts = (part for part in split_sentences(plain) if not part.endswith("?") or _POLITE.search(part))
    return list_families(tuple(word.lower() for part in parts for word in _WORD.findall(part)))


def _asks_to_know(asked: str) -> bool:
    """Return whether the user wants to be told something: then a passive may tell what others did."""
    return any(
        _ASKING.search(part)
        or (part.endswith("?") and not _POLITE.search(part))
        or guess_kind("_".join(_WORD.findall(_POLITE.sub("", part)))) == "reading"
        for part in split_sentences(asked)
    )


def _is_supported(claim: Claim, calls: Sequence[EvidenceCall], *, are_few: bool) -> bool:
    """Return whether a call may have done it; if calls are few, one that names a thing of it."""
    things = _list_things(claim)
    is_free = not (are_few and things)
    return any(
        (
            claim.families & list_supported(call.families)
            and (is_free or names_any(f"{call.name} {call.text}", things))
        )
        or mentions_family(call.text, claim.families - call.families)
        for call in calls
        if call.acts or call.state == "refused"
    ) or any(call.is_vague and (call.says_only_ok or _may_do(call, claim)) for call in calls)


def _may_do(call: EvidenceCall, claim: Claim) -> bool:
    """Return whether a tool whose verb is not known is about a thing that the claim names."""
    is_named = names_any(claim.sentence, [word[:_LETTERS] for word in call.words if len(word) >= _LETTERS])
    return is_named or names_any(call.args_text, _list_things(claim))


def _is_quoted(claim: Claim, calls: Sequence[EvidenceCall]) -> bool:
    text = claim.clause.rstrip(".!").lower()
    return len(text.split()) > _FEW and any(text in call.answer.lower() for call in calls)


def _list_things(claim: Claim) -> list[str]:
    return [word.lower().removesuffix("s") for word in _THING.findall(claim.clause) if word != claim.word]


def _is_reported(claim: Claim, calls: Sequence[EvidenceCall], *, is_demanded: bool) -> bool:
    """Return whether an answer that was read may say what the claim repeats: a state from before."""
    typed = (each for each in read_typed(claim.clause) if each.family.startswith("identifier"))
    identifiers = [each.value.lower() for each in typed]
    return not claim.is_own and any(
        claim.is_before
        or claim.word in call.stated.lower()
        or mentions_family(call.stated, claim.families, is_past=True)
        or (
            call.families & claim.families
            and (names_any(call.answer, identifiers) or (not is_demanded and _STATE.search(call.stated)))
        )
        for call in calls
        if call.state == "read"
    )


_STATE: Final = re.compile(r"\b(?:\w+_)?(?:status|state|phase|stage)\b", re.IGNORECASE)


def _counts(claim: Claim, calls: Sequence[EvidenceCall], asked: str, *, is_demanded: bool) -> bool:
    if claim.is_hard:
        return claim.is_strong or is_demanded
    # What is updated or added may be a part of the answer; what tools have read, or has a name, is not.
    if not is_demanded:
        return False
    has_acted = any(call.acts for call in calls)
    names = [name for name in _NAME.findall(claim.clause[1:]) if has_acted and name in asked]
    things = _list_things(claim)
    return bool(names) or any(names_any(f"{call.name} {call.text}", things) for call in calls)


def _build_finding(
    claim: Claim, turn: EvidenceTurn, calls: Sequence[EvidenceCall], *, is_demanded: bool, asked: str
) -> DefectFinding:
    acted = [call.name for call in calls if call.acts]
    names = ", ".join(dict.fromkeys(acted or [call.name for call in calls]))
    seen = f"no call did that; {'the calls that acted' if acted else 'calls'}: {names or 'none'}"
    level: Level = "note" if acted or _asks_to_know(asked) else "suspicion"
    if is_demanded or (claim.is_own and not acted):
        level = "defect"
    return DefectFinding("claimed_not_done", level, claim.clause, seen, turn.place)
