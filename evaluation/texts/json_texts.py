"""Reads the JSON values in a text: the whole text, its fenced blocks, the objects in its prose."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NoReturn

from agents.parsing.loose_json import replace_surrogates

_FENCED: Final = re.compile(
    r"(?<!`)`{3,}+(?P<inline>[^`\n]+)`{3,}+"
    r"|(?<![`~])(?P<mark>`{3,}+|~{3,}+)(?P<first>[^`\n]*)\n"
    r"(?P<body>.*?)(?:^[ \t>]*(?P=mark)|(?P=mark)[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
"""Matches a fenced block (CommonMark). It may also begin and end within a line, as models write it."""
_OBJECT: Final = re.compile(r'\{(?=\s*")')
MAX_OBJECTS: Final = 1_000
"""Most places in prose at which an object may begin: half a second at worst."""


def read_json_values(text: str) -> list[object]:
    """Read ``text`` as one JSON value; if it is none, read its fenced blocks.

    A value that has a key twice is listed as both kinds of reader see it: with the first and with the last.
    """
    blocks = (value for block in _FENCED.finditer(text) for value in _parse_block(block))
    return parse_json(text) or list(blocks)


def read_json_in_prose(text: str) -> list[object] | None:
    """Read the JSON objects in the prose of a text that is not JSON itself; None if they may be too many."""
    values: list[object] = []
    end = len(text) if parse_json(text) else 0
    for count, start in enumerate(_OBJECT.finditer(text, end)):
        if count == MAX_OBJECTS:
            return None
        if start.start() >= end:
            end = _find_end(text, start.start())
            values += parse_json(text[start.start() : end])
    return values


def _find_end(text: str, start: int) -> int:
    """Find the end of the JSON value that begins at ``start``; returns ``start`` if there is none."""
    try:
        return _DECODER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return start


_DECODER: Final = json.JSONDecoder()


def _parse_block(block: re.Match[str]) -> Iterator[object]:
    if block["inline"]:
        yield from parse_json(block["inline"]) or parse_json(block["inline"].partition(" ")[2])
    else:
        # The first line may name the language of the block.
        yield from parse_json(f"{block['first']}\n{block['body']}") or parse_json(block["body"])


def parse_json(text: str) -> list[object]:
    """Read a text as one JSON value; returns none, or both readings of one that has a key twice."""
    bare = text.strip().lstrip("\ufeff")
    try:
        last, first = (
            json.loads(bare, parse_constant=_refuse_constant, object_pairs_hook=hook)
            for hook in (dict, _keep_first)
        )
        values = [last] if last == first else [last, first]
        # Half a surrogate pair, which a file cannot hold, must not hide forbidden JSON.
        return [json.loads(replace_surrogates(json.dumps(value, ensure_ascii=False))) for value in values]
    except (ValueError, RecursionError):
        return []


def _keep_first(pairs: list[tuple[str, object]]) -> dict[str, object]:
    return dict(reversed(pairs))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
