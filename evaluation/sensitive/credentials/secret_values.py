"""Tells the value of a credential from a placeholder, a word, and a piece of source code."""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

from evaluation.sensitive.credentials.secret_names import KEY_NAMES, LOGIN_NAMES
from evaluation.sensitive.detector import Pattern

_PLACEHOLDER: Final = Pattern(
    r"(?i)(?:[x*.#\-_?\xb7\x95]+|<.*|\[.*\]|\{.*\}|\(.*\)|\{\{.*|[$][{(].*"
    r"|[$][a-z_][a-z_.]*|%[a-z_]+%|%\(?[a-z_.]*\)?[sdr]|change[_\-]?(?:me|it|this).*"
    r"|[a-z]+[$][a-z]+|@[a-z_]+@|your[_\- ].*|my[_\- ].*|example.*|.*example|.*[_\-]here"
    r"|(?:insert|replace)[_\- ].*"
    r"|null|none|nil|true|false|yes|no"
    r"|undefined|n/?a|string|str|text|password|passwort|secret|token|required|optional|missing|invalid|incorrect"
    r"|expired|changed|reset|updated|wrong|correct|valid|empty|hidden|masked|redacted|encrypted|unset|default|set"
    r"|must|should|is|are|was|has|not|the|and|or|to|for|a|an|of|bearer|basic|object|number|integer|boolean|env"
    r"|please|here|field|protected|needed|okay|ok|int|float|type|placeholder|forgotten|unknown|stored|sent|too"
    r"|expected|bytes|bool|any|dict|list|tuple|sekrit|foo|bar|blah|pass|passwd|pwd|prompt"
    r"|requires?|option|flag|argument|(?:fake|dummy|sample|not)(?:[_\-].*)?"
    r"|(?:%[sdr]|\{[a-z_0-9.]*\}|[:/@, ])+"
    r"|.*\.\.\.|test[_\-]?(?:password|secret|token|key)"
    r"|process\.env.*|os\.environ.*|os\.getenv.*|config\..*|settings\..*|self\..*|this\..*|args\..*|secrets\..*|env\..*)"
    r"[.,;:!?)\]}]*$"
)
_PATH: Final = Pattern(r"(?:~|\.{1,2})?/[A-Za-z_.\-]+(?:/[\w.\-]*)*$|/$")
_WORDS: Final = Pattern(
    r"(?:[A-Za-z]+[0-9]{0,3}(?:[_\-.][A-Za-z]+)+(?:[_\-.]?[0-9]{1,4})?|(?:[A-Z]?[a-z]{2,}|[A-Z]{2,5})(?:[A-Z][a-z]{2,}[0-9]?)+)$"
)
"""Words with a short number, such as ``secret_key_123``, and names of classes."""
_ENVIRONMENT: Final = Pattern(r"(?:.*[\s;&\"'])?[A-Z][A-Z0-9_]*=$")
"""Matches a line up to a value as shells and .env files write it, where a value without quotes is no code."""
_CALL: Final = Pattern(r"[$]?[A-Za-z_][\w.:]*(?:\(|\[(?:$|[^\]]*\]))|[\[({]")
_REFERENCE: Final = Pattern(r"[&*]?[A-Za-z_]+(?:(?:\.|->|::)[A-Za-z_]+)+[.,;:)\]}\\]*$")
_IDENTIFIER: Final = Pattern(r"([A-Za-z_\-]+)[,;:)\]}\\]*$")
_NAMED_AFTER: Final = Pattern(
    r"[A-Za-z_][\w.]*(?:Key|Token|Secret|Credential|Password)(?:s|Types?)?[.,;:)\]}\\|]*$"
)
"""Matches names of classes and fields, such as ``Ed25519PrivateKey`` and ``challengePassword``."""
_NAME_OF_CREDENTIAL: Final = Pattern(rf"(?i)(?:{LOGIN_NAMES}|{KEY_NAMES}|pass|key|pwd|auth)")
_CODE_TARGET: Final = Pattern(r"(?:\s+\S.*|.*[\w\])][.,].*|\s*(?:const|let|var|final|def|self)\b.*)$")
_CODE_TAIL: Final = Pattern(r"[,;:)\]}\\]*\s*(?:=|or\b|and\b|if\b|else\b|in\b|\+|\||\?)|[,)\]}]")
_PROSE_TAIL: Final = Pattern(r"[ ,;]+[a-z]{2,}[ .,]")
_TYPE: Final = Pattern(r"[A-Z][A-Za-z]*[,)]*\s*(?:=|,|\)|\||$)")
_AFTER_TYPE: Final = Pattern(r"[,)]|\s*[=|]")
_END_OF_TEXT: Final = Pattern(r"[,);\]}](?:[\s,);:\]}].*)?$")
"""Matches code behind a text that ends where a value was expected: ``prompt='Password: ', file=None``."""
_LONGEST: Final = 1000
_LONGEST_LINE: Final = 200
_SHORTEST: Final = 8
_OPAQUE: Final = Pattern(r"[A-Za-z0-9+_\-]{16,}={0,2}$")
_HASH: Final = Pattern(r"(?:[0-9a-f]+|[0-9A-F]+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$")


