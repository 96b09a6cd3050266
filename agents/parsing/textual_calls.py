"""Finds tool calls that a model wrote as text: they are never made, and never the answer.

A call has the name of a tool where calls have it: in a JSON object with arguments, behind a tag or a special
token for calls, in a Python expression, or behind a label such as "Action:".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from agents.parsing.loose_json import find_containers, load_json, repair_json, unwrap_fence

TELLINGS: Final = 2
"""How often a model is told that it wrote a call as text."""
_TOKEN: Final = re.compile(
    r"""[<\[]+[|｜]?(?:\w+[:_|｜])*?(?:tools?[\s_▁|-]*(?:calls?|use|code|request|name)|function(?:[\s_▁|-]*calls?)?
      |invoke|python_tag|action(?:_start)?|plugin)(?![^\W_])[^<>\[\]\n]*[>\]]
    | <\|channel\|>[^<]*\bto=""",
    re.IGNORECASE | re.VERBOSE,
)
"""A tag or a special token with which models begin a call, such as ``<tool_call>`` or ``[TOOL_CALLS]``."""
_CODE: Final = re.compile(r"```[^`]*+```|`[^`\n]++`")
_FENCED: Final = re.compile(r"```[^\n`]*\n([^`]*+)```")
_ARGUMENTS: Final = re.compile(
    r"arg(?:ument)?s?|param(?:eter)?s?|(?:(?:action|tool)[_ ])?input|kwargs", re.IGNORECASE
)
_LABEL: Final = (
    r"^\W*(?:action|tool|function|call)(?:[ _]name)?\W*[:=]\W*{name}\W*$\s*^\W*(?:{arguments})\w*\W*[:=]"
)


def starts_with_call(text: str) -> bool:
    """Returns whether a reply begins with a tag or a special token for calls."""
    return _TOKEN.match(text.lstrip()) is not None


def find_textual_call(text: str, tools: Collection[str], reported: Collection[str] = ()) -> str | None:
    """Finds a tool call in a reply without thoughts.

    Args:
        text: The reply.
        tools: The names of the tools of the agent. Without any, a reply can only quote a call.
        reported: The names of the tools that were called. Prose may quote their calls, as a report.

    Returns:
        The name of the called tool, or the tag; None if there is no call.
    """
    if not tools:
        return None
    document = unwrap_fence(text)
    values = list(_iter_calls(load_json(document), tools)) or [*_parse_python(document, tools)]
    if found := next(iter(values), None) or _find_token(text, tools) or _find_label(text, tools):
        return found
    others = {name for name in tools if name not in reported}
    return next(_iter_quoted(text, others), None)


def _find_token(text: str, tools: Collection[str]) -> str | None:
    """Finds a tag or a token outside of code, with a call behind it: an object, or the name of a tool."""
    prose = _CODE.sub(lambda code: " " * len(code[0]), text)
    names = "|".join(map(re.escape, tools))
    if start := re.match(rf"\s*<?(?:to=)?(?:functions\.)?({names})>?\s*[{{<]", text):
        return start[1]
    call = re.compile(rf"\W{{0,20}}(?:functions\.)?(?:{names})\b|\s*(?:[<\[|｜]|```)|[^{{}}]{{0,40}}\{{")
    for token in _TOKEN.finditer(prose):
        if {*tools} & {*re.findall(r"[\w-]+", token[0])} or call.match(text, token.end()):
            return token[0]
    return None


def _find_label(text: str, tools: Collection[str]) -> str | None:
    labels = ((name, _LABEL.format(name=re.escape(name), arguments=_ARGUMENTS.pattern)) for name in tools)
    return next(
        (name for name, label in labels if re.search(label, text, re.IGNORECASE | re.MULTILINE)), None
    )


def _iter_quoted(text: str, tools: Collection[str]) -> Iterator[str]:
    """Yields the names of tools that are called in the objects and code blocks of a text."""
    for span in find_containers(text) if tools else ():
        if span is not None:
            written = text[slice(*span)]
            yield from _iter_calls(load_json(written) or repair_json(written), tools)
    for block in _FENCED.finditer(text):
        yield from _parse_python(block[1], tools)
    for line in text.splitlines() if tools else ():
        if line.lstrip().startswith("["):
            yield from _parse_python(line, tools)


def _iter_calls(value: object, tools: Collection[str]) -> Iterator[str]:
    """Yields the names of tools in decoded calls: a name beside arguments, or a name whose value they are."""
    if isinstance(value, list):
        for item in value:
            yield from _iter_calls(item, tools)
    if not isinstance(value, Mapping):
        return
    has_arguments = any(_ARGUMENTS.fullmatch(str(key)) for key in value)
    names = [str(each).removeprefix("functions.") for each in value.values() if isinstance(each, str)]
    yield from (name for name in names if name in tools and has_arguments)
    yield from (key for key, each in value.items() if key in tools and isinstance(each, Mapping))
    for each in value.values():
        yield from _iter_calls(each, tools)


def _parse_python(text: str, tools: Collection[str]) -> list[str]:
    """Reads Python that is nothing but calls of tools, in a list or in ``print``, say."""
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    names = [name for statement in body for name in _read_expression(statement, tools)]
    return [name for name in names if name] if all(names) else []


def _read_expression(node: ast.AST, tools: Collection[str]) -> list[str]:
    """Returns the names of the tools that an expression calls, and an empty name for anything else."""
    match node:
        case ast.Expr(value=value) | ast.Assign(value=value) | ast.Await(value=value):
            return _read_expression(value, tools)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) if parts:
            return [name for part in parts for name in _read_expression(part, tools)]
        case ast.Call(func=ast.Name(id="print"), args=[inner]):
            return _read_expression(inner, tools)
        case ast.Call(func=function):
            path = ast.unparse(function).split(".")
            return [next((part for part in path if part in tools), "")]
    return [""]
