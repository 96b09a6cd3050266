"""Redacts and shortens texts that a report or an error message quotes.

No other place of the package shortens a text from outside: half of a credential is no longer recognised, so
a text is redacted before it is cut.
"""

from __future__ import annotations

import json
from typing import Final

from evaluation.sensitive.scanner import Search, find_sensitive

_MARGIN: Final = 4096
"""Characters beyond the limit that are searched too, to recognise a value that the limit cuts."""
LONGEST_NAME: Final = 60
"""Characters of a name (of a tool, a field, a rule) that a sentence shows."""
_LONGEST_ERROR: Final = 300


def redact(text: str, search: Search = find_sensitive) -> str:
    """Replace every credential and all personal data in ``text`` by ``[kind]``."""
    pieces, end = [], 0
    for span in search(text):
        pieces += [text[end : span.start], f"[{span.kind}]"]
        end = span.end
    return "".join([*pieces, text[end:]]) if pieces else text


def shorten(text: str, limit: int = LONGEST_NAME, search: Search = find_sensitive) -> str:
    """Return a text of at most ``limit`` characters: as it is, or redacted, cut, and with "…" at its end.

    The mark is needed: by it, ``Literals`` recognises the beginning of a value that only another part of the
    run shows to be sensitive.
    """
    if len(text) <= limit:
        return text
    head = redact(text[: limit + _MARGIN], search)
    is_complete = len(head) <= limit and len(text) <= limit + _MARGIN
    return head if is_complete else f"{head[: limit - 1]}…"


def keep_end(text: str, limit: int, search: Search = find_sensitive) -> str:
    """Return the last ``limit`` characters of a text, redacted; "…" at the start stands for the rest."""
    tail = redact(text[-(limit + _MARGIN) :], search)
    return tail if len(tail) <= limit and len(text) <= limit + _MARGIN else f"…{tail[1 - limit :]}"


def describe_error(error: BaseException) -> str:
    """Return the text of an exception of someone else's code: one line, redacted and shortened."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the text of an error is the user's code, too
        text = "its text cannot be made"
    return shorten(redact(" ".join(text[:_MARGIN].split())), _LONGEST_ERROR)


def describe_raised(error: BaseException) -> str:
    """Return the type and the text of what someone else's code raised: any exception but Ctrl-C.

    Raises:
        KeyboardInterrupt: The error is one: Ctrl-C ends the program, whatever code is running.
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
    return f"{type(error).__name__}: {describe_error(error)}".removesuffix(": ")


def quote_text(text: str, limit: int = LONGEST_NAME) -> str:
    """Quote a shortened text on one line."""
    return json.dumps(shorten(text, limit), ensure_ascii=False)
