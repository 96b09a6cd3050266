"""Words that say whether a sentence asks for something, and for what."""

from __future__ import annotations

from typing import Final

EXPLAINING: Final = (
    r"explain|describe|discuss|debug|dissect|reconstruct|diagnose|troubleshoot|define|compare|analy[sz]e|summari[sz]e|translate|correct|critique|"
    r"proofread|fix|"
    r"identify|count|find|check|evaluate|teach|outline|elaborate|review|convert|rewrite|re-write|rephrase|"
    r"paraphrase|reword|edit|shorten|expand|continue|interpret|classify|contrast|examine|assess|help|show|"
    r"illustrate|clarify|read|consider|improve|simplify|argue|demonstrate|solve|debate|explore|"
    r"turn(?! (?:it|this|that|them|these|those) into)|change|"
    r"transform|polish|condense|finish the|tell (?:me|us|him|her|them|about)"
    r"(?! (?:an?|another|one) (?:[a-z-]+ ){0,3}?(?:story|tale|joke|fable|poem|riddle)\b)|judge|grade|rate|"
    r"study|investigate|sum (?:it |this |that |them )?up|recap|recount|narrate|restate|lay out|set out|"
    r"sketch|walk (?:me|us)|talk|prove|trace|report on|speculate|reflect|comment|react|guess|"
    r"predict|calculate|compute|"
    r"determine|estimate|justify|reformulate|adapt|modify|work out|figure out|announce|advertise|introduce|"
    r"praise|persuade|convince|promote|warn|defend|recite|retell|unpack|break down|go (?:over|through)|"
    r"tidy(?: up)?|clean up|brush up|touch up|spruce up|tighten|streamline|refine|revise|"
    r"apologi[sz]e|thank|invite|weigh|relate|ask|remind|encourage|advise|present"
)
"""Verbs of which the object is there already: "Explain what a haiku is"."""
PRODUCING: Final = (
    r"write|compose|create|generate|make|give|draft|produce|craft|come up with|provide|prepare|"
    r"design|develop|"
    r"brainstorm|invent|construct|build|say|tell|sing|list|name|suggest|recommend|plan|propose|"
    r"imagine|formulate|"
    r"return|output|print|respond|reply|answer|send|hallucinate|pitch|pen|jot down|put together|"
    r"whip up|conjure|dream up|think of|author|compile|do|share|offer|"
    r"supply|deliver|script|implement|code|show me|get me|gimme|dash off|churn out|cook up|hand me|"
    r"type(?: up)?|turn (?:it|this|that|them|these|"
    r"those) into|start a|open a"
)
"""Verbs of which the object is the output: "Write a haiku"."""
REQUIRING: Final = (
    r"use|include|contain|add|mention|insert|incorporate|feature|keep|limit|restrict|make sure|"
    r"ensure|be sure|start|"
    r"begin|open|end|finish|conclude|close|wrap|enclose|surround|put|place|separate|divide|split|"
    r"break|highlight|"
    r"italici[sz]e|bold|bolden|emphasi[sz]e|underline|mark|label|capitali[sz]e|format|structure|"
    r"organi[sz]e|stick|"
    r"stay|avoid|refrain|exclude|omit|skip|leave|do not|don't|dont|never|have|aim|employ|repeat|copy|"
    r"append|number|"
    r"follow|choose|pick|select|let|remember|try|cap|be|do|go|drop|work in|title|quote|cite|"
    r"surround|set|stop|present|arrange|display|tack on|throw in|slip in|toss in|squeeze in|attach|round off|"
    r"confine|hold|trim|italici[sz]e|star|encase|frame|preface|precede|follow up|top off|sign off|steer|"
    r"uppercase|lowercase|refer|weave|stress|hit|reach|strive|sprinkle|"
    r"spell|space|phrase|express|respect|observe|cover|touch on"
)
"""Verbs that state a property of the output: "Include the word"."""
REWORKING: Final = (
    r"debug|translate|summari[sz]e|rewrite|re-write|rephrase|paraphrase|proofread|correct|edit|fix|"
    r"improve|critique|classify|"
    r"tidy(?: up)?|clean up|brush up|touch up|spruce up|tighten|streamline|refine|revise|"
    r"convert|shorten|expand|polish|review|reword|simplify|condense|analy[sz]e|evaluate|grade|check|interpret"
)
"""Those of the explaining verbs that need a text to work on."""
ARTIFACT: Final = (
    r"(?:functions?|scripts?|programs?|regex|regular expressions?|query|queries|unit tests?|"
    r"prompts?|web ?pages?|websites?|"
    r"(?:web |mobile )?apps?|apis?|algorithms?|macros?|validators?|class (?:that|with|which)|html page)"
)
"""Outputs that are no prose: what they have or check says nothing of the words of the output."""
TEXT: Final = (
    r"(?:response|answer|reply|output|text|result|letter|poem|essay|story|message|summary|list|e-?mail|"
    r"post|speech|"
    r"article|review|description|slogan|blurb|caption|announcement|invitation|note|card|ad|advert|leaflet|"
    r"memo|"
    r"abstract|verse|song|toast|tweet)"
)
"""Outputs that are prose."""
TEXTS: Final = rf"(?:{TEXT}(?:e?s)?|stories|replies|summaries)"
"""One or several of them."""
_CLOSED: Final = (
    r"who|what|when|where|why|how|which|whose|whom|if|because|since|although|though|while|once|after|"
    r"before|until|"
    r"unless|as|so|yet|but|and|or|nor|for|with|without|from|into|onto|over|under|about|around|between|"
    r"among|during|"
    r"through|throughout|at|by|to|of|off|up|down|in|on|out|not|no|yes|ok|okay|maybe|perhaps|today|yesterday|"
    r"tomorrow|tonight|here|there|then|now|also|again|still|even|just|only|both|either|neither|each|every|"
    r"all|any|"
    r"some|many|most|few|more|less|much|several|other|another|such|same|this|that|these|those|the|an?|my|"
    r"your|his|"
    r"her|its|our|their|i|you|he|she|we|they|it|me|us|them|him|is|are|was|were|be|been|am|do|does|did|has|"
    r"have|had|"
    r"can|could|may|might|must|shall|should|will|would|hi|hello|hey|dear|thank|given|despite|except|like|"
    r"unlike|"
    r"than|per|via|plus|minus|people|children|men|women|everyone|someone|nobody|nothing|everything|something|"
    r"anyone|never|always|often|later|suppose|imagine|said|told|made|took|gave|saw|found|sent|lost|began|"
    r"kept|"
    r"brought|bought|felt|wrote|won|got|came|went|love|hate|want|need|wish|think|guess|know"
)
UNKNOWN_ORDER: Final = (
    rf"(?!(?:{_CLOSED})\b)\p{{Ll}}{{3,}}(?<!s|ed|ing|ly)(?= (?:the|an?|my|our|your|this|these|those|"
    rf"that|me|us|"
    rf"it|them|"
    r"him|her|its|their|everything)\b)"
)
"""A word before an article or pronoun that starts a sentence as only an order does: "Boil the novel down"."""
MARKDOWN: Final = (
    r"markdowns?(?:[- ](?:format(?:ting|ted)?|syntax|styling|style|mark-?up|language|elements?|symbols?|"
    r"characters?|marks?))?"
)
FORMATTING: Final = rf"(?:{MARKDOWN}|(?:text )?formatting(?: (?:marks?|symbols?|characters?|codes?|syntax))?)"
ALONE: Final = (
    r"(?=$|[.,;:!?)/\n]| (?:please|pls|thanks|at all|of any|whatsoever|anywhere|ever|in|within|inside|to|and|"
    r"or|nor|but|either|just|only|here|is|are|be|should|must|may|allowed|permitted|wanted|used|for|"
    r"when)\b| -)"
)
"""Words after a thing that is not the first half of another one: "no markdown files"."""