def is_value(value: bytes) -> bool:
    """Return whether a value is not a placeholder, a type or an expression that reads it from elsewhere."""
    value = value[:_LONGEST]
    is_placeholder = any(
        pattern.match_end(value, 0) >= 0 for pattern in (_PLACEHOLDER, _PATH, _NAMED_AFTER, _END_OF_TEXT)
    )
    return not is_placeholder and len(set(value)) > 1


def is_plain_word(value: str) -> bool:
    """Return whether a value holds letters only, and no capital after the first one."""
    return all(character.isalpha() for character in value.strip("-'")) and value[1:] == value[1:].lower()


def is_code(data: bytes, start: int, end: int) -> bool:
    """Return whether the text without quotes at ``start`` is code that reads a value from elsewhere."""
    value, before = data[start : min(end, start + _LONGEST)], _line_before(data, start)
    if _ENVIRONMENT.match_end(before, 0) >= 0:
        return False
    if _CALL.match_end(value, 0) >= 0 or data[end : end + 1] in {b"(", b"["}:
        return True
    if _REFERENCE.match_end(value, 0) >= 0 or _NAMED_AFTER.match_end(value, 0) >= 0:
        return True
    return _IDENTIFIER.match_end(value, 0) >= 0 and _is_name_in_code(data, start, end, before)


def _is_name_in_code(data: bytes, start: int, end: int, before: bytes) -> bool:
    """Return whether an identifier without digits is a variable or a type, and not a password."""
    value = data[start:end].rstrip(b",;:)]}\\")
    tail = data[start + len(value) : end + 20].partition(b"\n")[0]
    if _NAME_OF_CREDENTIAL.occurs_in(value):
        return True
    if before.rstrip().endswith(b"="):
        is_target = _CODE_TARGET.match_end(before, 0) >= 0
        return is_target or _CODE_TAIL.match_end(tail, 0) >= 0
    is_type = _TYPE.match_end(data[start : end + 3], 0) >= 0 and _AFTER_TYPE.match_end(tail, 0) >= 0
    return is_type or _PROSE_TAIL.match_end(tail, 0) >= 0


def _line_before(data: bytes, start: int) -> bytes:
    before = data[max(0, start - _LONGEST_LINE) : start]
    return before[before.rfind(b"\n") + 1 :]


def looks_random(value: str) -> bool:
    """Return whether a value was generated, unlike words, names and plain numbers.

    It has at least 8 characters and either 2 letters and 2 digits, or 20 characters in mixed case with more
    than 3.5 bits of entropy per character.
    """
    if len(value) < _SHORTEST or " " in value.strip() or value.isdigit():
        return False
    return _has_marks_of_chance(value) and not is_words(value)


def _has_marks_of_chance(value: str) -> bool:
    digits = sum(character.isdigit() for character in value)
    letters = sum(character.isalpha() for character in value)
    if digits >= 2 and letters >= 2:  # noqa: PLR2004
        return True
    is_mixed = value != value.lower() and value != value.upper()
    return len(value) >= 20 and is_mixed and _bits_per_character(value[:_LONGEST]) > 3.5  # noqa: PLR2004


def is_words(value: str) -> bool:
    """Return whether a value is words with a short number, such as ``secret_key_123``."""
    return _WORDS.match_end(value[:_LONGEST].encode("latin-1", "replace"), 0) >= 0


def looks_opaque(value: bytes) -> bool:
    """Return whether a value looks generated even under a vague name, and is no hash and no UUID."""
    text = value.decode("latin-1")
    is_mixed = text not in {text.lower(), text.upper()}
    return (
        _OPAQUE.match_end(value, 0) >= 0 and _HASH.match_end(value, 0) < 0 and is_mixed and looks_random(text)
    )


def _bits_per_character(value: str) -> float:
    """Compute Shannon's entropy."""
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())
