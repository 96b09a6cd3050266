"""Decides whether words that demand reach over a topic to the words after it.

Words that start a topic ("about", "how", "who") make what follows a mention, unless a preposition leads
back to the output: "Write about bees in at most 50 words".
"""

from __future__ import annotations

from typing import Final

import regex

from evaluation.task_checks.demands.governors import TOPIC, Governor, find_governor
from evaluation.task_checks.language.words import ARTIFACT, TEXTS

_TEXTUAL: Final = regex.compile(
    r"\b(?:writ(?:e|es|ten|ing)|wrote|says?|said|tells?|told|speaks?|spoken|express(?:es)?|"
    r"answers?|asks?|sings?|sung|reads?|repl(?:y|ies)|recites?|enters?|types?|shouts?|whispers?|chants?|"
    r"respond|publish(?:ed)?|prints?|printed|spells?|copy|invented|describes?|summari[sz]es?|"
    r"sends?|posts?|ends|starts|in which|bans|forbids|prohibits|requires|demands|obliges|"
    r"who|whose|whom)\b"
)
"""Verbs to which a number belongs if they are in a topic: "about a man who answers in two words"."""
_FILLERS: Final = (
    r"(?: (?:the|a|an|single|only|all|entirely|any|anything|something|please|just|and|but|in|with|"
    r"your (?:response|answer|reply)))*"
)
_FORM: Final = r"in the (?:form|shape|format) of"
_WITHOUT: Final = r"without (?:(?:ever |even |once )*\w+ing|any|the(?: use of)?)"
_SO_THAT: Final = r"so(?: that)? (?:it|they)(?:'s| is| are| has| have| contains?)?"
_MARKS: Final = r"[,;(:]| - ?"
_ATTRIBUTES: Final = (
    r"(?:that|which)(?:'s|(?= ?$)| (?:is|are|has|have|contains?|includes?|uses?|should|must|needs?|"
    r"neither|does not|"
    r"doesn't|do not|don't|never|begins?|starts?|ends?|mentions?|avoids?|consists?|fits?|you|stays?|remains?|"
    r"runs?|spans?|comprises?|totals?|goes|takes?|opens?|closes?|finish(?:es)?|features?|covers?|keeps?|"
    r"employs?)\b)"
    r"(?: \w+){0,6}?|containing|including|having"
)
_BACK: Final = regex.compile(
    rf"(?:(?:^|[ ,;(])(?:in|within|using|under|with|without|{_WITHOUT}|and|but|as|into|{_FORM}|{_ATTRIBUTES}"
    r"|and (?:has|contains|is|includes|uses|that|which|do not|don't|with|without|in|use|using)(?: \w+){0,3}?"
    rf"|(?:of|for|to) (?:at|about|around|exactly|between|no|not))|{_MARKS}){_FILLERS}[ ,]*$"
)
"""Leads from a topic back to what is written."""
_BACK_EXPLAIN: Final = regex.compile(
    rf"(?:(?:^|[ ,;(])(?:in|within|using|under|{_WITHOUT}|and without|into|as|to|"
    rf"{_SO_THAT}|{_FORM})|{_MARKS}){_FILLERS}[ ,]*$"
)
_BACK_CROSS: Final = regex.compile(
    rf"(?:(?:^|[ ,;(])(?:in|within|using|under|{_WITHOUT}|{_SO_THAT}|{_FORM})|{_MARKS}){_FILLERS}[ ,]*$"
)
"""The same across a topic of a verb such as "explain"."""
_NORM: Final = (
    r"(?:rules?|styles?|polic(?:y|ies)|laws?|guidelines?|regulations?|requirements?|standards?|conventions?|"
    r"forms?|formats?|genres?|limits?|bans?|constraints?|traditions?|sonnets?|limericks?|haikus?|villanelles?)"
)
_TEXT_TOPIC: Final = regex.compile(
    rf"^(?:about|on|regarding|concerning|for|examples? of) (?:(?:[a-z]+ ){{0,2}}?{TEXTS}|"
    rf"(?:the|an?|our|my) (?:[a-z]+ ){{0,2}}?(?:{_NORM}|sentence|paragraph)) (?:with|of|that|which)\b"
)
"""A text or a form that is the topic: what follows says what that text is like."""
_SPELLS_OUT: Final = regex.compile(
    r"\b(?:about|on|of|regarding|concerning) (?:(?:the|an?|my|our|your|their|its) )?(?:[a-z-]+ ){0,3}?"
    rf"{_NORM}(?: (?:of|for|in) [^.:;]{{1,40}})?: [^.;]*$"
)
"""Details of a form that is the topic: "the rules of the villanelle: nineteen lines"."""
_OF_RULES: Final = regex.compile(
    r"^(?: (?!these\b|this\b|the\b|following\b|my\b)[a-z-]+){0,2} "
    r"(?:rules|terms|polic(?:y|ies)|instructions|guidelines|regulations|requirements)\b[^.:;]*: [^.;]*$"
)
"""Rules that the output states for others: "create rules for a contest: texts in English"."""
_SAME_CLAUSE: Final = regex.compile(
    r"^(?:to [a-z]+|(?:describ|explain|ask|tell|request|inform|remind|argu|claim)ing|how|why|whether|what)\b"
    r"[^.;:]*(?<!,) (?:and|but) $"
)
"""A coordination within a topic: "reminding us that letters need a greeting and two paragraphs"."""
_ENUMERATES: Final = regex.compile(
    r"^(?:why|how|that|whether|what|who|which|if|because|since)\b[^.;:]* "
    r"(?:an?|no|any) [a-z -]+, (?:an?|the) ?$"
)
"""The next object of a verb within a topic: "why a CV should not have a photo, a table"."""
_OF_TEXTS: Final = regex.compile(
    r"\b(?:texts|poems|books|novels|stories|letters|essays|words|sentences|names|songs|messages|e-?mails|posts|"
    r"tweets|articles|speeches) (?:with|without|that|which)(?: (?:the|an?|have|has|had|contain))* ?$"
)
"""Texts within a topic, of which the words after it say more: "on novels without the letter e"."""
_OTHERS_OBJECT: Final = regex.compile(
    r"\b(?:must|should|shall|ha(?:s|ve) to|needs? to|ought to|may|cannot|can)(?: (?:not|only|always|also))* "
    r"(?:be|have|contain|include|use|start|end|begin|mention)(?: (?!and\b|but\b)[a-z]+){0,2}(?: and)? ?$"
)
"""What a statement demands of something else: "notes on the fridge must be in English"."""
_TELLS_FACT: Final = regex.compile(
    r"[:;] (?:the|an?|my|our|his|her|he|she|they|it|i|we)\b[^.:;,]{0,30} "
    r"(?:[a-z]{2,}ed|had|wrote|sent|got|gave|made|took|said|was|were)(?: (?:only|just|me|us|to))? $"
    r"|, (?:but|and|so) (?:i|he|she|they|we) (?:have|had|wrote|got|made|gave)(?: only| just)? $"
)
"""A clause of its own: "a complaint: the translator delivered 300 words"."""
_TELLS_STORY: Final = regex.compile(
    r"[:;] (?:the|an?|my|our|his|her|two|three|some) "
    r"(?:[a-z]+ ){1,3}?(?!(?:contains|has|is|uses|includes|needs|"
    r"starts|ends|begins|consists|fits|mentions|words|lines|sentences|paragraphs|points|items|bullets|verses)\b)"
    r"[a-z]{3,}(?<!s)s (?!of\b|in\b|with\b)[^.;]*$"
)
"""What happens in a story: "a fairy tale: a king accepts only letters that ..."."""
_OTHERS_DUTY: Final = regex.compile(r"\b(?:had|has|have|wants?|wanted|needs?|needed|asked|told|used) to $")
_OWNED: Final = regex.compile(r"^ (?:in|on|of|to) (?:its|his|her|their)\b")
_ALSO_WHICH: Final = regex.compile(r", and (?:which|that)(?: (?:should|must))? ?$")
"""A further property of the output: "a story about ..., and which ends with ..."."""
_WITH: Final = regex.compile(r"\b(?:with|of|and|but|by)(?: (?:a|an|the))? ?$")
_TEXT_WITH: Final = regex.compile(
    rf"\b(?:(?<=\b(?:{TEXTS}|explanation|overview|table|total|maximum|minimum|length) )of|with|and|but|by)"
    r"(?: (?:a|an|the))? ?$"
)
"""The same after a text: "explain it in a text of ..."; "novels of exactly 100 words" are a topic."""
_BOUND: Final = regex.compile(
    r"(?:at (?:least|most)|a total of|no|without|in|using|exactly|less than|more than|fewer than|"
    r"a m[ai][xn]imum|between|not|up to|"
    r"under|over|about)\b"
)
_ARTIFACT: Final = regex.compile(rf"^(?: (?!about|on|of)[a-z0-9_()-]+){{0,5}}? {ARTIFACT}(?![\w-])")


