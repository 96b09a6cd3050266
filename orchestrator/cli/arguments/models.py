"""Reads ``--model``: one model for all roles, or one model for each role."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

import typer

ROLES: Final = ("planner", "executor", "monitor", "supervisor")


def parse_model(text: str) -> tuple[str, str]:
    """Read ``SPEC`` or ``ROLE=SPEC``.

    Returns:
        The name of the field of ``RunOptions``, such as "planner_model", and the specification.

    Raises:
        typer.BadParameter: There is no such role, or no specification.
    """
    role, separator, spec = text.partition("=")
    # A specification such as gguf:PATH may contain the sign, too.
    if not separator or not role.isidentifier():
        return "model", text
    if role not in ROLES:
        close = get_close_matches(role, ROLES, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"give {', '.join(ROLES[:-1])} or {ROLES[-1]}"
        raise typer.BadParameter(f"{role!r} is no role; {hint}")
    if not spec.strip():
        raise typer.BadParameter(f"{text!r} names no model; give one, such as {role}=ollama:qwen3")
    return f"{role}_model", spec
