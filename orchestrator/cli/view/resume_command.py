"""The command that goes on with a run."""

from __future__ import annotations

from shlex import quote

from orchestrator.cli.view.text import clean
from orchestrator.persistence.stores import default_path


def resume_command(thread_id: str, where: str) -> str:
    """What is typed to go on with a run."""
    elsewhere = "" if where == str(default_path()) else f" --db {_quoted(where)}"
    return f"orchestrator resume {_quoted(thread_id)}{elsewhere}"


def _quoted(text: str) -> str:
    """A word for a shell; with what cannot be seen as bash and zsh read it."""
    if clean(text) == text and text.isprintable():
        return quote(text)
    escaped = text.encode("unicode_escape").decode().replace("'", "\\'")
    return f"$'{escaped}'"