def is_reported(text: str, start: int) -> bool:
    """Check whether a place is within what somebody writes or says: "a king who wrote a book without ..."."""
    governor = find_governor(text, start)
    topic = None if governor is None else TOPIC.search(text, governor.end, start)
    return (
        topic is not None
        and _TEXTUAL.search(text, topic.start(), start) is not None
        and not text[:start].rstrip().endswith(",")
    )


def reaches(governor: Governor, text: str, start: int, end: int) -> bool:
    """Check whether a governor reaches over the words between it and what it may demand."""
    gap, rest = text[governor.end : start], text[start:]
    match = TOPIC.search(text, governor.end, start)
    topic = None if match is None else text[match.start() : start]
    if governor.kind == "require":
        return topic is None or not _TEXTUAL.search(gap)
    if any(
        pattern.search(gap) for pattern in (_SPELLS_OUT, _OF_RULES, _OTHERS_OBJECT, _TELLS_FACT, _TELLS_STORY)
    ):
        return False
    if governor.kind == "produce" and (_ARTIFACT.search(gap) or (topic and _OWNED.match(text[end:]))):
        return False
    if governor.kind == "explain":
        return _leads_back(gap, topic, _BACK_CROSS if topic else _BACK_EXPLAIN, rest)
    if match is not None and match.group().startswith("of "):
        # "The cost of using two names": the topic is no way back.
        gap = text[match.end() : start]
    return topic is None or _leads_back(gap, topic, _BACK, rest)


def _leads_back(gap: str, topic: str | None, back: regex.Pattern[str], rest: str) -> bool:
    joins = _WITH if back is _BACK else _BACK_CROSS if topic else _TEXT_WITH
    if not back.search(gap) and not (joins.search(gap) and _BOUND.match(rest)):
        return False
    if topic is None:
        return not _OTHERS_DUTY.search(gap)
    if any(pattern.search(topic) for pattern in (_TEXT_TOPIC, _SAME_CLAUSE, _OF_TEXTS)):
        return False
    if _ENUMERATES.search(topic) or _ENUMERATES.search(f"{topic}{rest[:2]}"):
        return False
    is_set_off = gap.rstrip().endswith(",") or _ALSO_WHICH.search(gap)
    return not _TEXTUAL.search(topic) or bool(is_set_off)
