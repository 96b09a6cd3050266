"""Finds JSON in a model's text, tells whether it is the model's own, and reads or repairs it.

``repair_json`` guesses, and its guess may be wrong: never take an approval from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import json_repair

from agents.parsing.thoughts import (
    find_unmarked_thoughts,
    has_thought_end,
    remove_marked_thoughts,
    remove_thoughts,
)

REPAIR_LIMIT: Final = 4_000
"""Maximum length of a document to repair, in characters: the time grows with the square of the length."""

CONTAINER_LIMIT: Final = 1_000
"""Maximum number of objects and lists that are read from one text."""

_STRINGS: Final = r""" "[^"\\]*+(?:\\.[^"\\]*+)*+" | '[^'\\]*+(?:\\.[^'\\]*+)*+' """
# A bracket opens a list only before a JSON value: prose has brackets, too.
_OPENING: Final = re.compile(r"""\{ | \[(?=\s*+(?: [\[{"'\d] | (?:true|false|null)\b ))""", re.VERBOSE)
_MARK: Final = re.compile(rf"""{_STRINGS} | ["'{{}}\[\]]""", re.VERBOSE | re.DOTALL)
_CLOSING: Final = {"{": "}", "[": "]"}


def find_containers(text: str) -> Iterator[tuple[int, int] | None]:
    """Finds the start and the end of each outermost object and list, in linear time.

    The last item is None if a container is cut off or closed with the wrong bracket, or if there are more
    than ``CONTAINER_LIMIT``.
    """
    opening = _OPENING.search(text)
    for _ in range(CONTAINER_LIMIT):
        if opening is None:
            return
        end = _find_end(text, opening.start())
        if end is None:
            break
        yield opening.start(), end
        opening = _OPENING.search(text, end)
    yield None


def _find_end(text: str, start: int) -> int | None:
    expected: list[str] = []
    for token in _MARK.finditer(text, start):
        mark = token.group()
        if mark in _CLOSING:
            expected.append(_CLOSING[mark])
        elif len(mark) == 1 and mark != expected.pop():
            return None
        if not expected:
            return token.end()
    return None


def load_json(text: str, *, any_case: bool = False) -> object:
    """Reads a JSON document. Returns None if it is not JSON, or if an object has a key twice.

    Args:
        text: The document.
        any_case: Keys lose outer spaces and become lower case, since models vary both.
    """
    try:
        return _decode(text, any_case=any_case)
    except (ValueError, RecursionError):
        return None


def load_or_repair(text: str) -> tuple[object, bool]:
    """Reads a JSON document, and guesses the value of one that is not quite JSON.

    Returns:
        The value, and whether it is a guess. The value is None if there is none, or if a key occurs twice.
    """
    try:
        return _decode(text), False
    except _KeyTwiceError:
        return None, False
    except (ValueError, RecursionError):
        return repair_json(text, strict=True), True


class _KeyTwiceError(ValueError):
    """An object has a key twice, so that no one can say which value was meant."""


def _decode(text: str, *, any_case: bool = False) -> object:
    # Models write line breaks within strings as they are, which strict JSON forbids.
    return json.loads(text, strict=False, object_pairs_hook=fold_object if any_case else _build_object)


def fold_object(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Builds an object whose keys lose outer spaces and become lower case.

    Raises:
        ValueError: A key occurs twice.
    """
    return _build_object([(key.strip().lower(), value) for key, value in pairs])


def _build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _KeyTwiceError
    return value


def repair_json(text: str, *, strict: bool = False) -> object:
    """Guesses the value of a broken document.

    Args:
        text: At most ``REPAIR_LIMIT`` characters are repaired.
        strict: Refuse a document with several values, of which the guess drops some.

    Returns:
        The value; None if there is none or the document is too long.
    """
    if len(text) > REPAIR_LIMIT:
        return None
    try:
        return json_repair.loads(text, strict=strict)
    except Exception:  # noqa: BLE001 - json_repair also fails with its own assertions
        return None


def read_boolean(value: object) -> bool | None:
    """Reads a boolean, or the word "true" or "false". Returns None for anything else."""
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def replace_surrogates(text: str) -> str:
    """Replaces each lone surrogate with U+FFFD: half of a pair, which no request and no file can carry.

    A model writes one if it cuts an emoji in two; a file name that is not UTF-8 decodes to them.
    """
    # UTF-16 joins two halves that stand side by side, which UTF-8 would replace one by one.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


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
    is_shown = any(map(has_thought_end, shown))
    return unwrap_fence(remove_marked_thoughts(text) if is_shown else remove_thoughts(text))


def is_quoted(written: str, texts: Sequence[str]) -> bool:
    """Checks whether one of the texts contains ``written``, ignoring spaces, quotes and case."""
    spelled = _normalize(written)
    return any(spelled in _normalize(text) for text in texts)


def _normalize(text: str) -> str:
    return _SPELLING.sub("", text).casefold()
