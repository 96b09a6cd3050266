"""Finds JSON in a text of a model, tells whether it is the own one of the model, and reads it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from pydantic_core import from_json

from agents.parsing.thoughts import (
    has_thought_end,
    remove_marked_thoughts,
    remove_thoughts,
)

BROKEN: Final = "]"
"""Before arguments that are no JSON object, so that LangChain does not complete them; or their only key."""
CONTAINER_LIMIT: Final = 1_000
"""Maximum number of objects and lists that are read from one text."""

_STRINGS: Final = r""" "[^"\\]*+(?:\\.[^"\\]*+)*+" | '[^'\\]*+(?:\\.[^'\\]*+)*+' """
# A bracket opens a list only before a JSON value: prose has brackets, too.
_OPENING: Final = re.compile(r"""\{ | \[(?=\s*+(?: [\[{"'\d] | (?:true|false|null)\b ))""", re.VERBOSE)
_MARK: Final = re.compile(rf"""{_STRINGS} | ["'{{}}\[\]]""", re.VERBOSE | re.DOTALL)
_CLOSING: Final = {"{": "}", "[": "]"}
_JSON_START: Final = re.compile(r"""[\[{]\s*+(?: ["'\[{] | \w++\s*+: )""", re.VERBOSE)
_INTERVAL: Final = re.compile(r"[\[\]]\s*[-+\w.∞]+\s*[,;]\s*[-+\w.∞]+\s*[)\[]")
"""A half-open interval. A value behind the bracket of a list is followed by a comma or by ``]``."""
_TOKEN: Final = re.compile(
    r"""(?P<quote>["'])(?P<content>(?:\\.|(?!(?P=quote))[^\\])*+)(?P<end>(?P=quote)?)
    | (?<![\w-])(?: (?P<key>[^\W\d][\w-]*+(?=\s*+:)) | (?:True|False|None)\b )
    | (?://|\#)[^\n]*+ | ,(?=(?:\s|(?://|\#)[^\n]*+)*+[}\]])""",
    re.DOTALL | re.VERBOSE,
)
"""What other languages spell in another way than JSON. A string without its end reaches to the end."""
_ELLIPSIS: Final = re.compile(r"\.{3}|…")
_LITERALS: Final = {"True": "true", "False": "false", "None": "null"}
_QUOTE: Final = re.compile(r"""\\. | " """, re.DOTALL | re.VERBOSE)
_QUOTES: Final = {"\\'": "'", '"': '\\"'}
_UNESCAPED: Final = re.compile(r"""\\(?:[^"\\/bfnrtu]|u(?![0-9a-fA-F]{4}))""")
"""A backslash that JSON forbids, since it stands for itself."""
_DRIVE: Final = re.compile(r"\b[A-Za-z]:\\(?!\\)")
_SHOWN: Final = (
    rf"(?: {_STRINGS} | -?\d[\d.]*+(?!\w) | \[[^\[\]]*+\] | {{[^{{}}]*+}} | <[^<>]*+>"
    r" | [A-Za-z_][\w.]*+(?:\([^()]*+\))?+ )"
)
"""A value as Python shows it."""
_FIELD: Final = re.compile(rf"([A-Za-z_]\w*+)=({_SHOWN})", re.VERBOSE)
_RECORD: Final = re.compile(
    rf"(?:[A-Za-z_][\w.]*+\()?+ ( \w++={_SHOWN} (?: ,?\s++ \w++={_SHOWN} )*+ ) \)?+", re.VERBOSE
)
_PLAIN: Final = re.compile(r"""["'\[{\d-]|(?:None|True|False)$""")
"""The beginning of a value that JSON has, too."""
_BACKSLASH: Final = re.compile(r'\\["\\]|(\\)')


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
    except ValueError:
        return None


def read_any_spelling(text: str, *, any_case: bool = False) -> object:
    """Reads a JSON document that may be spelled as JavaScript or Python spells it.

    It may have comments, single quotes, keys without quotes, ``True``, a comma after the last value, and
    backslashes that are not escaped. Nothing else is repaired, since that would be a guess.

    Args:
        text: The document.
        any_case: As for ``load_json``; a backslash after a drive of Windows begins a name, too.

    Raises:
        ValueError: It cannot be read, or an object has a key twice; the message says which.
    """
    text = _escape_backslashes(text) if any_case and _DRIVE.search(text) else text
    with suppress(json.JSONDecodeError):
        return _decode(text, any_case=any_case)
    try:
        return _decode(_spell_as_json(text), any_case=any_case)
    except json.JSONDecodeError as error:
        raise ValueError(f"its JSON cannot be read: {error.msg}") from None


def find_json(text: str, *, any_case: bool = False) -> tuple[list[object], str]:
    """Reads a text that is JSON, or else its outermost objects and lists that begin as JSON does.

    Returns:
        The values, and the text around them.

    Raises:
        ValueError: One of them has no end, or cannot be read; the message says which.
    """
    with suppress(ValueError):
        return [read_any_spelling(text, any_case=any_case)], ""
    # The bracket of an interval, such as [0, 1), opens no list.
    plain = _INTERVAL.sub(lambda found: " " * len(found[0]), text)
    spans = [*find_containers(plain)]
    closed = [span for span in spans if span]
    tail = plain[closed[-1][1] if closed else 0 :]
    if None in spans or any(tail.rfind(opening) > tail.rfind(end) for opening, end in _CLOSING.items()):
        raise ValueError("its JSON has no end")
    # Prose has brackets, too.
    written = [span for span in closed if _JSON_START.match(text, span[0])]
    values = [read_any_spelling(text[slice(*span)], any_case=any_case) for span in written]
    starts, ends = [start for start, _ in written], [end for _, end in written]
    prose = (text[slice(*span)] for span in zip([0, *ends], [*starts, len(text)], strict=True))
    return values, "\n".join(prose)


def read_beginning(text: str) -> object:
    """Reads JSON in any spelling that may be cut off. Returns None if it cannot be read.

    A reply that is cut may mean anything: take from it a failure, never an approval.
    """
    # Most texts are JSON as it is, and to respell one takes far longer than to read it.
    with suppress(ValueError):
        return from_json(replace_surrogates(text))
    try:
        return from_json(replace_surrogates(_spell_as_json(text)), allow_partial="trailing-strings")
    except ValueError:
        return None


def read_record(text: str) -> dict[str, object] | None:
    """Reads an object as Python or pydantic shows it: ``Refund(id='7', error=None)``, ``id='7' error=None``.

    Returns:
        Its fields; None for another text.
    """
    if (record := _RECORD.fullmatch(text.strip())) is None:
        return None
    fields = _FIELD.findall(record[1])
    return {name: read_beginning(shown) if _PLAIN.match(shown) else shown for name, shown, *_ in fields}


def _decode(text: str, *, any_case: bool) -> object:
    # Models write line breaks within strings as they are, which strict JSON forbids.
    try:
        return json.loads(text, strict=False, object_pairs_hook=fold_object if any_case else _build_object)
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None


def _spell_as_json(text: str) -> str:
    spelled = _TOKEN.sub(_spell_token, text)
    return _escape_backslashes(spelled) if _UNESCAPED.search(spelled) else spelled


def _spell_token(token: re.Match[str]) -> str:
    if token["quote"]:
        content = _QUOTE.sub(lambda quote: _QUOTES.get(quote[0], quote[0]), token["content"])
        return f'"{content}"' if token["end"] else f'"{content}'
    # Of a comment with an ellipsis, nobody knows what was left out.
    is_needed = token[0][0] in "/#" and _ELLIPSIS.search(token[0])
    return f'"{token[0]}"' if token["key"] else _LITERALS.get(token[0], token[0] if is_needed else "")


def _escape_backslashes(text: str) -> str:
    """Escapes each backslash of a document: who escaped one of them wrongly escaped none.

    A line break may then be the part of a path.
    """
    return _BACKSLASH.sub(lambda match: "\\\\" if match[1] else match[0], text)


def fold_object(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Builds an object whose keys lose outer spaces and become lower case.

    Raises:
        ValueError: A key occurs twice.
    """
    return _build_object([(key.strip().lower(), value) for key, value in pairs])


def _build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"its JSON has the key {twice!r:.80} twice")
    return value


def iter_objects(value: object) -> Iterator[Mapping[str, object]]:
    """Yields each object in a decoded JSON value, also within another one."""
    # Not recursive: a reply may be nested deeper than Python's stack.
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, Mapping):
            yield part
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)


def change_leaves(value: object, change: Callable[[object], object]) -> object:
    """Returns a decoded JSON value in which each value that is no object and no list is changed."""
    if isinstance(value, Mapping):
        return {key: change_leaves(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [change_leaves(each, change) for each in value]
    return change(value)


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
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_WORDS: Final = (
    r"[^\w`]*(?:(?:here|s|is|are|this|that|these|it|only|just|the|my|our|your|an?|of|so|now|very|first"
    r"|initial|rough|quick|you|go|success(?:ful)?|sure|certainly|course|ok(?:ay)?|for|to|in|as|below"
    r"|following|requested|final|complete|finished|done|json|format|object|plan|steps?|list|version|task"
    r"|attempt|v?\d+|answer|reply|evaluation|assessment|judge?ment|verdict|scores?)\b[^\w`]*)*+"
)
"""Words that announce an object or a list, and say nothing about it: any others may take it back."""
_FENCE: Final = re.compile(rf"{_WORDS}```\w*+[ \t]*+\n?(?P<content>.*)```", re.DOTALL | re.IGNORECASE)
_SPELLING: Final = re.compile(r"""[\s"'\\]+""")
_ANNOUNCING: Final = re.compile(rf"{_WORDS}`*", re.IGNORECASE)
_DRAFT: Final = re.compile(
    rf"""{_WORDS}(?: (?:is)?draft | preliminary | tentative | provisional | unfinished | incomplete
      | partial
      | not\ (?:yet\ )?(?:the\ )?(?:final|finished|complete|ready)
      | entwurf | brouillon | borrador | bozza | rascunho | черновик | 草稿 | 草案
      )\b{_WORDS}""",
    re.IGNORECASE | re.VERBOSE,
)
"""A heading, a remark or a value that calls an answer a draft."""
_SENTENCE: Final = re.compile(r"[.!?]\s|\n")
BESIDE: Final = "words beside it may take it back, so that it has to stand alone"


def refuse_words(prose: str, *, is_repeated: bool = False) -> None:
    """Refuses the words around an answer, unless they only announce it: no reader knows what others say.

    Args:
        prose: The words.
        is_repeated: Whether the model was told to write the answer alone: other words are accepted.

    Raises:
        ValueError: They call it a draft, or may take it back.
    """
    refuse_draft(prose)
    if not is_repeated and _ANNOUNCING.fullmatch(prose) is None:
        raise ValueError(BESIDE)


def refuse_draft(prose: str) -> None:
    """Raises a ValueError if a sentence calls an answer a draft."""
    if any(map(_DRAFT.fullmatch, _SENTENCE.split(prose))):
        raise ValueError("it is a draft")


def unwrap_fence(text: str) -> str:
    """Returns the content of a reply that is one code fence, and any other reply as it is.

    A line that only announces the fence, such as "Here is my evaluation:", may come before it.
    """
    fence = _FENCE.fullmatch(text.strip())
    return (fence["content"] if fence else text).strip("\ufeff \t\r\n")


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


def find_broken(text: str) -> str | None:
    """Returns the arguments of a call as they were written, or None if they can be used.

    They can if they are a JSON object without NaN in which no key occurs twice.
    """
    value = load_json(text)
    if not isinstance(value, dict) or not is_finite_json(value):
        return text
    return json.dumps(value[BROKEN], ensure_ascii=False) if BROKEN in value else None


def is_finite_json(value: object) -> bool:
    """Checks that a value has no NaN and no infinity, which the JSON decoder of Python accepts."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True
