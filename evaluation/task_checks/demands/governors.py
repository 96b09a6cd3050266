"""Finds what makes words a demand: an order, a wish, or a statement of what the output must have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, cast

import regex

from evaluation.task_checks.language.words import (
    ARTIFACT,
    EXPLAINING,
    PRODUCING,
    REQUIRING,
    TEXT,
    UNKNOWN_ORDER,
)

Kind = Literal["produce", "explain", "require"]
_ADDRESS: Final = r"(?:can|could|would|will) you(?: (?:please|also|kindly|possibly|help me(?: to)?))* "
_OPENING: Final = (
    r"(?:at the (?:very )?(?:end|start|beginning|top|bottom)(?: of (?:your|the|"
    r"this) (?:[a-z]+ )?[a-z]+)?|(?:in|throughout|after|for|within|before) "
    r"(?:your|the|this|each) (?:entire |whole |own )?[a-z]+)"
)
"""Words before an order that no comma has to follow: "in your response use ..."."""
_ASKED: Final = r"(?:you|we|they|i|people|all|any|many|most|some)"
_ORDER: Final = regex.compile(
    rf"(?:^|[,;:(.!?-] ?|^{_OPENING} |\b(?:and|but|then|also|please|pls|plz|kindly|first|next|finally|so|"
    r"(?<!\b(?:can't|cannot|can|could|we|i|they|he|she|to) )just|lastly|instead|simply|always|"
    r"now|additionally|furthermore|moreover|however|again|let's|you (?:should|must|need to|"
    r"have to|can|may|are to|will)|"
    r"(?<!\b(?:does|do|did) \w{1,12} )need to|"
    rf"{_ADDRESS.rstrip()}) )(?:\w+ly )?(?!(?:do|have) {_ASKED}\b)"
    rf"(?:(?P<explain>{EXPLAINING})|(?P<produce>{PRODUCING})|(?P<require>{REQUIRING}))\b"
    rf"|^(?:(?:please|kindly|then|also|now|first),? )?(?!(?:{EXPLAINING}|{PRODUCING}|"
    rf"{REQUIRING})\b)(?P<unknown>{UNKNOWN_ORDER})"
)
_MODAL: Final = regex.compile(
    r"\b(?:should|must|shall|ha(?:s|ve) to|needs? to|ought(?: not)? to|may|might|can|can't|cannot|mustn't|"
    r"shouldn't|will|"
    r"is to|are to|(?:is|are|be) (?:not )?(?:allowed|required|forbidden|permitted|supposed|"
    r"expected|prohibited|banned)|"
    r"contains?|has|have|is|are|uses?|starts?|begins?|opens|ends?|closes|includes?|appears?|needs?|"
    r"consists?)\b(?:n't)?"
)
_STRONG: Final = regex.compile(
    r"should|must|shall|to$|^needs?$|can't|cannot|shouldn't|mustn't|may|can|allowed|required|forbidden|"
    r"permitted|supposed|expected|prohibited|banned|will"
)
_BREAK: Final = regex.compile(r"[,;:(] ?|\b(?:and|but|so|then|also|please|sure|that|ensure|be|note) |^|- ")
_FOREIGN: Final = regex.compile(
    r"^(?:the|this|any|every|each|no|my|our) (?:[a-z-]+ )?(?:"
    r"(?!(?:letter|answer|paper|flyer|poster|newsletter|chapter|banner|teaser|trailer|number|header|"
    r"footer|cover|"
    r"character|primer|disclaimer|reminder|opener|order|color|flavor|humor|error|author)\b)"
    r"[a-z]{2,}(?:er|or|ist|ian|bot)|"
    r"witness|judge|boss|client|team|company|school|(?:variable|file|user|class|function) name|variable|"
    r"field|app|"
    r"system|database|password|parameter) (?:(?:on|of|in|at|from|with) [^,;:]{1,30})?$"
)
"""Subjects that are no output: persons, who speak for themselves, and parts of programs."""
_ACTS: Final = regex.compile(
    r" (?:(?:not|only|always|also|never) )*(?:write|reply|respond|answer|speak|submit|hand in|deliver|learn|"
    r"sign|produce|type|send|copy|recite|memori[sz]e|tick|fill in)\b"
)
"""Verbs of persons: "my daughter has to write ..." says nothing of the output."""
_ACTOR: Final = regex.compile(rf"^(?:you|it|everything|(?:your|the|this) (?:[a-z]+ )?{TEXT})\b")
"""Subjects of which such a verb says something of the output, too."""
_FEELS: Final = regex.compile(
    r"\bit (?:bothers|annoys|surprises|amazes|irritates|strikes|worries|pleases) [a-z]+ that\b"
    r"|\b(?:claim|idea|fact|opinion|belief|argument|view|notion|theory|saying|complaint|proposal) that\b"
    r"|\bi (?:wonder|doubt|suspect|regret|know|heard|noticed|fear)(?: (?:that|if|why|how))?\b"
)
_SUBJECT: Final = regex.compile(
    r"^(?:in (?:your|the) (?:entire |whole )?\w+,? )?"
    r"(?:your|the|this|these|it|its|they|each|every|"
    r"all|no|both|there|you|my|our|any|neither|in it|"
    r"nothing|response|answer|"
    r"output|paragraph|letters?|words?|sentences?|responses|answers|replies|paragraphs|sections|parts|"
    r"entire|whole|all|length|lines?|only|everything|none|\ue000|use|"
    r"not|such|at|keywords?|one|some|several)\b"
    r"|^in (?:the|your|each|every) (?:[a-z]+ )?[a-z]+ $"
    r"|^\ue000"
)
_OUTPUT: Final = regex.compile(
    rf"^(?:your|the) (?:entire |whole |final )?(?:{TEXT}|word|phrase|keywords?|words)\b"
    r"|^(?:it|there|everything|each|every|your [a-z-]+)\b"
)
OTHERS: Final = regex.compile(
    r"\b(?:who|whom|whose|which|teacher|law|user|student|pupil|government|constitution|"
    r"assignment|contract|man|woman"
    r"|says?|said|tells?|told|claims?|asks?|asked|states|believes?|thinks?|heard|why|how|what|"
    r"when|if|whether|because)\b"
)
_WISH: Final = regex.compile(
    r"\b(?:i|we)(?:'d| would| do|'ll| can| will)?(?: not|n't| never)? ?(?:really |only )*(?:want|need|like|"
    r"love|prefer|expect|wish|require|appreciate|hope for|accept|have (?:room|space|time)(?= for\b))\b"
    r"|\b(?:i|we|(?:my|our|the) [a-z]+) (?:won't|can't|cannot|will not) (?:read|take|use|handle|process)\b"
    r"|^(?:need|want|wanted|looking for)\b"
    r"|\byou(?:(?:'ve| have)(?: got)?| get|(?:'re| are) (?:allowed|given|granted))(?= (?:only |just |"
    r"at most |up to |"
    r"no more |a m[ai]\w+ |\S+ (?:words|sentences|characters|lines|paragraphs)\b))"
    r"|\b(?:i'm|i am|we are|we're) (?:(?:looking|hoping|asking) for|after)\b"
    r"|\b(?:i|we) (?:(?:am|are) (?:required|supposed|allowed|expected)|have|need) to "
    r"(?:hand in|submit|deliver|turn in)\b|\b(?:i'm|i am|we are|"
    r"we're) expecting\b|\b(?:want|need|would like) (?:you to|it to|this to|the)\b"
)
_SUBJECTLESS: Final = regex.compile(
    r"(?:must|should|has to|needs? to|may) (?:(?:not|also|only) )*(?:be|have|contain|include|fit|use|mention|"
    r"start|end|begin|stay|read|say|consist)\b"
)
"""A statement without its subject: "Must contain a title"."""
_PREDICATES: Final = regex.compile(r"[^,;:.]*\b(?:and|but) $")
_EACH_UNIT: Final = regex.compile(
    r"\b(?:in which|where|wherein|such that|so that|with) (?:each|every|no|all|any)(?: of the| single)? "
    r"(?:lines?|sentences?|paragraphs?|stanzas?|words?|verses?|bullets?|bullet points?|items?|sections?)\b"
)
_PRONOUN: Final = regex.compile(r"\b(?:it|they|he|she) $")
_EXPLAINS: Final = regex.compile(rf"(?:please )?(?:{EXPLAINING})\b")
_TELLS: Final = (
    r"(?:tell|ask|remind|urge|teach|advise|instruct|warn|invite) (?:my|the|our|your|his|her|an?) [a-z]{2,15}"
)
"""Words that pass an order on to somebody else: "tell my brother to answer"."""
TOPIC: Final = regex.compile(
    rf"(?<=\b{_TELLS} )to [a-z]+|"
    r"(?<=\b(?:compare|discuss|explain|describe|with|of) )(?:writing|typing|speaking|printing|texting)\b|"
    r"\bto (?:tell|ask|remind|inform|warn|let)\b|\bexamples? of\b|"
    r"\b(?:in|on) which (?!you\b|the (?:key)?(?:word|letter|phrase|name|term)|each|every|no\b|all\b)|"
    r"\b(?:about|regarding|concerning|how|why|what|whether|who|whose|whom|where|when|because|since|"
    r"titled|called|named|entitled|"
    r"describing|explaining|asking|telling|requesting|informing|reminding|arguing|claiming|"
    r"teaches|teaching|on|that|which|"
    r"if|for|of [a-z]+ing)\b"
)
_OF_ARTIFACT: Final = regex.compile(rf"\b(?:{PRODUCING})\b[^.;]* {ARTIFACT} [^.;]*\b(?:that|which|if)\b")
_LONGEST_ORDER: Final = 20


@dataclass(frozen=True, slots=True)
class Governor:
    """The end of words that demand, and what they demand: an output, a property of it, work on a text."""

    end: int
    kind: Kind


@lru_cache(4096)
def find_governor(text: str, start: int) -> Governor | None:
    """Find the last governor before a place; the words there may start with an order themselves."""
    governors = [*_find_orders(text, start), *_find_statements(text, start)]
    return max(governors, key=lambda governor: governor.end, default=None)


def _find_orders(text: str, start: int) -> Iterator[Governor]:
    topic_from: int | None = None
    for match in _ORDER.finditer(text, 0, start + _LONGEST_ORDER):
        group = cast("str", match.lastgroup)
        kind = cast("Kind", "explain" if group == "unknown" else group)
        place = match.start(group)
        if place > start or (place == start and kind == "explain"):
            return
        # "Explain why some languages, such as Thai, write ..." is no order to write.
        is_order = kind != "produce" or match.group()[0] != "," or topic_from is None
        if is_order or not TOPIC.search(text, topic_from, place):
            yield Governor(min(match.end(), start), "require" if place == start else kind)
        topic_from = match.end() if kind == "explain" else topic_from


def _find_statements(text: str, start: int) -> list[Governor]:
    before = text[:start]
    if _OF_ARTIFACT.search(before):
        return []
    wishes = [Governor(match.end(), "produce") for match in _WISH.finditer(text) if match.end() <= start]
    modals: list[Governor] = []
    is_topic = _EXPLAINS.match(before) is not None
    for match in _MODAL.finditer(before):
        last = modals[-1].end if modals else None
        is_weak = is_topic and not _STRONG.search(match.group()) and _PRONOUN.search(before, 0, match.start())
        if not is_weak and (_states_property(before, match) or _shares_subject(text, match, last)):
            modals.append(Governor(match.end(), "require"))
    units = [] if is_topic else [Governor(match.end(), "require") for match in _EACH_UNIT.finditer(before)]
    return wishes + modals + units


def _shares_subject(text: str, modal: regex.Match[str], last: int | None) -> bool:
    """Check for a statement that leaves its subject out, at the start or after another one."""
    if last is not None and _STRONG.search(modal.group()):
        return _PREDICATES.fullmatch(text, last, modal.start()) is not None
    return modal.start() == 0 and _SUBJECTLESS.match(text) is not None


def _states_property(before: str, modal: regex.Match[str]) -> bool:
    """Check whether the words before a modal verb are about the output."""
    breaks = [
        match.end() for match in _BREAK.finditer(before, 0, modal.start()) if match.end() <= modal.start()
    ]
    if _FEELS.search(before):
        return False
    pattern = _SUBJECT if _STRONG.search(modal.group()) else _OUTPUT
    acts = _ACTS.match(before, modal.end())
    subjects = [before[place : modal.start()] for place in breaks[-4:]]
    return any(
        pattern.match(subject)
        and not OTHERS.search(subject)
        and not _FOREIGN.match(subject)
        and not (acts and not _ACTOR.match(subject))
        for subject in subjects
    )
