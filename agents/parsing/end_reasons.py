"""Why a reply ended, as providers, LangChain and its streams report it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

END_NAMES: Final = ("stop_reason", "finish_reason", "done_reason", "stopReason", "finishReason")
"""Where providers and LangChain write why a message ended."""
_WORDS: Final = 300
"""Number of characters of a refusal that are told."""
_CALL: Final = re.compile(r"(?:(?:finish)?reason)?(?:tooluse|toolcalls?|functioncall)+")
_WHOLE: Final = re.compile(
    rf"(?:{_CALL.pattern}|(?:(?:finish)?reason)?(?:stop|stopsequence(?:reached)?|endturn|completed?"
    r"|eos(?:token)?|endoftext|finish(?:ed)?|normal|done))+"
)
"""The reasons of a whole answer, in the references of the providers; a stream may repeat one."""
_REASONS: Final = {
    "limit": (
        "length", "maxtokens", "maximumtokens", "maxoutputtokens", "tokenlimit", "errorlimit", "maxlen",
        "maxcontext", "contextwindowexceeded", "pauseturn",
    ),
    "block": (
        "contentfilter", "contentfiltered", "guardrailintervened", "safety", "sensitive", "recitation",
        "blocklist", "blacklist", "prohibitedcontent", "spii", "errortoxic", "modelarmor", "blocked",
        "refusal",
    ),
}  # fmt: skip
_STATES: Final = frozenset({
    "incomplete", "in_progress", "queued", "failed", "cancelled", "error", "timeout",
})  # fmt: skip
"""The states in which a reply of OpenAI's Responses API, or a recorded one, is no whole answer."""


def find_cut_off(report: Mapping[str, object]) -> str | None:
    """Returns the reason why a reply is not a whole answer, with the words of a refusal; None if it is.

    A reason that is not known to mean a whole answer counts as a failure of the server.

    Args:
        report: The report of a provider, or a message with its content.
    """
    kinds = {reason: _find_kind(reason) for reason in _list_reasons(report)}
    # Some servers write the text at which they stopped beside the reason.
    harmless = {None, "failure"} if None in kinds.values() else {None}
    state = str(report.get("status"))
    cut_off = next((reason for reason, kind in kinds.items() if kind not in harmless), None)
    return state if cut_off is None and state in _STATES else cut_off


def has_end(report: Mapping[str, object]) -> bool:
    """Returns whether a provider says that a reply has ended, for any reason."""
    return report.get("done") is True or bool(report.get("status")) or any(_list_words(report))


def find_message_cut_off(message: BaseMessage) -> str | None:
    """Returns the reason why a reply of a model is not a whole answer; None if it is."""
    return find_cut_off(read_report(message))


def read_report(message: BaseMessage) -> dict[str, object]:
    """Returns the report of the provider of a message, with its content."""
    return {**message.additional_kwargs, **message.response_metadata, "content": message.content}


def says_call(report: Mapping[str, object]) -> bool:
    """Returns whether a provider says that a reply ended with the call of a tool."""
    return any(_CALL.fullmatch(_spell(word)) for word in _list_words(report))


def is_token_limit(reason: str) -> bool:
    """Checks whether a reply was cut off because it reached a limit of tokens."""
    return _find_kind(reason) == "limit"


def is_failure(reason: str) -> bool:
    """Checks whether a reply ended because the provider failed, so that it may be asked for again."""
    return _find_kind(reason) == "failure"


def is_blocked(reason: str) -> bool:
    """Checks whether the provider blocked a reply or its prompt, or the model refused to answer."""
    return _find_kind(reason) == "block"


def describe_block(reason: str) -> str:
    """Says that a model refused to answer, with its words, or that its provider blocked a reply."""
    kind, _, words = reason.partition(": ")
    if _spell(kind) != "refusal":
        return f"the provider blocked the reply ({reason})"
    return f"the model refused to answer: {words}" if words else f"the model refused to answer ({reason})"


def _find_kind(reason: str) -> str | None:
    word = _spell(reason.partition(":")[0])
    kinds = (kind for kind, words in _REASONS.items() if word.endswith(words))
    return None if _WHOLE.fullmatch(word) else next(kinds, "failure")


def _spell(word: str) -> str:
    """Returns the letters: Gemini writes FinishReason.MAX_TOKENS, others max-tokens or maxTokens."""
    return re.sub(r"[\W\d_]", "", word.lower())


def _list_words(report: Mapping[str, object]) -> Iterator[str]:
    words = (getattr(report.get(name), "name", report.get(name)) for name in END_NAMES)
    # A server that writes null as a text has not ended.
    return (word for word in words if isinstance(word, str) and _spell(word) not in ("", "null", "none"))


def _list_reasons(report: Mapping[str, object]) -> Iterator[str]:
    details, feedback = report.get("incomplete_details"), report.get("prompt_feedback")
    if (refusal := read_refusal(report)) is not None:
        yield f"refusal: {refusal}" if refusal else "refusal"
    # OpenAI's Responses API says more than its status, "incomplete".
    if isinstance(details, Mapping) and details.get("reason"):
        yield str(details["reason"])
    yield from _list_words(report)
    if isinstance(feedback, Mapping) and feedback.get("block_reason"):
        yield "prompt_blocked"


def read_refusal(report: Mapping[str, object]) -> str | None:
    """Returns the words in which a model refused to answer, empty for none; None if it did not refuse.

    LangChain wraps a part of a content that it does not know.
    """
    content, refusal = report.get("content"), report.get("refusal")
    if refusal or report.get("type") == "refusal":
        return " ".join(refusal.split())[:_WORDS] if isinstance(refusal, str) else ""
    parts = [*(content if isinstance(content, list) else []), report.get("value")]
    found = (read_refusal(part) for part in parts if isinstance(part, Mapping))
    return next((words for words in found if words is not None), None)
