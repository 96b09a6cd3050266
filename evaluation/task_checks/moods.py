"""Decides whether words of a sentence demand something of the output, or only mention it.

A demand has a governor before it: an order, a wish, or a statement of what the output must have. Words
that start a topic ("about", "how", "who") between the governor and the words make them a mention, unless a
preposition leads back to the output: "Write about bees in at most 50 words".
"""

from __future__ import annotations

from typing import Final

import regex

from evaluation.task_checks.governors import OTHERS, TOPIC, Governor, find_governor
from evaluation.task_checks.language.words import ARTIFACT, EXPLAINING, TEXT, TEXTS
from evaluation.task_checks.sentences import Sentence

_REQUEST: Final = regex.compile(r"(?:can|could|would|will) you")
_MENTIONS: Final = regex.compile(rf"\b(?:{EXPLAINING})\b[^,;:]*$|\b(?:about|whether)\b[^,;:]*$")
_LABEL: Final = regex.compile(
    r"^(?:max(?:imum)? |min(?:imum)? |(?:total |number of )?(?:words?|sentences?|paragraphs?|lines?|"
    r"characters?) ?|"
    r"(?!my |our )\w+ )?(?:length|format|language|"
    r"tone|style|constraints?|requirements?|rules?|note|output"
    r"|count|limit|number|ending|opening|important|nb|case|size|title|remember|reminder|p\.?s\.?)\s?(?::|$)"
)
_LABEL_BEFORE: Final = regex.compile(
    r"[,;.)] (?:length|word count|language|format|tone|limit|maximum|minimum) ?: ?$"
)
_REPORT: Final = regex.compile(
    r"\b(?:says|said|claims|claimed|told|tells|believes?|states that|stated|argues|argued|heard|"
    r"asks for|asked|forbids?|"
    r"refuses?|requires? (?:me|us|him|her|them)|wants|wanted|known as|insists?|insisted|demands|"
    r"demanded|ordered|instructs|"
    r"instructed|requested|decided|promised)\b"
)
_TEXTUAL: Final = regex.compile(
    r"\b(?:writ(?:e|es|ten|ing)|wrote|says?|said|tells?|told|speaks?|spoken|express(?:es)?|"
    r"answers?|asks?|sings?|sung|reads?|"
    r"respond|publish(?:ed)?|prints?|printed|spells?|copy|invented|describes?|summari[sz]es?|"
    r"sends?|posts?|ends|starts|in which|"
    r"who|whose|whom)\b"
)
"""Verbs to which a number belongs if they are in a topic: "about a man who answers in two words"."""
_FILLERS: Final = (
    r"(?: (?:the|a|an|single|only|all|entirely|any|just|and|but|in|with|your (?:response|answer|reply)))*"
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
_TEXT_TOPIC: Final = regex.compile(
    rf"^(?:about|on|regarding|concerning|for) (?:[a-z]+ ){{0,2}}?{TEXTS} (?:with|of|that|which)\b"
)
"""A text that is the topic: what follows says how long that text is."""
_WITH: Final = regex.compile(r"\b(?:with|of|and|but|by)(?: (?:a|an|the))? ?$")
_BOUND: Final = regex.compile(
    r"(?:at (?:least|most)|a total of|no|without|in|using|exactly|less than|more than|fewer than|"
    r"a m[ai][xn]imum|between|not|up to|"
    r"under|over|about)\b"
)
_CONTINUES: Final = regex.compile(
    r"^ ?(?:letters?|text|words?)? ?(?:is|are|was|were|has(?! to\b)|had|do|does|did|makes?|seems?|"
    r"looks?|means?|became|cost)\b(?! (?:allowed|required|enough|fine|ok|forbidden|the (?:limit|"
    r"maximum|minimum)|permitted|a must|needed|acceptable|not allowed|preferred|to be|"
    r"too (?:long|short|much|many|few)|not (?:accepted|ok|used)))"
)
_ARTIFACT: Final = regex.compile(rf"^(?: (?!about|on|of)[a-z0-9_()-]+){{0,5}}? {ARTIFACT}(?![\w-])")
_NONE_USED: Final = regex.compile(
    r"^(?:no|not|zero)[ ,]*(?:letters?|text|words?)? ?(?:is|are) (?:used|included|present)\b"
)
_WHY: Final = regex.compile(
    r"(?:why|when|where|who|whose|which)\b|(?:what|how) (?:do|does|did|is|are|was|were|has|have|many|much|"
    r"often|long)\b"
    r"|(?:do|does|did|is|are|was|were|has|have) "
)
_NO_VERB: Final = regex.compile(
    r"[-(]? ?(?:(?:please|and|but|also|nothing|with|in|as|using|within|only|all|the|a|an|just|everything|"
    r"to|of|entirely|completely|under|without|using|avoid|no|anything|somewhere|from|your|whole|response|"
    r"answer|reply|length|"
    r"(?:each|every) (?:of the )?(?:line|sentence|paragraph|stanza|verse|item|bullet(?: point)?)s?|"
    r"(?:in|into|with|without|using|within|under) (?:[\w'-]+ ){0,6}?[\w'-]+,? (?:and|but)|"
    r"(?:can|could|would|will) you)\b,? ?)*"
)
_NAMES_TEXT: Final = regex.compile(
    rf"^(?:an?|one|[a-z]+-[a-z]+) (?:[a-z-]+ ){{0,3}}?(?:{TEXT}|paragraph)\b.*\b(?:of|with|in|using|within)"
    r"(?: (?:a|an|the))? $"
)
"""A task without a verb: "A poem in Latin with four lines"."""
_AFTER_COMMA: Final = regex.compile(r",(?: in| with| using| and| please)* ?$")
_NEAR_COMMA: Final = regex.compile(r"[,;(] ?(?:\w+ ){0,2}$")
_VERB: Final = regex.compile(
    r"\b(?:is|are|was|were|has|had|have|did|does|do|wants?|\w+ed|won|wrote|made|got|came|went|took|gave|saw|"
    r"told|found|sent|lost|began|became|kept|brought|bought|felt|i|he|she|we|they)\b"
)
_WANTED: Final = regex.compile(r"\bwhat (?:i|we)(?:'d| would)? (?:need|want|expect|like)\b")
_ASIDE: Final = regex.compile(r"[,;:(]|\b(?:please|in|using|with|within|under)\b")
_COMPARES: Final = regex.compile(r"(?:which|what)\b[^,]*\b(?:better|best|worse|more|longer|shorter|right)\b")
"""A question that ends with its alternatives: "Which is better, two lines or three?"."""
_ASKING: Final = regex.compile(
    r"^(?:(?:in|at|for|to|from|on|with|by) (?:which|what|whom)|what|why|how|when|where|who|which|"
    r"whose|whom|is|are|was|were|do|does|did|should|must|has|am|may|can|could|would|"
    r"will)\b(?! (?:not|you|about (?:writing|a|some)))"
)


def is_demanded(sentence: Sentence, start: int, end: int) -> bool:
    """Check whether the words between two places of a sentence demand something of the output."""
    before = sentence.text[:start]
    if sentence.is_data or _is_subject(sentence.text, start, end) or _is_asked(sentence, before):
        return False
    governor = find_governor(sentence.text, start)
    if _LABEL_BEFORE.search(before):
        return True
    if governor is None:
        return _starts_sentence(sentence, before)
    return not _REPORT.search(before) and _reaches(governor, before[governor.end :], sentence.text[start:])


def _is_asked(sentence: Sentence, before: str) -> bool:
    """Check for the words of a question: "Why do letters end with a name?"."""
    return sentence.is_question and bool(_WHY.match(sentence.text)) and not _ASIDE.search(before)


def _is_subject(text: str, start: int, end: int) -> bool:
    """Check whether a statement follows: "two words are enough for him". "No commas are used" is a demand."""
    if _NONE_USED.match(f"{text[start:end].split(' ', 1)[0]}{text[end:]}"):
        return False
    return bool(_CONTINUES.match(text[end:]))


def _reaches(governor: Governor, gap: str, rest: str) -> bool:
    """Check whether a governor reaches over the words between it and what it may demand."""
    topic = TOPIC.search(gap)
    if governor.kind == "produce" and _ARTIFACT.search(gap):
        return False
    if governor.kind == "explain":
        return _leads_back(gap, _BACK_CROSS if topic else _BACK_EXPLAIN, rest)
    if governor.kind == "require":
        return topic is None or not _TEXTUAL.search(gap)
    return topic is None or _leads_back(gap, _BACK, rest)


def can_demand(sentence: Sentence) -> bool:
    """Check whether a sentence is no text to work on, and no question except "could you ..."."""
    return not sentence.is_data and (not sentence.is_question or bool(_REQUEST.match(sentence.text)))


def is_statement(sentence: Sentence, start: int) -> bool:
    """Check whether a place may be the subject of a statement of what the output must have."""
    before = sentence.text[:start]
    return can_demand(sentence) and not OTHERS.search(before) and not _MENTIONS.search(before)


def _leads_back(gap: str, back: regex.Pattern[str], rest: str) -> bool:
    if not back.search(gap) and not (_WITH.search(gap) and _BOUND.match(rest)):
        return False
    topic = TOPIC.search(gap)
    if topic and _TEXT_TOPIC.search(gap[topic.start() :]):
        return False
    return not topic or not _TEXTUAL.search(gap[topic.start() :]) or gap.rstrip().endswith(",")


def _starts_sentence(sentence: Sentence, before: str) -> bool:
    """Check whether the words are a demand without a verb: "No commas." or "In one sentence, ..."."""
    if _LABEL.match(before):
        return True
    if sentence.is_question and _ASKING.match(sentence.text):
        if _COMPARES.match(sentence.text):
            return False
        return bool(_AFTER_COMMA.search(before))
    if _NO_VERB.fullmatch(before) or (_NAMES_TEXT.search(before) and not _VERB.search(sentence.text)):
        return True
    if _ASKING.match(sentence.text):
        return False
    return _starts_clause(before) or bool(_NEAR_COMMA.search(before) and not _VERB.search(before))


def _starts_clause(before: str) -> bool:
    """Check for a demand without a verb after a colon or a dash: "Shout a little: five words in capitals"."""
    head, mark, clause = before.rpartition(": ")
    if not mark:
        head, mark, clause = before.rpartition(" - ")
    is_report = _REPORT.search(head) or (OTHERS.search(head) and not _WANTED.search(head))
    return bool(mark) and not is_report and _NO_VERB.fullmatch(clause) is not None
