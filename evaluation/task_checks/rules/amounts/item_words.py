"""Words of numbers of items: nouns that are counted, nouns that are not, and the orders before them."""

from __future__ import annotations

from typing import Final

import regex

from evaluation.task_checks.language.words import EXPLAINING, PRODUCING, REQUIRING
from evaluation.task_checks.quantities import NUMBER

_WORDED: Final = (
    r"activities|advantages|analogies|anagrams|angles|antonyms|arguments|aspects|benefits|causes|"
    r"challenges|characteristics|clues|compliments|consequences|differences|disadvantages|downsides|drawbacks|"
    r"examples|excuses|exercises|facts|factors|features|gifts|goals|habits|hacks|headlines|hints|hobbies|"
    r"icebreakers|ideas|idioms|insights|insults|items|jokes|lessons|limitations|metaphors|methods|"
    r"misconceptions|mistakes|mottos|myths|names|nicknames|objections|observations|opinions|options|"
    r"possibilities|predictions|principles|problems|pros|cons|prompts|proverbs|puns|questions|quotes|reasons|"
    r"recommendations|resolutions|resources|riddles|risks|rules|sayings|similes|skills|slogans|solutions|"
    r"strategies|strengths|suggestions|symptoms|synonyms|taglines|techniques|themes|theories|things|tips|"
    r"titles|tongue[- ]twisters|topics|traditions|traits|tricks|usernames|uses|values|ways|weaknesses|wishes|"
    r"criteria|hypotheses|tipps|fragen|ideen|witze|fakten|gründe|vorschläge|namen|zitate|rätsel|vorteile|nachteile|"
    r"argumente|titel|synonyme|beispiele|überschriften"
)
_OTHER: Final = (
    r"(?:words?|sentence|line|paragraph|stanza|verse|character|letter|char|syllable|page|bullet|point|"
    r"section|part|chapter|act|scene|heading|header|column|row|cell|field|key|slide|screen|chart|graph|"
    r"image|picture|photo|diagram|table|list|link|url|emoji|hash-?tag|placeholder|comma|mark|digit|number|date|"
    r"code|block|file|class|classe|function|test|script|program|quer|endpoint|app|website|page|site|second|"
    r"minute|min|hour|day|week|month|year|decade|centur|euro|dollar|pound|percent|degree|time|person|kid|child|"
    r"adult|guest|mile|meter|gram|cup|stor|poem|limerick|haiku|sonnet|essay|article|version|variant|variation|"
    r"draft|description|email|e-mail|message|memo|song|lyric|speech|speeche|dialogue|conversation|recipe|"
    r"review|summar|response|answer|repl|post|tweet|blog|plan|report|couplet|acrostic|rap|note|text|"
    r"explanation|translation|profile|biograph|bio|ad|advert|advertisement|letter|outline|scenario|monologue|"
    r"tale|fable|legend|blurb|toast|prayer|eulog|sketche|skit|entr|routine|workout|menu|itinerar|guide|stud|quizze|"
    r"paraphrase|elaboration|definition|set|pair|group|round|half|halve)(?:s|es|ies)?"
)
"""What another rule counts, measures, and texts of several lines."""
_STOP: Final = (
    r"(?:and|or|but|in|to|of|with|for|on|about|that|which|who|why|when|where|how|what|my|the|an?|by|at|from|as|"
    r"is|are|was|were|has|had|have|not|you|i|we|it|they|can|should|must|will|please|using|each|per|without|if|"
    r"so|there|this|these|his|her|our|your|under|below|between|into|than|related|based|including|starting|"
    r"beginning|ending|containing|against|around|only|max|min|because|like|such|during|after|before|regarding|"
    r"mir|mich|für|zum|zur|über|aus|von|im|am|warum|wie|gegen|beim|bei|auf)\b"
)
PHRASE: Final = regex.compile(
    rf" (?P<words>(?:(?!{_STOP})[\p{{L}}'-]+ ){{0,4}}?(?!{_STOP})[\p{{L}}'-]+)(?= {_STOP}|$|[.,;:!?()\n]| - )"
)
"""What is counted, up to a word that starts something else."""
PLURAL: Final = regex.compile(rf"(?:.* )?(?!{_OTHER}$)(?:[a-z'-]{{2,}}(?<![sui])s|{_WORDED})")
WORDED: Final = regex.compile(rf"(?:.* )?(?:{_WORDED})")
"""Things to be read: who needs or makes some of them wants nothing else."""
GAP: Final = regex.compile(
    r" ?(?:(?:me|us|please|just|only|also|now|out|down|up|with|another|a|short|simple|quick|brief|random|"
    r"(?:numbered |bulleted )?list of|the (?:names|titles) of|"
    r"collection of|set of|(?:for|to) (?:me|us)|some|the(?= top| best)|"
    r"top|best|of(?= the top)|to (?:get|have|see|read)) ?){0,6}"
)
"""Words between an order and the number of items."""
ASKS: Final = regex.compile(
    r"\b(?:list|name|suggest|recommend|brainstorm|come up with|think of|propose|gimme|invent|hallucinate|"
    r"(?:give|show|get|tell|hand|send|provide) (?:me|us)(?: with)?)(?: (?:down|of))?$"
)
"""Orders of which any object is to be read."""
PERSON: Final = regex.compile(r" (?:me|us)\b(?: with)?")
TELLS: Final = regex.compile(
    r"(?:.*\b(?:can|could|would|will) you |.*\bplease |.*[,:] )?(?:tell|teach) (?:me|us) "
)
FRAGMENT: Final = regex.compile(r"(?:(?:just|only|quick|please|top|hi|hey|ok|and|also|maybe)[ ,:-]*){0,3}")
FRAGMENT_END: Final = regex.compile(
    r",? (?:why|warum|to|for|about|on|of|not to|against|please)\b|[.,:;]? ?$| - |, "
)
HAPPENED: Final = regex.compile(
    r"^(?! (?:why|warum|how)\b)[^.]*\b(?:is|are|was|were|has|had|have|did|\w{2,}ed|won|wrote|made|got|"
    r"came|went|took|gave|told|sent|began|became|kept|felt|left|i|we|he|she|they)\b"
    r"|\b(?:is|are|was|were) (?:given|named|listed|\w+ed)$"
)
"""A statement about the things: "two jokes about lawyers got me fired"."""
GOES_ON: Final = regex.compile(
    rf"^ (?:each|apiece|respectively)\b|^ ?(?:,? (?:and|or|plus)|[&/]) ?(?!(?:(?:then|also|please|briefly) )*"
    rf"(?:{PRODUCING}|{EXPLAINING}|{REQUIRING}|no|nothing|only)\b)"
    rf"|^, {NUMBER} (?!words|sentences|lines|characters|letters|of\b)"
    r"|^ of (?:them|these|those|the|this|that|my|our|your|his|her|their|its|which)\b"
    r"(?! (?:world|best|most|largest))"
    r"|^ (?:in|from|within|into|as|using) (?:the|this|that|my|our|your|an?|one|two|these|those) (?:[a-z-]+ )?"
    r"(?:essay|story|text|article|poem|letter|speech|report|passage|paragraph|sentence|line|table|song|"
    r"e-?mail|list|post|code|data|document|file|haiku|limerick|string|row)s?\b"
)
"""After things that are only some, or not all that is demanded: "pros and cons", "reasons in the essay"."""
DISTRIBUTED: Final = regex.compile(
    r"\b(?:for|on|about|in|from|of|to|with|at) (?:each|every|both)\b(?! (?:of them|one|of these|of those|"
    r"item|entry|line|word|sentence)\b|[.,;:]| ?$)|\bper (?!line\b|item\b|row\b|entry\b)[a-z]+|"
    r"\brespectively\b"
)
OTHER_FORM: Final = regex.compile(
    r"\b(?:comma[- ]|(?:by|with) (?:a )?(?:commas?|semicolons?)|separated|delimited|csv|xml|ya?ml|html|"
    r"(?<!each )in (?:a|one|a single) (?:line|row|sentence|block)|array|python|javascript|prose|essay|story|"
    r"poem|paragraphs?|tables?|columns?|rows?|(?:no|without) (?:lists?|line breaks)|running text|dialogue|"
    r"groups?|categor(?:y|ies)|grouped|sections?|slides?|regex|sql|script|function|code|single line|"
    r"(?:one|a) line(?! (?:each|per|for)))\b"
)
"""Words of an output in which the items stand in no lines of their own, or beside something else."""
OTHER_ORDER: Final = regex.compile(
    rf"(?:^|[.!?\n:;,] ?|\b(?:and|then|also|please|finally|you) )(?:{PRODUCING}|{EXPLAINING}|"
    r"include|add|start|begin|end|finish|conclude|close)\b(?! (?:sure|not)\b)"
)
OF_ITEMS: Final = regex.compile(
    r" (?:(?:me|us|with|briefly|shortly|in|by|an?|one|the|short|brief|quick|its|their|also|just|only) )*"
    r"(?:each|every|them|these|those|it|its|their|why|how|what|which|explanations?|reasons?|descriptions?|"
    r"words?|sentences?|nothing|everything|as|using|with|exactly|at|\ue000|\d+|item)\b"
)
"""The object of an order that says more about the items."""
