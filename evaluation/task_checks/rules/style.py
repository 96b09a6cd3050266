"""Letter case, language, and the marks at the end of sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.checks.language import LANGUAGES
from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_CODES: Final = {
    **{name.lower(): code for code, name in LANGUAGES.items()},
    "mandarin": "zh",
    "mandarin chinese": "zh",
    "simplified chinese": "zh",
    "traditional chinese": "zh",
    "farsi": "fa",
    "castilian": "es",
    "brazilian portuguese": "pt",
    "european portuguese": "pt",
    "mexican spanish": "es",
    "british english": "en",
    "american english": "en",
    "kiswahili": "sw",
    "filipino": "tl",
    "flemish": "nl",
    "bangla": "bn",
    "plain english": "en",
    "simple english": "en",
}
_NAME: Final = "|".join(sorted(_CODES, key=len, reverse=True))
_FOLLOW: Final = (
    r"(?= ?(?:$|[.,;:!?)(\ue000-\ue004]|language\b|only\b|please\b|and\b(?! \w+ (?:lessons|"
    r"history))|but\b|with\b|without\b|using\b|about\b|for\b|to\b(?! english)|that\b|which\b|"
    r"so\b|"
    r"instead\b|exclusively\b|entirely\b|in\b|by\b|from\b|then\b|no\b|or\b|of\b|on\b|at\b|as\b|"
    r"because\b|if\b|here\b|is\b|are\b|should\b|must\b|may\b|can\b|will\b|has\b|throughout\b|where\b|"
    r"who\b|what\b|how\b|why\b|whether\b|alone\b|letters\b|lower|upper|capital|"
    r"all\b|script\b))"
)
_IN: Final = regex.compile(
    r"(?P<lead>\b(?:in|into|using|use|stick to|stay with|nothing but|to|language(?: of (?:the|your) \w+)?"
    r"(?: is| must be| should be)?:?|speak|be|"
    r"only)(?: (?:only|just|entirely|exclusively|completely|fully|proper|standard|"
    rf"solely))*(?: the)?(?: only)?) (?P<name>{_NAME})\b{_FOLLOW}"
    rf"|(?:^|[;,] )(?P<name>{_NAME})(?P<lead> only| please|, please)\b"
    rf"|\b(?P<lead>entirely|only|exclusively) (?P<name>{_NAME})\b{_FOLLOW}"
)
_MADE: Final = regex.compile(
    r"\b(?:ask(?:ing|ed)?|i(?:'m| am)? (?:writ(?:e|ing)|speak(?:ing)?)|words?|names?|terms?|phrases?|songs?|"
    r"books?|film|movie|called|known|written|spoken|sung|published|said|say|mean|means|class|classes|lyrics|"
    r"idioms?|expressions?|literature|sentences?|proverbs?|term|text|texts|lesson|lessons|course|vocabulary|"
    r"fluent|conversation|speaks?|titles?|greetings?|differ|used|translations?|originally|interview|teach|"
    r"learn|novels?|poems? (?:that|which) \w+|sayings?|signs?|letters? that)\s*$"
)
_SHOULD_BE: Final = regex.compile(
    r"\b(?:should|must|has to|have to|needs to|be|to be|is to be|make sure|write it|wholly|all)\b[^.;]{0,40}$"
)
_TRANSLATES: Final = regex.compile(r"\b(?:translate|translation|render)\b")
_EXPLAINS: Final = regex.compile(r"\b(?:explain|why|how|describe|compare|both|versions?|also)\b")
_UPPER: Final = (
    r"(?:all[- ]?caps|(?:all |only |entirely |completely |exclusively |"
    r"just )*(?:in )?(?:all )?(?:capital(?:i[sz]ed)?(?: letters?| case)?|capitals|"
    r"upper ?-?cased?(?: letters?| characters?)?|block (?:capitals|letters))|caps(?: lock)?)"
)
_LOWER: Final = (
    r"(?:all[- ]lower ?-?case|(?:all |only |entirely |completely |exclusively |"
    r"just )*(?:in )?(?:all )?(?:lower ?-?cased?(?: letters?| characters?)?|small letters|minuscules))"
)
_TITLE: Final = r"(?:title case|headline case)"
_CASE: Final = regex.compile(
    r"\b(?P<lead>(?:in|with|using|use|uses|be|be in|to|into|into|is|written in|contain|"
    r"containing|only|all|entirely|keep (?:it|everything)|everything(?: is)?|stick to|make (?:the|"
    r"your) (?:whole|entire|full|complete) \w+|"
    r"are|language,|english,?(?: and)?(?: with)?|and in|and all|and only|it's|remain|make it|"
    r"make everything|only use|english|,|\(|:) ?(?:all |only |entirely |just |exclusively |the |"
    rf"completely )*)(?:(?P<upper>{_UPPER})|(?P<lower>{_LOWER})|"
    rf"(?P<title>{_TITLE}))(?![\w-])(?! (?:words?|headings?|title|names?|cities|letters? (?:for|"
    r"at the start|only (?:for|at))|punishment|gains?|city|investment|expenditure)\b)"
    rf"|^(?:(?P<upper>{_UPPER})|(?P<lower>{_LOWER}))(?= (?:only|please|throughout)|,? please|$|[.,!])"
    r"|\b(?:every letter|letters|words|everything|whole (?:text|response|answer)|entire (?:text|response|"
    r"answer)|all of it|text|response)[^.;]{0,50}?\b(?:be |is |are |"
    r"with all letters )(?:(?P<upper>capitali[sz]ed|upper-?cased?|a capital)|(?P<lower>lower-?cased))"
    r"|\b(?:all letters |every letter |letters )(?:(?P<upper>capitali[sz]ed)|"
    r"(?P<lower>lower-?cased))|\b(?:not a single|no|"
    r"none of the) (?P<lower>letters?\b[^.;]{0,50}?\b(?:is |are |be )?capitali[sz]ed)|"
    r"\b(?P<lower>(?:nothing|no words?|none)\b[^.;]{0,50}? (?:is |are |be )(?:capitali[sz]ed|upper-?cased?|"
    r"in (?:capitals|upper ?case)))|(?:\bnot|"
    r"n't|\bnever|\bwithout|"
    r"\bavoid) (?P<lower>capitali[sz](?:e|ing) (?:anything|any\b(?: letters?| words?)?|letters))|"
    r"\b(?P<upper>capitali[sz]e (?:every letter|all (?:the )?letters|"
    r"everything|your (?:entire|whole) (?:response|answer)))"
)
_NAMES_CASE: Final = regex.compile(r"case|capital|caps\b|small letters|minuscules|block letters")
_PART: Final = regex.compile(
    r"\b(?:title|headings?|headline|first (?:letter|word|line|sentence)|last (?:line|word|"
    r"sentence)|names?|keywords?|each word|every word|key words|acronyms?|some words|words|"
    r"section|subject line|the word|beginning|key points|one word|certain|important|emphasi[sz]e|"
    r"emphasis|highlight|a few|ones)\b[^.;,]{0,12}$|\b(?:entries|items|tags|keys|values|labels), ?(?:all )?$"
    r"|\b(?:head|label|mark|tag|title|precede|introduce)\b[^.;,]{1,60}$"
    r"|^(?:the |a )?(?:title|headline|heading|subject line)\b[^.;:]{0,40}, ?(?:all |in )*$"
)
_ALL_WORDS: Final = regex.compile(
    r"\b(?:all|every|only|entire|whole)(?: of)?(?: the| your)? (?:words?|letters?)\b[^.;]{0,25}$"
)
_SOME_WORDS: Final = regex.compile(r"(?<!all )(?<!all the )(?<!every )\bwords?\b(?:(?! and )[^.;,]){0,30}$")
_PART_AFTER: Final = regex.compile(
    r"^ (?:for|in|at|as) (?:the |each |every |your |all )?(?:\w+ )?(?:titles?|headings?|headlines?|names?|"
    r"first|keywords?|emphasis|acronyms?|key|important|section|start|beginning|subject)"
)
_NOT: Final = regex.compile(
    r"\b(?:not|n't|never|no|nothing(?! but\b)|avoid|refrain|without|don't|rather than|"
    r"instead of)\b(?: \w+){0,5} ?$|n't(?: \w+){0,4} ?$"
)
_EMPHASIS: Final = regex.compile(r" (?:language|only|exclusively|throughout)")
_OTHER_AFTER: Final = regex.compile(rf"^ (?:and|or|as well as) (?:the )?(?:{_NAME})\b")
_OTHER_BEFORE: Final = regex.compile(rf"\b(?:{_NAME}) (?:and|or) (?:in )?$")
_NEW_TEXT: Final = regex.compile(
    r"\b(?:write|compose|create|generate|draft|produce|give|need|want|like|prepare|make|need)(?: (?:me|us))?"
    r" (?:an?|one|some|\w+) (?:[a-z-]+ ){0,2}?(?:texts?|sentences?|poems?|songs?|lyrics|dialogue|"
    r"conversation|greetings?) $"
)
_BEST_OF: Final = regex.compile(
    r"\b(?:name|list|find|identify|recommend|know)\b.* "
    r"the (?:[a-z]{3,}est|most|first|last|only)(?: [a-z]+){1,3} $"
)
"""Words of which a language is a property: "name the longest word in German"."""
_WRITTEN: Final = regex.compile(r"\b(?:written|write)\s*$")
_WHOLLY: Final = regex.compile(r"\b(?:only|entirely|exclusively|completely|solely)\b")
_GIVEN: Final = regex.compile(
    r"\b(?:this|following|that) (?:text|sentence|phrase|word|expression|poem|greeting)\s*$"
)
_HOW_IS: Final = regex.compile(r"\b(?:what|how) (?:is|does|do|are|would|can)\b[^,]*$")
_MARKS: Final = {"exclamation": "!", "question": "?", "full stop": ".", "period": "."}
_REFUSES: Final = regex.compile(
    r"\b(?:why|how|says|if|not|never|n't)\b|\b(?:first|second|last|third|title|paragraph|"
    r"section)\b[^,;]{0,30}$"
)
_EACH_SENTENCE: Final = (
    r"(?:each|every|all|any|your|the)(?: of(?: the| your)?)?(?: your| the)? (?:single )?(?:sentences?|lines?)"
)
_SIGN: Final = (
    r"(?:an? |exactly one |one |a single |at least one |the )?(?:(?P<mark>exclamation|question|full stop|"
    r"period)"
    r"(?: marks?| points?)?|(?P<emoji>emojis?))(?![\w-])"
)
_MARK: Final = rf"(?:with|in|by|on) (?:using )?{_SIGN}"
_END: Final = r"(?:ends?|ending|finish(?:es|ing)?|closes?|closing|terminated?|conclud(?:e|es|ing))"
_EACH_PART: Final = regex.compile(r"\b(?:each|every|all|both|neither|none)\b[^.;:]{0,50}$")
"""Before an end of parts that are no sentences: "questions, each ending with a question mark"."""
_END_MARK: Final = regex.compile(
    rf"\b(?P<each>{_EACH_SENTENCE})\b[^.;]{{0,30}}?\b{_END} {_MARK}|"
    rf"\b{_END} (?P<each>{_EACH_SENTENCE}) {_MARK}"
    rf"|\b(?:put|add|place|use|insert|have|include) {_SIGN} (?:at|to) the end of (?P<each>{_EACH_SENTENCE})"
    rf"|{_SIGN} (?:at|as) the (?:very )?end(?! of (?:each|every|all|the (?!text|answer|response|output)))"
    rf"|\blast character of (?:your|the) (?:\w+ ){{1,2}}(?:must|should|has to) be {_SIGN}"
    rf"|\b{_END}(?: (?:your|the|it|this|everything)(?: (?:entire|whole))?(?: [a-z-]+)?)? {_MARK}"
)
_SEVERAL: Final = regex.compile(r"\b(?:both|(?:first|and)\b.*\bthen|versions?|followed by|as well as|from)\b")


def find_languages(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find the language that a sentence demands."""
    named = list(_IN.finditer(sentence.text))
    matches = [match for match in named if _is_language(sentence, match)]
    if len({_CODES[match["name"]] for match in named}) > 1 and matches and _SEVERAL.search(sentence.text):
        yield Finding(sentence.start + matches[0].start(), sentence.start + matches[-1].end())
        return
    for match in matches:
        fields: Fields = {"check": "language", "code": _CODES[match["name"]]}
        yield Finding(sentence.start + match.start(), sentence.start + match.end(), fields)


