"""Replaces other wordings of a demand by one wording, so that each rule needs to know only this one.

"Don't forget to mention", "make certain that you mention" and "be sure to mention" read as the last of them.
Every pattern is bounded, and none touches a mark such as a quoted text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import regex

_NOT: Final = r"(?:not|never|do not|don't|dont|n't|cannot|can't|must not|mustn't|should not|shouldn't)"
_ENSURE: Final = (
    r"(?:make (?:sure|certain)|ensure|be (?:sure|certain)|see to it|take care|double-check|bear in mind|"
    r"keep in mind|it is (?:very )?(?:important|essential|crucial|necessary|required|vital)|"
    r"it's (?:important|essential|crucial)|the requirement is|remember)"
)
_HAS_TO: Final = r"(?:should|must|shall|has to|have to|needs? to|ought to|is to|are to)"
_WORDS: Final = r"(?:(?:key ?-?)?words?|terms?|phrases?|expressions?)"
_NAMES_WORDS: Final = (
    rf"(?=(?:(?:in|into) )?(?:(?:both|all|the|of|these|those|following|a|an|any) )*{_WORDS}\b)"
)
_WISH: Final = r"(?:i|we)(?:'d| would) (?:really )?(?:prefer|like|love|appreciate|be (?:glad|happy|grateful))"
_GOOD: Final = r"it(?:'s| is|'d be| would be) (?:best|good|great|nice|ideal|better|fine|perfect)"
_NOT_ALLOWED: Final = (
    r"(?:forbidden|prohibited|banned|disallowed|taboo|off[- ]limits|to be avoided|not to be used|"
    r"a no-go|no-gos?|unwelcome|unwanted|out of bounds|barred|against the rules|"
    r"not (?:allowed|permitted|accepted|acceptable|okay|ok|welcome|wanted|to (?:appear|occur|be mentioned)))"
)
_REQUIRED: Final = (
    r"(?:required|needed|mandatory|obligatory|necessary|compulsory|a must|expected|called for)"
    r"(?= ?(?:$|[.,;:!\n]|(?:in|at|and|for|here|below|after|somewhere)\b))"
)
_LEFT_OUT: Final = r"(?:avoided|left out|omitted|excluded|skipped|absent)"
_WORK_IN: Final = (
    r"(?:weave|work|slip|squeeze|fit|sneak|blend|drop|throw|toss|integrate|bring|build|embed|sprinkle|"
    r"make (?:use|mention)|refer|smuggle|plug|get|hide|plant|fold|lace|mix|scatter|bring up)(?: in| of| to)?"
)
_OTHER_LANGUAGE: Final = (
    r"(?:no|any)(?: other)? languages?,? (?:other )?(?:than|but|except(?: for)?|besides|apart from)"
)
_USE: Final = r"(?:us(?:e|ing)|(?:answer|write|respond|reply|speak)(?:ing)?(?: in)?)"
_MARKS: Final = r"(?P<mark>comma|emoji|semicolon|number|digit|hyphen|hashtag|exclamation mark)s?"
_TENS: Final = r"(?:a|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|\w+ty)\b"
_OVER: Final = r"(?:over|more than|above|beyond|longer than)"
_AMOUNT: Final = rf"(?:\d+|{_TENS})"
_OF_LENGTH: Final = rf"(?: (?:length|size))?(?: is| ?:)(?= (?:\d|{_TENS}))"
_DO: Final = r"(?:use|include|mention|add|write|say|start|end|begin)"
_NO_OTHER: Final = (
    r"(?<!\b(?:but|and|since|because|that|though|the|word|character|sentence|line|paragraph) )\b"
)
_COUNT: Final = rf" (?P<unit>word|character|sentence|line|paragraph) (?:count|number|length){_OF_LENGTH}"
_STARTS_ORDER: Final = r"(?<=(?:^|[.,;:!?\n] ?|\b(?:and|please|also|but|to|should|must|then) ))"
_PHRASINGS: Final = tuple(
    (regex.compile(pattern), words)
    for pattern, words in (
        (r"\bgive me your (?:honest )?(?:opinion|views?|take|thoughts?)(?= (?:on|of|about)\b)", "discuss"),
        (r"(?<=\b(?:can|could|would|will|if|do) )u\b", "you"),
        (r"\b(?:ever|strictly|absolutely|really|definitely|certainly) (?=[a-z])", ""),
        (
            rf"\bnot (?:a|one)(?: single)? (?P<unit>word|character|line) {_OVER}(?P<number> {_AMOUNT})",
            "at most{number} {unit}s",
        ),
        (r"\b(?:in total|overall|altogether),? (?=(?:not|no|at|exactly|up|under|fewer|less|max)\b)", ""),
        (r"\b(?:hard|strict|absolute|firm) (?=(?:cap|limit|maximum|minimum|ceiling)\b)", ""),
        (r"\b(?:hopefully|ideally|preferably) (?=[a-z])", ""),
        (
            rf"\b(?:under no circumstances|on no account|at no point|in no case|by no means)(?= {_DO}\b)",
            "never",
        ),
        (r"\b(?:directly|immediately|straight(?: away)?|right away) (?=with\b)", ""),
        (r"\b(?:i|we)(?:'d| would) rather (?:that )?you (?:didn't|did not)\b", "do not"),
        (r"\b(?:(?:some|any)where )?(?:with)?in the (?:range|region|ballpark|order) of\b", "about"),
        (rf"\b{_NOT} (?:forget|fail|neglect|omit|forget about) to\b", "be sure to"),
        (rf"\b{_NOT} forget (?:about )?(?=(?:the|an?|your|that|at least|\d)\b)", "include "),
        (rf"\b{_ENSURE}(?: that|,)?,? there(?: is| are|'s)\b", "there must be"),
        (rf"\b{_ENSURE} that\b", "make sure"),
        (r"\bmake sure (?:the|both|all) [^.;:\n]{1,60}?\K (?:is|are|gets?)\b(?! not)", " must be"),
        (
            rf"\b(?:{_WISH}(?: it)?|{_GOOD}) if (?P<subject>(?:the|your) \w+|you|it|this|there)\b",
            "{subject} should",
        ),
        (r"\byou should (?:didn't|did not)\b", "do not"),
        (r"\bshould (?:didn't|did not)\b", "should not"),
        (r"\bshould had\b", "should have"),
        (r"\bshould (?:was|were)\b", "should be"),
        (r"\bshould (?P<verb>contain|mention|start|end|avoid)ed\b", "should {verb}"),
        (r"\bshould (?P<verb>include|use|feature|close)d\b", "should {verb}"),
        (
            r"\b(?:would|do) you mind (?P<verb>answer|respond|reply|keep|explain|add|start|end)ing\b",
            "can you {verb}",
        ),
        (r"\b(?:would|do) you mind (?P<verb>writ|us|mak|giv|includ|provid|describ)ing\b", "can you {verb}e"),
        (r"\byou should (?:left out|avoided|skipped|omitted|left)\b", "avoid"),
        (r"\byou should (?P<verb>use|include|mention|add)e?d\b", "{verb}"),
        (r"\b(?:keep|stay|steer) (?:away|clear) (?:from|of)\b", "avoid"),
        (r"\b(?:(?:do|get by) without|dispense with|do away with|get rid of)\b", "avoid"),
        (
            rf"\b(?:forgo|eschew|shun|sans|{_STARTS_ORDER}ban(?:ish)?)\b",
            "avoid",
        ),
        (
            r"\b(?:leave|cut|keep)(?= (?:the |these |any |all )?(?P<thing>[a-z]+(?:[ -][a-z]+)?) out\b)",
            "avoid",
        ),
        (r"\b(?:leave|cut|keep|take)(?= \ue000[^.;\n]{0,60} out\b)", "avoid"),
        (r"\b(?:surpass|overstep|overshoot|go (?:beyond|past)|run over)\b", "exceed"),
        (rf"\bgo (?:over|above)(?= (?:\d|{_TENS}))", "exceed"),
        (r"\b(?:can|could|may|might) (?:i|we)(?: please)? (?:get|have|see|receive)\b", "can you give"),
        (rf"\b(?:it(?:'s| is)|you(?:'re| are)) (?:strictly )?{_NOT_ALLOWED} (?:to|from)\b", "you must not"),
        (rf"\b(?:is|are) (?:strictly |also |absolutely )*{_NOT_ALLOWED}", "must not be used"),
        (rf"\b{_HAS_TO} be {_LEFT_OUT}\b", "must not be used"),
        (rf"\b(?:is|are) (?:also |absolutely )?{_REQUIRED}", "must be included"),
        (rf"\b(?:{_NOT} (?:to )?{_USE} )?{_OTHER_LANGUAGE}\b", "use only"),
        (rf"{_NO_OTHER}(?:the )?(?:upper limit|maximum|(?<=the )limit){_OF_LENGTH}", "use at most"),
        (rf"\bmax(?:imum|\.)?{_COUNT}", "{unit} count: at most"),
        (rf"\bmin(?:imum|\.)?{_COUNT}", "{unit} count: at least"),
        (rf"{_NO_OTHER}(?:the )?(?:lower limit|minimum){_OF_LENGTH}", "use at least"),
        (r"\byou(?:'re| are) (?:limited|restricted) to(?= \w)", "use at most"),
        (r"\b(?:only )?once (?:or not at all|at (?:the )?most)\b", "at most once"),
        (rf"\b{_MARKS}-?(?:free|less)\b", "free of {mark}s"),
        (rf"\b{_WORK_IN} {_NAMES_WORDS}", "include "),
        (rf"\b(?:keep|leave|cut|take)(?= (?:the |these |any )?{_WORDS}\b[^.;\n]{{1,80}} out\b)", "avoid"),
    )
)


def rephrase(text: str, offsets: Sequence[int]) -> tuple[str, list[int]]:
    """Return the text with one wording for each demand, and the place in the task of each character."""
    places = list(offsets)
    for pattern, words in _PHRASINGS:
        if pattern.search(text):
            pieces = list(_replace(pattern, words, text, places))
            text = "".join(piece for piece, _ in pieces)
            places = [place for _, piece_places in pieces for place in piece_places]
    return text, places


def _replace(
    pattern: regex.Pattern[str], words: str, text: str, places: Sequence[int]
) -> Iterator[tuple[str, Sequence[int]]]:
    end = 0
    for match in pattern.finditer(text):
        yield text[end : match.start()], places[end : match.start()]
        replacement = words.format(**match.groupdict())
        # A quote that ends within the replaced words has all of them.
        end_place = places[match.end() - 1] + 1
        yield replacement, [places[match.start()], *[end_place] * len(replacement)][: len(replacement)]
        end = match.end()
    yield text[end:], places[end:]
