"""Moves the verbs of a German task, read with English words, to where English has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import regex

from evaluation.task_checks.marks import QUOTED

_CLAUSE_END: Final = r"(?=[.,;:!?\n]|$| and | but )"
_AMOUNT: Final = r"\b(?:no|at|exactly|more|fewer|not)\b"
_STATES: Final = r"(?P<verb>is|are|has|have|contains?)"
_INFINITIVE: Final = (
    r"(?P<verb>(?:be )?(?:contain|include|use|avoid|mention|appear|have|be|begin|start|end|exceed|consist|"
    r"read))"
)
_REQUEST: Final = (
    r"(?P<verb>write|create|list|name|summarize|explain|describe|compare|translate|give|tell|suggest|provide|"
    r"say|make|answer|rewrite|shorten|add|use|avoid|mention|include|repeat|highlight|begin|end)"
)
_QUOTATION: Final = rf"(?:the \w+ )?{QUOTED}"
_NUMBER: Final = r"(?:\d+|[a-z]+(?:-[a-z]+)?)"
_MODAL: Final = r"(?P<head>\b(?P<modal>should|must|may|can) )"
_ONE_CLAUSE: Final = r"(?:(?! (?:should|must|may) )[^.,;:!?\n])"
_NOT_DONE: Final = r"(?P<no>not )?(?P<done>(?:written|used) )?"
_OBJECT: Final = (
    r"(?:(?!\b(?:should|must|may|can|could|will|would|to|is|are|has|have|had|be|want|i|we|you|they|who|"
    r"that|how|why|what|if)\b)[^.,;:!?\n]){3,80}?"
)
_START: Final = rf"(?:^|(?<=[.;:!] |[\n(])|(?<=, )(?!the (?!\w+ {QUOTED})))"
"""The start of an order; after a comma, an article starts a relative clause, too."""
_ORDERS: Final = tuple(
    (regex.compile(pattern), words)
    for pattern, words in (
        # "der mindestens 300 Wörter lang ist", "und kein Komma enthält"
        (
            rf"(?P<head>, (?:the|in the|that) )(?P<object>[^.,;:!?\n]{{3,80}}?) {_STATES}{_CLAUSE_END}",
            ", that {verb}",
        ),
        (
            rf"(?<= )(?P<head>(?:and|but) )(?P<object>{_AMOUNT}[^.,;:!?\n]{{3,80}}?) {_STATES}{_CLAUSE_END}",
            "and {verb}",
        ),
        # "der mit „Ende“ endet"
        (
            rf"(?P<head>, (?:the|that) )(?P<object>with {_QUOTATION}) (?P<verb>ends|starts){_CLAUSE_END}",
            ", that {verb}",
        ),
        # "in dem das Wort „Mond“ mindestens zweimal vorkommt"
        (rf"(?P<head>)(?P<object>{_AMOUNT}[^.,;:!?\n]{{1,40}}?) (?P<verb>appears?){_CLAUSE_END}", "{verb}"),
        # "darf nicht mit „Mond“ beginnen"
        (
            rf"{_MODAL}not (?P<object>with {_QUOTATION}) (?P<verb>begin|start|end){_CLAUSE_END}",
            "{modal} not {verb}",
        ),
        # "darin soll zweimal das Wort „Mond“ vorkommen"
        (
            rf"{_MODAL}(?P<object>[^.,;:!?\n]{{0,60}}?{QUOTED}) (?P<no>not )?appear{_CLAUSE_END}",
            "{modal} {no} contain",
        ),
        # "soll das Wort „Mond“ enthalten", "müssen in Großbuchstaben geschrieben sein"
        (
            rf"{_MODAL}(?P<object>{_ONE_CLAUSE}{{1,90}}?) {_NOT_DONE}{_INFINITIVE}{_CLAUSE_END}",
            "{modal} {no} {verb} {done}",
        ),
        # "und das Wort „Mond“ zweimal enthalten"
        (
            (
                rf"(?<= )(?P<head>(?:and|but) )(?P<object>(?:the|no|at|exactly) [^.,;:!?\n]{{3,80}}?) "
                rf"(?P<verb>contain|include|avoid|mention){_CLAUSE_END}"
            ),
            "and {verb}",
        ),
        # "Kannst du mir auf Englisch erklären"
        (
            rf"(?P<head>\b(?:can|could) you )(?P<object>[^.,;:!?\n]{{1,90}}?) {_REQUEST}{_CLAUSE_END}",
            "can you {verb}",
        ),
        # "nicht über 60 Wörter"
        (rf"(?P<head>\babout )(?P<object>{_NUMBER} (?:words|sentences|characters|lines)\b)", "over"),
        # "Kein Punkt darf länger als fünf Wörter sein"
        (
            r"(?P<head>\b(?:no|each) )(?P<object>)period (?=[^.,;:!?\n]{0,40}\b(?:words|sentences)\b)",
            "{head} bullet point",
        ),
        # "Verwende nie das Wort", "darf kein einziges Mal vorkommen"
        (r"(?P<head>\b(?:use|mention|say|write) (?:no single times?|never) )(?P<object>)", "avoid"),
        (r"(?P<head>\bmay (?P<verb>appear) )(?P<object>)(?:no single times?|never)\b", "must not {verb}"),
        (r"(?P<head>\bto to )(?P<object>)", "up to"),
        # "acht Ideen, keine länger als vier Wörter"
        (r"(?P<head>\bno )(?P<object>(?:longer|shorter|more) as\b)", "none"),
        # "Fremdwörter vermeiden.", "Das Wort „Mond“ nicht verwenden."
        (
            rf"{_START}(?P<head>)(?P<object>{_OBJECT}) not (?:use|mention|include|add)(?=[.,;!\n]|$)",
            "avoid",
        ),
        (
            rf"{_START}(?P<head>)(?P<object>{_OBJECT}) (?P<verb>use|avoid|mention|include){_CLAUSE_END}",
            "{verb}",
        ),
        (r"(?P<head>\bavoid )(?:in|to) (?P<object>the )", "avoid"),
        (r"(?P<head>\b(?:entirely )?small )written(?P<object>)", "in lowercase"),
        (r"(?P<head>(?<=\beverything )small\b)(?P<object>)", "in lowercase"),
        (r"(?P<head>\b(?:entirely )?large )written(?P<object>)", "in uppercase"),
    )
)


def reorder_verbs(text: str, offsets: Sequence[int]) -> tuple[str, list[int]]:
    """Return the text with its verbs before their objects, and the place in the task of each character."""
    places = list(offsets)
    for pattern, words in _ORDERS:
        pieces: list[str] = []
        moved: list[int] = []
        end = 0
        for match in pattern.finditer(text):
            lead = " ".join([*match.expandf(words).split(), ""])
            pieces += [text[end : match.start("head")], lead, match["object"]]
            # A quote that starts at the verb starts at what stands in its place.
            moved += [*places[end : match.start("head")], *[places[match.start("head")]] * len(lead)]
            moved += places[match.start("object") : match.end("object")]
            end = match.end()
        text, places = "".join([*pieces, text[end:]]), [*moved, *places[end:]]
    return text, places
