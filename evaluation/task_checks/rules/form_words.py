"""Words of form, layout, style and order, of which a demand is listed if no rule reads it."""

from __future__ import annotations

from typing import Final

import regex

FORM_WORDS: Final = regex.compile(
    r"\b(?:json|csv|tsv|ya?ml|xml|(?:comma|semicolon|tab|space|pipe)[- ]?(?:separated|delimited)|"
    r"(?:separated|divided|delimited) (?:by|with)(?: (?:an? )?(?:two|double|blank|empty)(?: [a-z]+){1,2})?|"
    r"(?:blank|empty|own|separate|one|single) (?:line|paragraph)s?|new lines?(?! of)|any form of|"
    r"(?:key ?-?)?words? \ue000(?=$|[,;)]| (?:and|or|in)\b)|"
    r"as (?:either )?[a-z-]+(?:, [a-z-]+)*,? or [a-z-]+|tables?|columns|rows|keys|fields|bullets?|bulleted|"
    r"bullet ?points?|numbered|(?:an?|in|the|as) lists?|listed|headings?|headers?|headline|sections|"
    r"an? (?:[a-z]+ )?section|titles?|subject(?: line)?|hash ?tags?|emojis?|emoticons?|smileys?|links?|urls?|"
    r"footnotes?|placeholders?|code ?-?blocks?|fenced|docstring|comments|bold|italics?|highlight(?:ed)?|"
    r"underlined?|all caps|in caps|capitals?|uppercase|lowercase|title case|quotation marks|in quotes|"
    r"brackets|p\.? ?s\.|signature|sign (?:it|off|as|the)|alphabetical|chronological|in (?:that|this) order|"
    r"decimal places?|decimals|rounded|haikus?|limericks?|sonnets?|tweets?|acrostics?|couplets?|elfchen|"
    r"rhym(?:e|es|ing)|one-liner|(?:[a-z-]+ )?(?:tone|voice|register)|(?:first|second|third) person|"
    r"(?:present|past|future) tense|(?:active|passive) voice|imperative(?: mood)?|yyyy|mm|"
    r"alliterations?|same (?:first |initial )?(?:letters?|number|length)|initials|"
    r"(?:first|second|third|last|final|opening|closing) (?:words?|letters?|lines?|sentences?|paragraphs?)|"
    r"at the (?:very )?(?:end|start|beginning|top|bottom)|word[- ]for[- ]word|verbatim|as follows|(?:each|"
    r"every) (?:words?|sentences?|lines?|paragraphs?|bullets?|items?|answers?|questions?|of them|one|with|"
    r"having|containing|capitali[sz]ed)|(?:starting|beginning|ending|preceded|followed) (?:with|in|"
    r"by)(?! (?:an? )?(?:asterisk|dash|hyphen|bullet))|(?:only|just|nothing but) (?:the|a|an|with|"
    r"one)\b(?: \w+){1,2}|(?:in|as|using|without|any|no) (?:markdown|plain[- ]text)|"
    r"nothing else|\w+ only(?=$|[,.;:!?)]| please))(?![\w-])"
)
