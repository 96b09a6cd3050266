"""Finds tool calls that a model wrote as text: they are never made, and never the answer.

A call is the name of a tool with its arguments: in a JSON object, behind a tag or a special token for calls,
or in any other spelling in which the arguments can be read as those of the tool. Such a spelling has to be
the first or the last line of the reply, or a code block, since an answer may explain a call to a person.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final, TypeAlias

from agents.parsing.loose_json import find_containers, load_json, read_beginning, unwrap_fence

TELLINGS: Final = 2
"""How often a model is told that it wrote a call as text."""
Parameters: TypeAlias = Mapping[str, Collection[str]]
"""The names of the parameters of each tool, by the name of the tool."""
_TOKEN: Final = re.compile(
    r"""[<\[]+[|｜]?(?:\w+[:_|｜])*?(?:tools?[\s_▁|-]*(?:calls?|use|code|request|name)|function(?:[\s_▁|-]*calls?)?
      |invoke|python_tag|action(?:_start)?|plugin)(?![^\W_])[^<>\[\]\n]*[>\]]
    | <tool> | <\|channel\|>[^<]*\bto=""",
    re.IGNORECASE | re.VERBOSE,
)
"""A tag or a special token with which models begin a call, such as ``<tool_call>`` or ``[TOOL_CALLS]``."""
_CODE: Final = re.compile(r"```[^`]*+```|`[^`\n]++`")
_FENCED: Final = re.compile(r"```[^\n`]*\n((?:[^`]|`(?!``))*+)```")
_ARGUMENTS: Final = re.compile(
    r"(?:(?:action|tool|function)[_ ])?(?:arg(?:ument)?s?|param(?:eter)?s?|input|kwargs)", re.IGNORECASE
)
_NAME_KEY: Final = re.compile(r"tool|func|action|name|call|method|command", re.IGNORECASE)
"""A key of the name of a tool in an object that has the arguments beside it."""
_LABEL: Final = (
    r"^[^\w\n]*(?:action|tool|function|call)(?:[ _](?:name|\d+))?[^\w\n]*[:=]\W*{name}"
    r"(?:[^\w\n]*\n\W*(?:{arguments})\w*\W*[:=]|\[(?!(?:{names})\])[^\]\n]*\])"
)
"""A word for calls before the name of a tool, with the arguments in the next line or in brackets."""
_UNKNOWN: Final = re.compile(
    r"""^[^\w\n]*action(?:[ _]\d+)?[^\w\n]*:[^\w\n]*(?P<action>[\w.-]+)
      (?: \[[^\]\n]*\]\W*\Z | [^\w\n]*\n\W*action[ _]input[^\w\n]*: )
    | ^(?:assistant\s+)?(?:to=)?functions\.(?P<function>[\w-]+)(?::\d+)?\s*(?:json\s*)?\{""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_KEYS: Final = re.compile(r"(?:name|action|tool|function) (?:arg(?:ument)?s|(?:action|tool)_(?:input|args))")
"""The two keys of an object that is a call whether its tool exists or not."""
_SPELLED: Final = r"(?<![\w-])(?:print\()?(?:\w+\.)*+{name}(?::\d+)?(?![\w-])"
_GAP: Final = re.compile(
    rf"[^\w()<{{-]*+(?:(?:with|json|{_ARGUMENTS.pattern})\b[^\w()<{{-]*+)*+", re.IGNORECASE
)
"""What stands between the name of a tool and its arguments."""
_WORD: Final = re.compile(r"[^\W\d_][\w'’]*+")
_FEW: Final = 3
"""Number of words that may stand in the line of a call, such as "Let me run"."""
_EXPLAINED: Final = re.compile(
    r"(?<!for )\byou\b|\b(?:example|e\.g|usage|syntax|would)\b|^\W*use\b", re.IGNORECASE
)
"""The words of a line with which a call is explained to a person."""
_BRACKET: Final = re.compile(r"""(\"{3}|'{3}).*?\1|"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|[()]""", re.DOTALL)
_WIDEST: Final = 200
"""Number of characters before a call in its line."""
_LONGEST: Final = 20_000
"""Number of characters at the end of a reply in which the last line is looked for."""


def starts_with_call(text: str) -> bool:
    """Returns whether a reply begins with a tag or a special token for calls."""
    return _TOKEN.match(text.lstrip()) is not None


def find_textual_call(text: str, tools: Parameters, reported: Collection[str] = ()) -> str | None:
    """Finds a tool call in a reply without thoughts.

    Args:
        text: The reply.
        tools: The tools of the agent. Without any, a reply can only quote a call.
        reported: The names of the tools that were called. Prose may quote their calls, as a report.

    Returns:
        The name of the called tool, or the tag; None if there is no call.
    """
    if not tools:
        return None
    if found := _find_token(text, tools) or _find_label(text, tools) or _find_unknown(text):
        return found
    calls = _iter_written(text.strip(), tools)
    return next((name for name, is_alone in calls if is_alone or name not in reported), None)


def _find_token(text: str, tools: Parameters) -> str | None:
    """Finds a tag or a token outside of code, with a call behind it: an object, or the name of a tool."""
    prose, names = _hide_code(text), _match_names(tools)
    call = re.compile(rf"\W{{0,20}}(?:functions\.)?(?:{names})\b|\s*(?:[<\[|｜]|```)|[^{{}}]{{0,40}}\{{")
    for token in _TOKEN.finditer(prose):
        if {*tools} & {*re.findall(r"[\w-]+", token[0])} or call.match(text, token.end()):
            return token[0]
    return None


def _find_label(text: str, tools: Parameters) -> str | None:
    for name, parameters in tools.items():
        names = _match_names(parameters)
        given = {"name": re.escape(name), "names": names, "arguments": f"{_ARGUMENTS.pattern}|{names}"}
        if re.search(_LABEL.format(**given), text, re.IGNORECASE | re.MULTILINE):
            return name
    return None


def _find_unknown(text: str) -> str | None:
    """Finds the call of a tool that may not exist: an object and nothing else, or a line as in ReAct."""
    value = load_json(unwrap_fence(text))
    if isinstance(value, dict) and _KEYS.fullmatch(" ".join(value)):
        name, args = value.values()
        return name if isinstance(name, str) and isinstance(args, Mapping) else None
    call = _UNKNOWN.search(_hide_code(text))
    return call[call.lastgroup or 0] if call and not _is_explained(text[: call.start()]) else None


def _hide_code(text: str) -> str:
    return _CODE.sub(lambda code: " " * len(code[0]), text)


def _match_names(names: Collection[str]) -> str:
    return "|".join(map(re.escape, names)) or "(?!)"


def _iter_written(text: str, tools: Parameters) -> Iterator[tuple[str, bool]]:
    """Yields the names of tools that are called in the objects, code blocks and outer lines of a text.

    With each name comes whether the text is nothing else.
    """
    end = 0
    for span in find_containers(text):
        start, end = span or (text.find("{", end), len(text))
        written = text[start:end]
        yield from ((name, written == text) for name in _iter_calls(read_beginning(written), tools))
    for block in _FENCED.finditer(text):
        if not _is_explained(text[: block.start()]):
            yield from (
                (name, False) for name, is_alone in _iter_written(block[1].strip(), tools) if is_alone
            )
    yield from _iter_spelled(_FENCED.sub("", text), tools)


def _iter_calls(value: object, tools: Parameters) -> Iterator[str]:
    """Yields the names of tools in decoded calls: a name beside arguments, or a name whose value they are."""
    if isinstance(value, list):
        for item in value:
            yield from _iter_calls(item, tools)
    if not isinstance(value, Mapping):
        return
    for key, each in value.items():
        name = str(each).removeprefix("functions.")
        if name in tools and _has_parameters(value, key, tools[name]):
            yield name
        if key in tools and isinstance(each, Mapping) and (not each or _are_parameters(each, tools[key])):
            yield key
        yield from _iter_calls(each, tools)


def _has_parameters(value: Mapping[str, object], key: str, parameters: Collection[str]) -> bool:
    """Checks whether an object has arguments beside the name of a tool, and no schema of them."""
    others = {name: each for name, each in value.items() if name != key}
    written = [each for name, each in others.items() if _ARGUMENTS.fullmatch(name)]
    is_schema = any(isinstance(each, Mapping) and "properties" in each for each in written)
    is_flat = _NAME_KEY.search(key) is not None and _are_parameters(others, parameters)
    return is_flat or (bool(written) and not is_schema)


def _are_parameters(names: Collection[str], parameters: Collection[str]) -> bool:
    return bool(names) and {*names} <= {*parameters}


def _iter_spelled(text: str, tools: Parameters) -> Iterator[tuple[str, bool]]:
    """Yields the names of tools with arguments behind them in the first or the last line of a text."""
    first, last = len(text) - len(text.lstrip()), len(text) - _LONGEST
    for name, parameters in tools.items():
        for match in re.finditer(_SPELLED.format(name=re.escape(name)), text):
            line = text.rfind("\n", 0, match.start()) + 1
            if match.start() - line > _WIDEST:
                continue
            head, is_first = _WORD.findall(text[line : match.start()]), line <= first
            if len(head) > _FEW or not (is_first or line > last):
                continue
            end = _find_end(text, match.end(), parameters)
            tail, _, after = text[end:].partition("\n")
            words, is_last = len(head) + len(_WORD.findall(tail)), not after.strip()
            if end and words <= _FEW and (is_first or is_last) and not _is_explained(text[: match.start()]):
                yield name, is_first and is_last and not words


def _is_explained(before: str) -> bool:
    """Checks whether the line before a call explains it to a person."""
    lines = before.rstrip("`\n ").splitlines()
    return bool(lines) and _EXPLAINED.search(lines[-1]) is not None


def _find_end(text: str, start: int, parameters: Collection[str]) -> int | None:
    """Finds the end of the arguments behind the name of a tool, cut off or not; None if there are none."""
    names = _match_names(parameters)
    if re.compile(r"\(\s*(?:\w+\s*=\s*)?[\"'\[{\d-]").match(text, start):
        is_named = re.compile(rf"\(\s*(?:{names})\s*=").match(text, start) is not None
        depth = 0
        for mark in _BRACKET.finditer(text, start):
            depth += {"(": 1, ")": -1}.get(mark[0], 0)
            if not depth:
                return mark.end()
        return len(text) if is_named else None
    gap = _GAP.match(text, start)
    start = gap.end() if gap else start
    if re.compile(rf"\{{\s*[\"']?(?:{names})\b").match(text, start):
        span = next(find_containers(text[start:]))
        end = len(text) if span is None else start + span[1]
        value = read_beginning(text[start:end])
        return end if isinstance(value, Mapping) and _are_parameters(value, parameters) else None
    pairs = rf"(?:[\s,]*(?:--?(?:{names})[ =]+\S+|(?:{names})=\S+|<(?:{names})>[^<]*</\w+>))+"
    found = re.compile(pairs).match(text, start)
    return found.end() if found else None
