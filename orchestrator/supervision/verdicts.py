"""From what a supervisor, or foreign code, answers to a verdict. Nothing here raises.

Only a complete object that states it, and nothing that makes it doubtful, lets a step continue; what
cannot be read becomes a question to a person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from agents.contracts import Unreadable
from agents.parsing.surrogates import replace_surrogates
from orchestrator.state.records import SupervisorVerdict, VerdictWord
from orchestrator.supervision.statements import (
    Statement,
    doubtful,
    encoded,
    excerpt,
    read_all,
    read_foreign,
    text_at,
)

UNREADABLE_REPLY: Final = "the supervisor's reply cannot be read"
"""How the reason of a verdict begins that was made of an unreadable reply."""

RAW_LIMIT: Final = 300
"""Characters of an unreadable reply that are kept."""

_Field = Literal["correction", "question", "reason"]
_OWN: Final[dict[VerdictWord, _Field]] = {
    "continue": "reason",
    "reorient": "correction",
    "ask_human": "question",
    "halt": "reason",
}
_SPELLINGS: Final[dict[str, VerdictWord]] = {
    **{word: word for word in _OWN},
    "ask human": "ask_human",
    "ask-human": "ask_human",
    "askhuman": "ask_human",
}
_ASKED_FOR: Final = frozenset(("", "verdict", "text", *_OWN.values(), *_SPELLINGS))
_SIGN: Final = re.compile(r"verdict|correction|question|reorient|halt|ask.?human|\\u", re.IGNORECASE)


def read_supervisor_verdict(text: str, shown: Sequence[str] = ()) -> SupervisorVerdict:
    """Read a verdict from a model's reply, failing closed.

    Args:
        text: The reply: an object with ``verdict`` and, as ``text`` or under its own name, the
            correction of "reorient", the question of "ask_human" or the reason of "halt".
        shown: What the model was shown: an object that stands in it is no verdict of the model's own.

    Returns:
        The verdict. "ask_human", with a reason that starts with ``UNREADABLE_REPLY``, where the reply is
        cut off or broken, has no verdict, an unknown one, two that differ, one without what belongs to
        it, one that is quoted, or a "continue" that something else in the reply contradicts.
    """
    verdicts = read_all(text, _SIGN, _verdict, _approves, shown)
    verdict = verdicts if isinstance(verdicts, Unreadable) else _agreed(text, verdicts)
    return _question(verdict) if isinstance(verdict, Unreadable) else verdict


def supervisor_verdict_from(value: object) -> SupervisorVerdict:
    """Like ``read_supervisor_verdict``, from the mapping that a supervisor of another make returned."""
    verdict = read_foreign(value, _verdict)
    return _question(verdict) if isinstance(verdict, Unreadable) else verdict


def _agreed(text: str, verdicts: Sequence[SupervisorVerdict]) -> SupervisorVerdict | Unreadable:
    words = {verdict["verdict"] for verdict in verdicts}
    if len(words) > 1:
        return Unreadable(text, f"two verdicts that contradict each other: {', '.join(sorted(words))}")
    return verdicts[-1]


def _approves(verdict: SupervisorVerdict) -> bool:
    return verdict["verdict"] == "continue"


def _verdict(said: Statement) -> SupervisorVerdict | Unreadable:
    word = _word(said.get("verdict"))
    if word is None:
        return Unreadable("", f"no known verdict: {encoded(said.get('verdict'))[:60]}")
    own = _OWN[word]
    text = _worded(said, own, "text")
    if word == "continue" and _contradicted(said):
        return Unreadable("", "it says 'continue' and something else")
    if word != "continue" and not text:
        return Unreadable("", f"{word!r} without a {own}")
    texts = {"correction": "", "question": "", "reason": _worded(said, "reason"), own: text}
    return SupervisorVerdict(
        verdict=word, correction=texts["correction"], question=texts["question"], reason=texts["reason"]
    )


def _worded(said: Statement, *names: str) -> str:
    """The first text under one of the names that does more than to repeat a word of the request."""
    texts = (text_at(said, name) for name in names)
    return next((text for text in texts if text.lower() not in _ASKED_FOR), "")


def _word(value: object) -> VerdictWord | None:
    return _SPELLINGS.get(value.strip().lower()) if isinstance(value, str) else None


def _contradicted(said: Statement) -> bool:
    """Whether an object that says "continue" also corrects, asks, or holds another verdict."""
    inner = [value for value in said.values() if isinstance(value, dict | list)]
    others = [_word(said.get(name)) for name in ("text", "reason")]
    return (
        bool(_worded(said, "correction", "question"))
        or any(word not in (None, "continue") for word in others)
        or doubtful(encoded(inner))
    )


def _question(found: Unreadable) -> SupervisorVerdict:
    raw = excerpt(" ".join(replace_surrogates(found.raw).split()), RAW_LIMIT)
    reason = f"{UNREADABLE_REPLY}: {found.reason}"
    question = f"How is this step to go on? It is for you to say, since {reason}. It reads: {raw}".rstrip()
    return SupervisorVerdict(verdict="ask_human", correction="", question=question, reason=reason)
