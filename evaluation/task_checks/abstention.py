"""A requirement that a rule found, and when its words mean something else than they seem to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from evaluation.task_checks.demands import Sentence
from evaluation.task_checks.reading import SEPARATOR, any_of

Fields: TypeAlias = Mapping[str, object]
_PROSE: Final = frozenset({"sentence_count", "paragraph_count", "line_count"})
_SIZES: Final = _PROSE | {"word_count", "character_count"}
_TEXTS: Final = frozenset({"contains", "excludes", "occurrences", "letter_count"})
_OF_PARTS: Final = _SIZES | _TEXTS | {"list_item_count", "starts_with", "ends_with"}
"""Kinds that would mean something else of a part: "each title in 5 words"."""
_FOLLOWER: Final = re.compile(
    rf"\s?(?:$|[^\w\s]|\n|(?:{any_of('followers')}|in(?! (?:all )?(?:bold|italics|caps|capital|upper))|\w+ing"
    r"|(?:is|are) (?:allowed|needed|required|enough|fine|ok|permitted))\b)"
)
_EACH: Final = re.compile(r"\b(?:each(?! separated| other)|every|per|apiece|for all|respectively|both)\b")
_PART: Final = re.compile(
    rf"(?<!this )(?<!following )\b(?:{any_of('parts')}|(?:first|second|last|other) one)\b"
    r"(?! and)(?! or)[^,;:.]{0,30}$"
)
_PLACE: Final = re.compile(
    r".*\b(?:first|second|third|last|final|opening|closing|one of the|next) (?:sentences?|paragraphs?|lines?|"
    r"sections?|words?|stanzas?|comments|bullets?)\b[^;:.]*$"
)
_SOME: Final = re.compile(
    r"\b(?:some|words?|title|headings?|names?|first letters?|keywords?|times)(?: (?!and)\w+){0,2} ?$"
)
_CODE: Final = re.compile(
    r"\b(?:code|script|function|program|sql|query|bash|one-liner|python|javascript|html|css)\b"
)
_NEGATION: Final = re.compile(
    r"(?:\b(?:not|never|no|nowhere|avoid|instead of|rather than)|n't|\bdont)\b[^,.;:]{0,60}$"
)

REPEATED: Final = r"\b(?:repeat|copy)\b[^.\n]{0,60}?\b(?:request|prompt|question|sentence)\b"
"""Demands to write the request again, before the answer."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Words of the folded text that state a requirement.

    Attributes:
        start: Their place.
        end: The place behind them.
        check: The fields of the check; None if no check says the same.
    """

    start: int
    end: int
    check: Fields | None = None

    @property
    def kind(self) -> str:
        """The kind of the check; empty if there is none."""
        return str((self.check or {}).get("check", ""))

    @property
    def forbids(self) -> bool:
        """Whether the check names something that the output lacks."""
        fields = self.check or {}
        return fields.get("max") == 0 or fields.get("use") == "absent"


def abstain(finding: Finding, sentence: Sentence, text: str) -> Finding:
    """Returns the finding, without its check if its words may be about something else."""
    if finding.check is None:
        return finding
    before = sentence.text[: finding.start - sentence.start]
    after = sentence.text[finding.end - sentence.start :]
    is_doubtful = (
        _is_about_part(finding.kind, before, after)
        or _goes_on(finding, text)
        or (_is_negated(finding) and _NEGATION.search(before))
    )
    return replace(finding, check=None) if is_doubtful else finding


def _is_about_part(kind: str, before: str, after: str) -> bool:
    clause = re.split(r"[,;:.\n]", after)[0]
    if kind in _OF_PARTS and (_EACH.search(before) or _EACH.search(clause)):
        return True
    if kind in _TEXTS:
        return bool(_PLACE.search(before) or _PLACE.match(after))
    if kind == "letter_case":
        return _SOME.search(before) is not None
    return kind in _SIZES and _PART.search(before) is not None


def _goes_on(finding: Finding, text: str) -> bool:
    """Returns whether the noun goes on after the words: "3 consecutive ..."."""
    is_amount = (
        bool(finding.check and {"min", "max", "exactly"} & set(finding.check)) or finding.kind == "language"
    )
    return (is_amount or finding.kind in _TEXTS) and _FOLLOWER.match(text, finding.end) is None


def _is_negated(finding: Finding) -> bool:
    """Returns whether a negation before the words would turn them round."""
    return (
        not finding.forbids
        and "max" not in (finding.check or {})
        and finding.kind not in {"excludes", "letter_count"}
    )


def settle(findings: Sequence[Finding], text: str) -> list[Finding]:
    """Drops the checks that other parts of the output make unsure, and words that a longer finding has."""
    unsure = _list_unsure(findings, text)
    kept = [replace(each, check=None) if each.kind in unsure else each for each in findings]
    return [each for each in kept if not any(_covers(other, each) for other in kept if other is not each)]


def _list_unsure(findings: Sequence[Finding], text: str) -> set[str]:
    kinds = {finding.kind for finding in findings if not finding.forbids}
    unsure: set[str] = set()
    if kinds & {"json", "schema", "table"}:
        unsure |= _PROSE
    if _CODE.search(text):
        unsure |= {"markdown", "heading_count", *_PROSE}
    if SEPARATOR in text:
        unsure.add("paragraph_count")
    if re.search(REPEATED, text):
        unsure |= {"starts_with", *_SIZES}
    has_bullets = any((each.check or {}).get("marker") == "bullet" and not each.forbids for each in findings)
    return (
        unsure | {"markdown", "list_item_count"}
        if has_bullets and "markdown" in {f.kind for f in findings}
        else unsure
    )


def _covers(other: Finding, finding: Finding) -> bool:
    if not (other.start < finding.end and finding.start < other.end):
        return False
    if finding.check is not None:
        is_longer = other.end - other.start > finding.end - finding.start
        return other.check is not None and is_longer and other.start <= finding.start
    return other.check is not None or (other.start, -other.end) < (finding.start, -finding.end)
