"""Guesses from the name of a tool whether it acts or only reads.

It is a guess: a statement of the caller outweighs it.

A name is split into words, without the name of a server or a package before it: ``mcp__shop__refund_order``,
``shop.refundOrder`` and ``refund-order`` have the words "refund" and "order". The first rule that fits:

1. A tool whose first word reads or computes reads, unless an acting verb follows "or", "and" or "then":
   ``get_or_create_user`` acts, and ``get_order``, ``list_posts`` and ``check_update`` read.
2. A tool acts if its first word is an acting verb: ``book_flight``. If this word is also a noun, and another
   word says that it is read, the tool reads: ``order_status``, ``mail_search``.
3. A tool acts if another word is a verb that is rarely a noun (``crm_update_contact``), if its last word is a
   verb that often stands there (``git_commit``), or if an acting verb follows "or", "and" or "then".
4. A tool reads if another word is a reading verb that is rarely a noun: ``fs_read_file``.
5. Any other tool is open: ``run_python``, ``bash``, ``think``, ``task``, ``execute_sql``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

ToolKind = Literal["acting", "reading", "open"]

_PLAIN_VERBS: Final = frozenset({
    "accept", "activate", "add", "adjust", "append", "apply", "approve", "archive", "assign", "attach",
    "authorize", "ban", "cancel", "capture", "close", "configure", "confirm", "create", "deactivate",
    "decline", "delete", "deliver", "deny", "deploy", "disable", "dismiss", "dispatch", "edit",
    "enable", "enqueue", "enroll", "escalate", "fulfill", "insert", "install", "kill", "launch", "make",
    "merge", "migrate", "modify", "notify", "overwrite", "patch", "pay", "persist", "place", "process",
    "provision", "publish", "purge", "reactivate", "reassign", "reboot", "redeem", "register", "reject",
    "remove", "rename", "renew", "reorder", "reschedule", "restart", "restore", "revoke", "rotate",
    "save", "sell", "send", "submit", "subscribe", "suspend", "terminate", "transfer", "unassign",
    "uninstall", "unlock", "unsubscribe", "update", "upgrade", "upload", "upsert", "withdraw", "write",
})  # fmt: skip
"""Verbs of tools that change something outside of the run, and that are rarely nouns."""
_NOUN_VERBS: Final = frozenset({
    "block", "book", "buy", "change", "charge", "checkout", "commit", "copy", "credit", "debit",
    "deposit", "discard", "drop", "email", "exchange", "forward", "grant", "import", "increment",
    "invite", "invoice", "issue", "lock", "mail", "mark", "move", "mute", "order", "pause", "pin",
    "post", "purchase", "push", "put", "refund", "release", "remind", "replace", "reply", "report",
    "reserve", "reset", "resume", "return", "rollback", "schedule", "set", "ship", "sign", "start",
    "stop", "store", "swap", "sync", "trigger", "turn", "tweet", "void", "wire",
})  # fmt: skip
"""Verbs of the same meaning that are often nouns behind another word: ``customer_order``."""
_FIRST_VERBS: Final = frozenset({"put", "reset", "set", "turn"})
"""Of these, those that are verbs wherever they stand first: ``set_status``."""
ACTING_VERBS: Final = _PLAIN_VERBS | _NOUN_VERBS
"""Verbs that make a tool acting."""
_LAST_VERBS: Final = frozenset(
    {"checkout", "commit", "purchase", "push", "put", "refund", "reset", "rollback", "sync"}
)
"""The nouns of these that are a verb at the end of a name."""
_READING_VERBS: Final = frozenset({
    "analyse", "analyze", "browse", "calculate", "check", "compare", "compute", "convert", "count",
    "define", "describe", "detect", "diff", "display", "download", "estimate", "evaluate", "examine",
    "explain", "extract", "fetch", "filter", "find", "format", "get", "grep", "has", "head", "identify",
    "info", "inspect", "is", "list", "load", "look", "lookup", "match", "measure", "monitor", "parse",
    "peek", "ping", "poll", "predict", "preview", "query", "rank", "read", "recall", "recommend",
    "retrieve", "review", "scan", "scrape", "search", "select", "show", "summarise", "summarize",
    "tail", "track", "translate", "validate", "verify", "view", "watch",
})  # fmt: skip
"""Verbs of tools that read or compute, as the first word of a name."""
_PLAIN_READING_VERBS: Final = frozenset({
    "calculate", "describe", "fetch", "find", "get", "list", "lookup", "query", "read", "retrieve",
    "search", "view",
})  # fmt: skip
_SURELY_READING: Final = _PLAIN_READING_VERBS - {"query", "retrieve"} | {"count", "show"}
"""Of these, calls are made again after a crash without a question."""
_READ_THINGS: Final = frozenset(
    {"count", "details", "history", "id", "ids", "info", "price", "prices", "status", "summary", "total"}
)
"""What is read of a thing, at the end of a name."""
_JOINTS: Final = frozenset({"or", "and", "then"})
_TODO_LIST: Final = ("write", "todos")
"""The tool of LangChain that keeps a list of things to do in the state of its agent."""
_NAMESPACE: Final = re.compile(r"__|[.:/]")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_IRREGULAR: Final = {
    "buy": "bought", "pay": "paid", "send": "sent", "sell": "sold", "make": "made", "write": "written",
    "overwrite": "overwritten", "withdraw": "withdrawn", "put": "put", "set": "set", "reset": "reset",
}  # fmt: skip
_SHORTEST_VERB: Final = 3


@lru_cache(1024)
def surely_reads(name: str) -> bool:
    """Returns whether a name leaves no doubt that a tool only reads, so that a call may be made again."""
    first, *rest = words = split_name(name) or ("",)
    if words == _TODO_LIST:
        return True
    past = {form for verb in ACTING_VERBS for form in list_past_forms(verb)}
    return first in _SURELY_READING and not (_JOINTS | _PLAIN_VERBS | past | {"replace"}) & {*rest}


@lru_cache(1024)
def guess_kind(name: str) -> ToolKind:
    """Guesses from its name whether a tool acts, only reads, or may do either."""
    words = split_name(name)
    if not words:
        return "open"
    if words == _TODO_LIST:
        return "reading"
    first, rest = words[0], {*words[1:]}
    joined = {word for joint, word in pairwise(words) if joint in _JOINTS}
    if first in _READING_VERBS:
        return "acting" if joined & ACTING_VERBS else "reading"
    is_read = bool(rest & _PLAIN_READING_VERBS) or words[-1] in _READ_THINGS
    if first in ACTING_VERBS and not (is_read and first in _NOUN_VERBS - _FIRST_VERBS):
        return "acting"
    if rest & _PLAIN_VERBS or joined & ACTING_VERBS or words[-1] in _LAST_VERBS:
        return "acting"
    return "reading" if is_read else "open"


@lru_cache(1024)
def split_name(name: str) -> tuple[str, ...]:
    """Splits the name of a tool into its words in lower case, without the name of a server or a package."""
    parts = [words for part in _NAMESPACE.split(name) if (words := _WORD.findall(part))]
    return tuple(word.lower() for word in parts[-1]) if parts else ()


def list_past_forms(verb: str) -> Iterator[str]:
    """Yields the forms that the past of a verb may have, by the rules of spelling."""
    stem, end = verb[:-1], verb[-1]
    if verb in _IRREGULAR:
        yield _IRREGULAR[verb]
    yield f"{stem}ed" if end == "e" else f"{verb}ed"
    if end == "y":
        yield from (f"{stem}ied", f"{stem}id")
    if end == "d":
        yield f"{stem}t"
    if end not in "aeiou":
        yield f"{verb}{end}ed"


@lru_cache(256)
def match_past(tool: str) -> re.Pattern[str]:
    """Returns a pattern of the past forms of the words of a tool's name: "rejected" for ``reject_claim``."""
    verbs = [word for word in split_name(tool) if len(word) >= _SHORTEST_VERB]
    forms = "|".join(re.escape(form) for verb in verbs for form in list_past_forms(verb))
    return re.compile(rf"\b(?:{forms or '(?!)'})\b")


def has_past_form(tool: str, word: str) -> bool:
    """Checks whether a word is a past form of the words of a tool: "rejected" for ``reject_claim``."""
    return match_past(tool).fullmatch(word) is not None
