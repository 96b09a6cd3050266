"""Options that `acting_tools` replaces, and what to write in place of each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

REPLACED: Final = {
    "approve_tools": ("{{{name!r}: ActingTool(approve=True)}}", "--acting-tools NAME:approve"),
    "once_tools": ("[{name!r}]", "--acting-tools NAME"),
}
"""The value of ``acting_tools`` and the option of the command line, by the name of the old option."""


def describe_argument(name: str, value: object) -> str:
    """Describes what replaces an old argument that is given."""
    tools = value if isinstance(value, Iterable) and not isinstance(value, str) else ()
    # "all" names no tool.
    tool = next((each for each in tools if isinstance(each, str)), "NAME")
    return f"acting_tools={REPLACED[name][0].format(name=tool)}"
