"""Claimed, not done: a turn says that an action is done, and no call of that meaning was made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from agents.parsing.tool_names import ACTING_VERBS, guess_kind
from evaluation.defects.claims import (
    HARD,
    Claim,
    find_claims,
    list_bare_claims,
    list_families,
    list_supported,
    mentions_family,
    read_groups,
    read_pattern,
    split_sentences,
)
from evaluation.defects.evidence import Call, DefectFinding, Evidence, Level, names_any
from evaluation.defects.failed_calls import list_program_claims
from evaluation.texts.fact_reading import read_typed
from evaluation.texts.normal import cache_by_text, remove_code

_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_THING: Final = re.compile(r"\w[\w.-]*[\d.]\w+|[^\W\d_]{4,}")
"""Matches what may name a thing: a word, a number, the name of a file."""
_MEANT_BEFORE: Final = frozenset({"both", "everything", "that", "them", "these", "they", "this", "those"})
_DELIVERED: Final = re.compile(r":\s|\S\n")
_LETTERS: Final = 4
_FEW: Final = 3
_POLITE: Final = read_pattern("polite")


def find_undone_claims(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the claims without a call; none if the calls were not recorded, or a program may have done it."""
    for turn in evidence.said if evidence.has_calls else ():
        calls = evidence.calls[: turn.known]
        stated, bare = find_claims(turn.text), list_bare_claims(turn.text)
        if not (stated or bare):
            continue
        asked = (each.text for each in evidence.asked if each.place < turn.place)
        demanded = frozenset[str]().union(*map(_list_demanded, asked))
        claims, task = [*stated, *_read_bare_claims(bare, calls, demanded)], evidence.asked_before(turn)
        for claim in claims:
            is_demanded = bool(claim.families & demanded)
            # What nobody asked for here may have been done before the record begins.
            is_earlier = evidence.begins_late and not is_demanded
            if is_earlier or _is_supported(claim, calls) or _is_reported(claim, calls):
                continue
            if level := _choose_level(claim, calls, task, turn.text, is_demanded):
                names = [call.name for call in calls if call.acts]
                seen = f"no call did that; {'the calls that acted' if names else 'calls'}: "
                seen += ", ".join(dict.fromkeys(names or [call.name for call in calls])) or "none"
                yield DefectFinding("claimed_not_done", level, claim.clause, seen, turn.place)


def find_unrun_programs(evidence: Evidence) -> Iterator[DefectFinding]:
    """Yield the sentences that say that a program was run or how it ended, if no call ran any."""
    for turn in evidence.said if evidence.has_calls and not evidence.begins_late else ():
        said = list_program_claims(turn.text)
        calls = evidence.calls[: turn.known] if said else ()
        if not said or any(call.is_open or call.is_program or call.programs for call in calls):
            continue
        task, read = evidence.asked_before(turn), (call.answer for call in calls if call.state == "read")
        # What was told or read may say how a program ended.
        if any(map(read_pattern("run_report").search, (task, *evidence.given, *read))):
            continue
        names = ", ".join(dict.fromkeys(call.name for call in calls))
        has_run = any(kind == "run" for kind, _ in said)
        level: Level = "defect" if has_run or read_pattern("asks_run").search(task) else "note"
        seen = f"no call ran a program; calls: {names or 'none'}"
        yield DefectFinding("claimed_not_done", level, said[0][1], seen, turn.place)


def _read_bare_claims(
    bare: Sequence[str], calls: Sequence[Call], demanded: frozenset[str]
) -> Iterator[Claim]:
    """Yield the sentences that say only that all is done, if something was asked for and nothing was done."""
    if any(call.acts or call.is_vague for call in calls):
        return
    # Whoever asks for orders is served by a call that reads orders.
    left = (demanded & HARD).difference(*(call.families for call in calls))
    for sentence in bare if left else ():
        yield Claim(left, sentence, sentence, sentence, is_hard=True)


def _list_demanded(asked: str) -> frozenset[str]:
    """Return the families of the actions that are asked for; a question about a thing asks for none."""
    # The context of a step grows by a few lines, and no sentence goes on in the next line.
    return frozenset[str]().union(*map(_list_demanded_in_line, remove_code(asked).split("\n")))


@cache_by_text
def _list_demanded_in_line(line: str) -> frozenset[str]:
    plain = read_pattern("tell", ACTING_VERBS).sub("", line)
    parts = (part for part in split_sentences(plain) if not part.endswith("?") or _POLITE.search(part))
    return list_families(tuple(word.lower() for part in parts for word in _WORD.findall(part)))