def find_letter_case(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find the letter case that a sentence demands of the whole output."""
    if not _NAMES_CASE.search(sentence.text):
        return
    for match in _CASE.finditer(sentence.text):
        before, after = sentence.text[: match.start()], sentence.text[match.end() :]
        place = max(match.start(name) for name in ("upper", "lower", "title"))
        if not (
            is_demanded(sentence, match.start(), match.end()) or is_demanded(sentence, place, match.end())
        ):
            continue
        start, end = sentence.start + match.start(), sentence.start + match.end()
        head = before + (match["lead"] or "")
        style = "upper" if match["upper"] else "lower" if match["lower"] else "title"
        is_part = (_PART.search(head) and not _ALL_WORDS.search(head)) or _PART_AFTER.match(after)
        if _SOME_WORDS.search(head):
            continue
        is_refused = is_part or _NOT.search(head)
        yield Finding(start, end, None if is_refused else {"check": "letter_case", "style": style})


def find_sentence_ends(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find the mark at the end of the output, or of each sentence."""
    for match in _END_MARK.finditer(sentence.text):
        mark = match.start("mark" if match["mark"] else "emoji")
        if _REFUSES.search(sentence.text[: match.end()]) or not is_demanded(sentence, mark, match.end()):
            continue
        use = "end_of_sentences" if match["each"] else "end_of_text"
        start, end = sentence.start + match.start(), sentence.start + match.end()
        if not match["each"] and _EACH_PART.search(sentence.text[: match.start()]):
            yield Finding(start, end)
        elif match["emoji"]:
            yield Finding(start, end, {"check": "emoji", "use": use} if match["each"] else None)
        else:
            yield Finding(start, end, {"check": "punctuation", "mark": _MARKS[match["mark"]], "use": use})


def _is_language(sentence: Sentence, match: regex.Match[str]) -> bool:
    if match["lead"].startswith(("to", "into")):
        return _is_translation(sentence, match)
    if _is_only_mentioned(sentence.text, match):
        return False
    if is_demanded(sentence, match.start(), match.end()):
        return True
    return is_demanded(sentence, match.start("name"), match.end())


def _is_only_mentioned(text: str, match: regex.Match[str]) -> bool:
    """Check for "the word for rain in German", "both in German and English", "not in German"."""
    before, after, lead = text[: match.start()], text[match.end() :], match["lead"].strip()
    if lead == "use" and not _EMPHASIS.match(after) and not before.endswith("only "):
        return True
    if _NOT.search(f"{before}{lead} ") and "no other language" not in text:
        return True
    if _OTHER_AFTER.match(after) or _OTHER_BEFORE.search(before) or _BEST_OF.search(before):
        return True
    if _WHOLLY.search(lead) or "no other language" in text or _GIVEN.search(before):
        return bool(_HOW_IS.search(before))
    is_written = (_SHOULD_BE.search(before) and _WRITTEN.search(before)) or _NEW_TEXT.search(before)
    return bool((_MADE.search(before) and not is_written) or _HOW_IS.search(before))


def _is_translation(sentence: Sentence, match: regex.Match[str]) -> bool:
    before = sentence.text[: match.start()]
    return (
        bool(_TRANSLATES.search(before))
        and not sentence.is_data
        and not _OTHER_AFTER.match(sentence.text[match.end() :])
        and not _EXPLAINS.search(sentence.text)
        and not regex.search(r"\b(?:how|what|why|who|don't|not)\b", before)
    )
