"""Finds the JSON objects of a model's reply, and checks whether they are the model's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agents.parsing.loose_json import find_containers

_THOUGHT_START: Final = re.compile(r"\s*<think(?:ing)?\b", re.IGNORECASE)
_THOUGHT_END: Final = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
# Only words that announce an object: any other sentence may refuse what the fence quotes.
_FENCE: Final = re.compile(
    r"""(?: (?:sure|certainly|okay|ok|of\ course)\b[,.!:]?\s*+ )?
    (?: (?:here\ is|here's|this\ is|below\ is)\s++ )?
    (?: (?:my|the|your|final|requested)\s++ )*+
    (?: (?:json|object|answer|reply|evaluation|assessment|judge?ment|verdict|scores?)\b\s*+ )*+
    (?: (?:in|as)\ (?:a\ )?json(?:\ (?:object|format))?\s*+ )? :?\s*+
    ```\w*+[ \t]*+\n?(?P<content>.*)```""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_SPELLING: Final = re.compile(r"""[\s"'\\]+""")


def find_objects(text: str, sign: re.Pattern[str]) -> tuple[list[str], str] | None:
    """Finds the outermost objects and lists in which ``sign`` matches.

    A lone end of thoughts may be a quotation, so objects before it are found as well.

    Returns:
        The objects, and the text around them without thoughts; None if an object is cut off.
    """
    document = remove_marked_thoughts(text)
    written, rest, position = [], [], len(find_unmarked_thoughts(document))
    for span in find_containers(document):
        if span is None:
            return None
        if sign.search(document, *span):
            written.append(document[slice(*span)])
            rest.append(document[position : span[0]])
            position = max(position, span[1])
    return written, "\n".join([*rest, document[position:]])


def remove_thoughts(text: str) -> str:
    """Removes the thoughts that a reasoning model writes before its answer; everything if they never end."""
    if _THOUGHT_START.match(text):
        return remove_marked_thoughts(text)
    thoughts = find_unmarked_thoughts(text)
    answer = text[len(thoughts) :]
    return (_THOUGHT_END.sub("", answer, count=1) if thoughts else answer).strip()


def find_unmarked_thoughts(text: str) -> str:
    """Returns the thoughts before a lone closing tag: some servers strip the opening one. Empty if none."""
    closing = list(_THOUGHT_END.finditer(text))
    if not closing or _THOUGHT_START.match(text) or text.lstrip()[:1] in ("{", "[", "`", '"'):
        return ""
    thoughts = text[: closing[-1].start()]
    return "" if "<think" in thoughts.lower() else thoughts


def remove_marked_thoughts(text: str) -> str:
    """Removes thoughts that begin with an opening tag. A lone closing tag may be quoted, and ends none."""
    if not _THOUGHT_START.match(text):
        return text.strip()
    closing = _THOUGHT_END.search(text)
    return text[closing.end() :].strip() if closing else ""


def unwrap_fence(text: str) -> str:
    """Returns the content of a reply that is one code fence, and any other reply as it is.

    A line that only announces the fence, such as "Here is my evaluation:", may come before it.
    """
    fence = _FENCE.fullmatch(text.strip())
    return fence["content"].strip() if fence else text.strip()


def is_one_object(document: str) -> bool:
    """Checks whether a text is one object from its first to its last character."""
    return document.startswith("{") and next(find_containers(document)) == (0, len(document))


def find_document(text: str, shown: Sequence[str] = ()) -> str:
    """Returns a reply without its thoughts and without the code fence that it may be in.

    Args:
        text: The reply.
        shown: The texts that the model was shown. A closing tag of thoughts that one of them contains may be
            quoted, so it ends no thoughts without an opening tag.
    """
    is_shown = any(_THOUGHT_END.search(part) for part in shown)
    return unwrap_fence(remove_marked_thoughts(text) if is_shown else remove_thoughts(text))


def is_quoted(written: str, texts: Sequence[str]) -> bool:
    """Checks whether one of the texts contains ``written``, ignoring spaces, quotes and case."""
    spelled = _normalize(written)
    return any(spelled in _normalize(text) for text in texts)


def _normalize(text: str) -> str:
    return _SPELLING.sub("", text).casefold()