@cache_by_text
def _asks_to_know(asked: str) -> bool:
    """Return whether the user wants to be told something: then a passive may tell what others did."""
    return any(
        read_pattern("asking").search(part)
        or (part.endswith("?") and not _POLITE.search(part))
        or guess_kind("_".join(_WORD.findall(_POLITE.sub("", part)))) == "reading"
        for part in split_sentences(asked)
    )


@cache_by_text
def _asks_to_write(asked: str) -> bool:
    return read_pattern("writing").search(asked) is not None


def _is_supported(claim: Claim, calls: Sequence[Call]) -> bool:
    """Return whether a call may have done it."""
    return any(
        claim.families & list_supported(call.families)
        or mentions_family(call.text, claim.families - call.families)
        for call in calls
        if call.acts or call.state == "refused"
    ) or any(_may_do(call, claim) for call in calls if call.is_vague)


def _may_do(call: Call, claim: Claim) -> bool:
    """Return whether a tool of an unknown verb answers with ok alone, or may act on a thing of the claim."""
    if call.is_open:
        # A command of a known program or with a word of an act, if it runs no script, does what it says.
        is_known = bool(call.families or read_pattern("known_program").match(call.command))
        is_plain = is_known and not read_pattern("runs_script").search(call.command)
        families = list_supported(call.families) if call.families else frozenset[str]()
        return bool(not is_plain or claim.families & families or mentions_family(call.text, claim.families))
    if read_pattern("only_ok").fullmatch(call.answer):
        return True
    if claim.families & call.families or mentions_family(call.text, claim.families):
        return True
    things = [word[:_LETTERS] for word in call.words if len(word) >= _LETTERS]
    named = _list_things(claim)
    # "Both are booked" names no thing.
    is_near = not named or names_any(claim.sentence, things) or names_any(call.args_text, named)
    # A tool that takes several values, such as a recipient and a text, may be named after its service.
    return (is_near or len(call.args) > 1) and not _looks_up(call)


def _looks_up(call: Call) -> bool:
    """Return whether a call has the form of a search: several records, or the fields of one for its id."""
    is_listed = isinstance(call.value, list) or "\n" in call.answer.strip()
    return is_listed or (len(call.args) <= 1 and len(call.answered) >= _FEW)


def _list_things(claim: Claim) -> list[str]:
    words = (word.lower() for word in _THING.findall(claim.clause))
    return [word.removesuffix("s") for word in words if word not in _MEANT_BEFORE | {claim.word}]


def _is_reported(claim: Claim, calls: Sequence[Call]) -> bool:
    """Return whether an answer that was read may say what the claim repeats: a state from before."""
    typed = (each for each in read_typed(claim.clause) if each.family.startswith("identifier"))
    identifiers = [each.value.lower() for each in typed]
    text = claim.clause.rstrip(".!").lower()
    is_quoted = len(text.split()) > _FEW and any(text in call.answer.lower() for call in calls)
    return is_quoted or (
        claim.form != "own"
        and any(
            claim.is_before
            or claim.word in call.stated.lower()
            or any(map(_list_alike(claim.word).__contains__, _STATE.findall(call.stated.lower())))
            or mentions_family(call.stated, claim.families, is_past=True)
            or (call.families & claim.families and names_any(call.answer, identifiers))
            for call in calls
            if call.state == "read"
        )
    )


_STATE: Final = re.compile(r"\b(?:\w+_)?(?:status|state|phase|stage)\b(?:\W+(\w+))?", re.IGNORECASE)


@cache
def _list_alike(state: str) -> frozenset[str]:
    """Return the words that mean the same state."""
    return frozenset[str]().union(*(group for group in read_groups("same_states") if state in group))


def _choose_level(
    claim: Claim, calls: Sequence[Call], asked: str, text: str, is_demanded: bool
) -> Level | None:
    """Return the level of a claim without a call; None if it may be about the answer or a state."""
    has_acted = any(call.acts for call in calls)
    if not claim.is_hard:
        # What is updated or added may be a part of the answer; what tools have read is not.
        things = _list_things(claim)
        is_named = any(names_any(f"{call.name} {call.text}", things) for call in calls)
        # A changed text is in the answer, after a colon or in further lines; an update may come without it.
        is_alone = not (calls or _DELIVERED.search(text)) and claim.form == "own"
        is_alone = is_alone and "update" not in claim.families
        return None if not is_demanded else "defect" if is_named else "suspicion" if is_alone else None
    if is_demanded or (claim.form == "own" and not has_acted):
        # It may be a text that the user wants written.
        return "suspicion" if not has_acted and _asks_to_write(asked) else "defect"
    if claim.form != "own" and (claim.form != "passive" or claim.is_before):
        return None
    return "note" if has_acted or _asks_to_know(asked) else "suspicion"
