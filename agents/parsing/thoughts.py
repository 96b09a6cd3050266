"""Removes the thoughts of a reasoning model from its reply: the one reader for outputs, plans and verdicts.

Thoughts stand between two tags or special tokens, in any place of a reply. Tags within code or quoted JSON,
and tags that a sentence mentions, are a part of the answer.
"""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = r"(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad)"
_NAME: Final = (
    rf"(?:\w+[:_-]|(?-i:[A-Za-z]{{0,20}}[a-z](?=T)))?{_WORD}(?:[_-]\w+|(?-i:(?<=[tkg])[A-Z][A-Za-z]*))?"
)
"""The name of a tag with a word for thinking in it, such as ``inner_thoughts`` or ``antThinking``."""
_LESS, _GREATER = r"(?:<|(?<!<code>)&(?:lt|\#60);|\\u003c)", r"(?:>|&(?:gt|\#62);(?!</code>)|\\u003e)"
"""The brackets of a tag, which a server may have escaped for a page or for JSON."""
_OPENING: Final = r"(?:\w+_)?(?:analysis|commentary|deliberation|brainstorm(?:ing)?|monologue)"
_CHANNEL: Final = r"(?:<\|start\|>\w*)?<\|channel\|>\s*"
_CONSTRAINT: Final = r"(?:<\|constrain\|>[^<]*)?"
_FINAL: Final = rf"(?:{_CHANNEL}|\A\s*)final\b[^<]*{_CONSTRAINT}<\|message\|>"
"""The header of the answer of gpt-oss; nothing before the last one is a part of the answer."""
_BARE: Final = rf"\A\s*(?:analysis|commentary)\s*(?={_CONSTRAINT}<\|message\|>)"
_PAIRS: Final = {
    # At the very beginning, before an answer: other names, and tags in code on lines of their own.
    "opening": (
        rf"\A\s*(?:<{_OPENING}>(?=.*</{_OPENING}>\s*\S)|`+<{_WORD}>`+\s*\n(?=.*\n`+</{_WORD}>`+\s*\n))",
        rf"</{_OPENING}>|`+</{_WORD}>`+(?=\s*\n)",
    ),
    "tag": (
        rf"{_LESS}{_NAME}(?:\s[^<>&\n]*)?{_GREATER}",
        rf"{_LESS}\\?/{_NAME}\s*{_GREATER}",
    ),
    "spaced": (rf"<\s+{_NAME}(?:\s+\w+=[^<>\n]*|\s*)>", rf"<\s*/\s*{_NAME}\s*>"),
    "token": (
        rf"<[|｜](?:start[_▁]|begin[_▁]of[_▁])?{_WORD}[|｜]>|◁{_WORD}▷|<unused94>",
        rf"<[|｜](?:/|end[_▁](?:of[_▁])?){_WORD}[|｜]>|◁/{_WORD}▷|<unused95>",
    ),
    "bracket": (r"\[(?-i:(?:THINK|REASON)(?:ING)?)\]", r"\[/(?-i:(?:THINK|REASON)(?:ING)?)\]"),
    # The channels of gpt-oss, with its special tokens, without the first and without any; those of Gemma.
    "channel": (
        rf"{_CHANNEL}(?:analysis|commentary)\b(?![^<]*\bto=)[^<]*|{_BARE}",
        r"<\|end\|>|(?=<\|start\|>)|(?=(?<!^)<\|channel\|>)",
    ),
    "plain_channel": (r"\A\s*(?:analysis|commentary)(?=.*?assistant(?:final|commentary))", "assistantfinal"),
    "channel_tag": (r"<\|channel>thought\b", r"<channel\|>"),
}
"""How thoughts begin and end."""
_TURN_END: Final = (
    rf"<\|end\|>(?!\s*{_FINAL})|"
    r"<[|｜](?:im_end|return|eo[tms](?:_id)?|end[_▁]?of[_▁]?(?:text|turn|sentence)(?:_token)?)[|｜]>"
    r"|<end_of_turn>|<eos>|(?<!\w)</s>\s*\Z"
)
_HEADER: Final = (
    r"\A\s*<\|message\|>|\A\s*<\|(?:im_start|start)\|>assistant\n?|\A\s*<\|assistant\|>\n?"
    r"|\A\s*<\|start_header_id\|>assistant<\|end_header_id\|>|<\|(?:start|end)_response\|>"
    r"|<\|(?:begin|end)_of_solution\|>"
)
_QUOTED: Final = r"""```[^`]*+``` | `[^`\n]++` | [\[{:,]\s*+"(?:[^"\\]++|\\.)*+" """
_OPEN, _CLOSE = ("|".join(_PAIRS[name][at] for name in ("tag", "token", "bracket")) for at in (0, 1))
_NOUN: Final = r"(?:tags?|tokens?|markers?)\b"
_MENTIONED: Final = (
    rf"(?:\b{_NOUN}[ ])?(?:{_OPEN})[ ](?:\w+[ ]){{0,4}}(?:and|or|und|oder|et|ou|y|o)[ ](?:{_CLOSE})"
    rf"|\b{_NOUN}[ ](?:{_OPEN}|{_CLOSE})+|(?<=\w[ ])(?:{_OPEN})(?=[.,;:)]|[ ]{_NOUN})"
    rf"|(?<=[\"'“])(?:{_OPEN}|{_CLOSE})(?=[\"'”])"
)
"""Tags that a sentence names: beside the word for them, in quotes, or two that it joins."""
_NAMED: Final = rf"(?x:{_QUOTED})|{_MENTIONED}"
_FLAGS: Final = re.IGNORECASE | re.DOTALL
_COMPILED: Final = {
    name: (re.compile(start, _FLAGS), re.compile(end, _FLAGS)) for name, (start, end) in _PAIRS.items()
}
_STARTS: Final = [f"(?P<{name}>{start})" for name, (start, _) in _PAIRS.items()]
_MARK: Final = re.compile(
    rf"{_STARTS[0]}|(?P<text>{_NAMED})|(?P<final>{_FINAL})|(?P<header>{_HEADER})|(?P<turn_end>{_TURN_END})"
    rf"|{'|'.join(_STARTS[1:])}",
    _FLAGS,
)
_END: Final = re.compile(_CLOSE, _FLAGS)
_DATA: Final = re.compile(r"""\s*(?:\{|```|\[\s*(?:["'{\[\d]|\Z)|"[^"]*"?\s*\Z)""")
_TEXT: Final = re.compile(_NAMED, _FLAGS)


