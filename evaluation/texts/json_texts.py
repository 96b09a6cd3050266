"""Reads the JSON values in a text: the whole text, or its fenced blocks."""

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


def read_json_values(text: str) -> list[object]:
    """Read ``text`` as one JSON value; if it is none, read its fenced blocks."""
    blocks = (value for block in _FENCED.finditer(text) for value in _parse_block(block))
    return parse_json(text) or list(blocks)


def _parse_block(block: re.Match[str]) -> Iterator[object]:
    if block["inline"]:
        yield from parse_json(block["inline"]) or parse_json(block["inline"].partition(" ")[2])
    else:
        # The first line may name the language of the block.
        yield from parse_json(f"{block['first']}\n{block['body']}") or parse_json(block["body"])


def parse_json(text: str) -> list[object]:
    """Read a text as one JSON value, in a list; returns an empty list if it is none."""
    try:
        value = json.loads(text.strip().lstrip("\ufeff"), parse_constant=_refuse_constant)
        # No reader of JSON Schema takes half a surrogate pair; only an escape or the text itself has one.
        if "\\u" not in text and replace_surrogates(text) == text:
            return [value]
        return [json.loads(replace_surrogates(json.dumps(value, ensure_ascii=False)))]
    except (ValueError, RecursionError):
        return []


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