def remove_thoughts(text: str) -> str:
    """Returns a reply without thoughts and special tokens; everything is thoughts if they never end."""
    answer = text[len(find_unmarked_thoughts(text)) :].lstrip()
    closing = _END.match(answer)
    return remove_marked_thoughts(answer[closing.end() :] if closing else answer)


def find_unmarked_thoughts(text: str) -> str:
    """Returns the thoughts before a lone closing tag: some servers strip the opening one. Empty if none."""
    start = _find_start(text, 0)
    head = _TEXT.sub(lambda named: " " * len(named[0]), text[: start.start()] if start else text)
    thoughts = text[: max((closing.start() for closing in _END.finditer(head)), default=0)]
    return "" if _DATA.match(text) else thoughts


def remove_marked_thoughts(text: str) -> str:
    """Removes thoughts that begin with an opening tag. A lone closing tag may be quoted, and ends none."""
    kept, position = list[str](), 0
    while (start := _find_start(text, position)) is not None:
        kept.append(text[position : start.start()])
        if start.lastgroup == "final":
            kept.clear()
        position = _find_end(text, start)
    return "".join([*kept, text[position:]]).strip()


def has_thought_end(text: str) -> bool:
    """Returns whether a text contains a tag that ends thoughts."""
    return _END.search(text) is not None


def _find_start(text: str, position: int) -> re.Match[str] | None:
    marks = _MARK.finditer(text, position)
    return next((mark for mark in marks if mark.lastgroup != "text"), None)


def _find_end(text: str, mark: re.Match[str]) -> int:
    """Finds the end of the part that a mark begins: of thoughts, also of nested ones, or of the reply."""
    if mark.lastgroup in ("final", "header"):
        return mark.end()
    start, end = _COMPILED.get(str(mark.lastgroup), (None, None))
    closing = end.search(text, mark.end()) if end else None
    if start is None or end is None or closing is None:
        return len(text)
    for _ in start.finditer(text, mark.end(), closing.start()):
        following = end.search(text, closing.end())
        if following is None or start.search(text, closing.end(), following.start()):
            break
        closing = following
    return closing.end()
