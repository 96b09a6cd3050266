"""Finds credentials by a name before them, or by their place: in a header, a URL, a command line."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from agents.credentials.detector import Detector, Pattern, Rule, Span, detect, encode_text

_TABLES: Final[Mapping[str, Any]] = json.loads(
    Path(__file__).with_name("secret_places.json").read_text(encoding="utf-8")
)
"""Parts of regular expressions (RE2 over Latin-1): names, placeholders, and places, to extend."""
LOGIN_NAMES: Final = "|".join(_TABLES["logins"])
"""Names whose value may be an ordinary word."""
KEY_NAMES: Final = "|".join(_TABLES["keys"]).replace("{kinds}", "|".join(_TABLES["kinds_of_keys"]))
"""Names whose value has to look generated, because "token" and "secret" stand before other things too."""
NAME_END: Final = (
    r"(?:[sS]|[_\-.]?(?:value|prod|production|dev|test|live|staging|key[_\-]base|base"
    r"|v[0-9]|[0-9]+|plain|raw|key|hash|base64|b64))?"
)
_PUBLIC_NAME: Final = Pattern(
    r"(?i)(?:(?:public|publishable|primary|foreign|partition|sort|cache|idempotency|unique|object|index|bucket|s3"
    r"|row|group|lookup|natural|sequence|dict|translation|i18n|css|hash|map|cursor|page|pagination|continuation"
    r"|origin[_\- ]?trial)[_\- ]?(?:key|token)|badge[.]svg[?]token|publickeytoken|[0-9]{12}:secret"
    r"|(?:key|token|secret)[_\-]?(?:id|name|type|count|length|size|file|path|url|uri))"
    r"[\"'\\\]`*\s]{0,8}(?:=>|:=|==?|:)?[\"'\\\s]{0,6}$"
)
_LONGEST_NAME: Final = 60
_PASSWORD_NAME: Final = Pattern(rf"(?i)(?:.*(?:{LOGIN_NAMES})|(?:.*[^a-z])?(?:pass|pin|cvv|cvc)){NAME_END}$")
FIELD_TRIGGER: Final = (
    rf'(?i:(?:[^a-z]|\\[bfnrt])(?:pass|pin|cvv|cvc){NAME_END}\\?"\s{{0,4}}:|(?:name|key)\\?"\s{{0,4}}:\s{{0,4}}\\?"'
    rf'(?:[^"]*(?:{KEY_NAMES})|(?:[^"]*[^a-z"])?(?:pass|pin|cvv|cvc)){NAME_END}\\?")'
)
"""Matches in a JSON text with a name that counts only for a field, or with the label of a field "value"."""
_SECRET_NAME: Final = Pattern(rf"(?i).*(?:{KEY_NAMES}){NAME_END}$")


_PLACEHOLDER: Final = Pattern(rf"(?i)(?:{'|'.join(_TABLES['placeholders'])})[.,;:!?)\]}}]*$")
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

    It has at least 8 characters and either 2 letters and 2 digits, or 20 characters in mixed case.
    """
    if len(value) < _SHORTEST or " " in value.strip() or value.isdigit():
        return False
    digits = sum(character.isdigit() for character in value)
    letters = sum(character.isalpha() for character in value)
    is_long = len(value) >= 20 and value not in {value.lower(), value.upper()}  # noqa: PLR2004
    if not is_long and min(digits, letters) < 2:  # noqa: PLR2004
        return False
    return _WORDS.match_end(value[:_LONGEST].encode("latin-1", "replace"), 0) < 0


@lru_cache(1024)
def name_kind(name: str) -> str | None:
    """Return the kind of value that a field of this name holds: ``password``, ``secret``, or None."""
    data = encode_text(name)
    if _PASSWORD_NAME.match_end(data, 0) >= 0:
        return "password"
    is_secret = _SECRET_NAME.match_end(data, 0) >= 0 and not is_public_name(data, len(data))
    return "secret" if is_secret else None


def is_public_name(data: bytes, start: int) -> bool:
    """Return whether the name before a value announces something that is no secret: ``cache_key: ...``."""
    return _PUBLIC_NAME.occurs_in(data[max(0, start - _LONGEST_NAME) : start])


_ANNOTATED: Final = r":\s?[A-Za-z][\w.]{0,30}(?:\[[\w., |]{0,30}\])?(?:\s\|\sNone)?\s=\s"
"""A type and an equals sign, as in ``token: Final[str] = "..."``."""
_ASSIGN: Final = rf"[\"'\\\]`*]{{0,4}}\s{{0,4}}(?:=>|:=|==?|{_ANNOTATED}|:|\x26quot;:|\"?\s+value=)\s{{0,4}}"
_VALUE: Final = (
    r"(?:\\\\?\"([^\"\\\n]+)|\"((?:[^\"\\\n]|\\[^\n])+)|'((?:[^'\\\n]|\\[^\n])+)|`([^`\n]+)|([^\s\"'`<>]+))"
)
_PASSWORD_ASSIGNED: Final = Pattern(rf"(?i)(?:{LOGIN_NAMES}){NAME_END}{_ASSIGN}{_VALUE}")
_SECRET_ASSIGNED: Final = Pattern(
    rf"(?i)(?:{KEY_NAMES}){NAME_END}{_ASSIGN}(?:(?:bearer|basic|token|key)\s+)?{_VALUE}"
)
_STATED: Final = Pattern(
    rf"(?i)(?:{LOGIN_NAMES}|{KEY_NAMES}){NAME_END}\s+(?:for (?:[^\s:]+ ){{1,4}})?"
    rf"(?:(?:is|was|ist|lautet|es|est|\xe8|to)\s*:?|(?:provided|given|supplied|used|sent):)\s+{_VALUE}"
)
_NEXT_PARAMETER: Final = Pattern(r"([&;]\s{0,2}[A-Za-z_][\w.\- %]*=)")
_QUOTES: Final = frozenset({b'"', b"'", b"`"})
_SHORTEST_PASSWORD: Final = 4
_SHORTEST_PAIR: Final = 8
_SHORTEST_NAMED_PASSWORD: Final = 3


def _find_assigned(data: bytes) -> Iterator[Span]:
    for start, end in _PASSWORD_ASSIGNED.find_spans(data):
        yield from _password_span(data, start, end)
    for start, end in _SECRET_ASSIGNED.find_spans(data):
        yield from _secret_span(data, start, end)


def _find_stated(data: bytes) -> Iterator[Span]:
    """Find passwords and secrets in sentences: ``The password is hunter2.``."""
    for start, end in _STATED.find_spans(data):
        # "The password is incorrect" does not tell a password.
        if not is_plain_word(data[start:end].decode("latin-1").rstrip(".,;:!?)")):
            yield from _password_span(data, start, end)


def _password_span(data: bytes, start: int, end: int) -> Iterator[Span]:
    stop = _value_end(data, start, end)
    # What follows an escaped line end is prose.
    is_line_end = data[start : start + 2] == b"\\n"
    if stop - start >= _SHORTEST_PASSWORD and not is_line_end and _is_assigned_value(data, start, stop, end):
        yield Span(start, stop, "password", "credential")


def _secret_span(data: bytes, start: int, end: int) -> Iterator[Span]:
    stop = _value_end(data, start, end)
    is_generated = looks_random(data[start:stop].decode("latin-1")) or is_login_pair(data[start:stop])
    if is_generated and _is_assigned_value(data, start, stop, end) and not is_public_name(data, start):
        yield Span(start, stop, "secret", "credential")


def _value_end(data: bytes, start: int, end: int) -> int:
    """Return where a value without quotes ends: before the next parameter or the end of the sentence."""
    end = min(end, start + _LONGEST)
    if data[start - 1 : start] in _QUOTES:
        return end
    parameter = next(_NEXT_PARAMETER.find_spans(data[start:end]), None)
    value = data[start : start + parameter[0]] if parameter else data[start:end]
    return start + len(value.rstrip(b".,;:)]}\\"))


def _is_assigned_value(data: bytes, start: int, stop: int, end: int) -> bool:
    """Return whether ``data[start:stop]`` is a value; ``end`` is where its text ends with punctuation."""
    is_quoted = data[start - 1 : start] in _QUOTES
    return is_value(data[start:stop]) and (is_quoted or not is_code(data, start, end))


def is_login_pair(value: bytes) -> bool:
    """Return whether a value is the base64 of "user:password", as headers and Docker write it."""
    if len(value) < _SHORTEST_PAIR or len(value) % 4:
        return False
    try:
        decoded = base64.b64decode(value[:_LONGEST], validate=True)
    except binascii.Error:
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode().isprintable()


def is_credential(kind: str, value: str) -> bool:
    """Return whether a value under a name of that kind is a credential, and no placeholder or word."""
    data = value[:_LONGEST].encode("latin-1", "replace")
    if kind == "secret" and not (looks_random(value) or is_login_pair(data)):
        return False
    return len(value) >= _SHORTEST_NAMED_PASSWORD and is_value(data)


_PAIR: Final = rf'(?i:(?:{KEY_NAMES})[\w.\-]{{0,12}}","value":)'
"""Matches a name and a value in two fields: {"name": "API_KEY", "value": "..."}.

It does not begin at the quotation mark: to count from each of them needs a new automaton for each text.
"""
# Names such as "total_tokens" are common, and numbers and objects behind them are not credentials.
_ASSIGNED_TRIGGER: Final = (
    rf"{_PAIR}|(?i:{LOGIN_NAMES}|(?:{KEY_NAMES}){NAME_END}[\"'\\\]`*]{{0,4}}"
    r"(?:\s|\\?[nrt]){0,4}(?:\x26quot;)?(?:[:=]>?|\"?\s+value=)\s{0,4}(?:[0-9.]{0,40}[^0-9.,}\s{]|\{(?s:.*)value))"
)


_PASSWORD_PLACES: Final = [Pattern(source) for source in _TABLES["password_places"]]
"""Places where any value is a password."""
_SECRET_PLACES: Final = [(kind, Pattern(source)) for kind, source in _TABLES["secret_places"]]
"""Places where a value is a credential if it looks generated."""
_URL_PASSWORD: Final = Pattern(r"[A-Za-z][A-Za-z0-9+.\-]*://([^\s/:@?#\"'<>]*:[^\s\"'<>]+)@[\w\[]")
_URL_TOKEN: Final = Pattern(r"[A-Za-z][A-Za-z0-9+.\-]*://([A-Za-z0-9_\-]{16,})(?::[\w\-]*)?@[\w\[]")
_URL_KEY: Final = Pattern(
    r"[?&](?:key|code|auth|apikey|appid|sig|signature|access_key)=([A-Za-z0-9_\-%]{16,}={0,2})"
)
_PORT: Final = Pattern(r"[0-9]{1,5}[/?#]")
_BASIC: Final = Pattern(r"(?i)\bbasic\s+([A-Za-z0-9+/]{8,}={0,2})")


def _is_password(data: bytes, start: int, end: int) -> bool:
    return is_value(data[start:end]) and not is_code(data, start, end)


def _is_secret(data: bytes, start: int, end: int) -> bool:
    return looks_random(data[start:end].decode("latin-1")) and _is_password(data, start, end)


def _is_no_word(data: bytes, start: int, end: int) -> bool:
    # A cookie and a password need not look generated; a word is none of them.
    return not is_plain_word(data[start:end].decode("latin-1")) and _is_password(data, start, end)


def _is_login(data: bytes, start: int, end: int) -> bool:
    # The code holds "user:password"; in prose, any word may follow "basic".
    return is_login_pair(data[start:end])


def _is_opaque(data: bytes, start: int, end: int) -> bool:
    """Return whether a value looks generated even under a vague name, and is no hash and no UUID."""
    value, text = data[start:end], data[start:end].decode("latin-1")
    is_mixed = text not in {text.lower(), text.upper()}
    return (
        _OPAQUE.match_end(value, 0) >= 0 and _HASH.match_end(value, 0) < 0 and is_mixed and looks_random(text)
    )


_PLACES: Final = (
    *(Rule("password", pattern, _is_password) for pattern in _PASSWORD_PLACES),
    *(
        Rule(kind, pattern, _is_no_word if kind in {"password", "cookie"} else _is_secret)
        for kind, pattern in _SECRET_PLACES
    ),
    Rule("authorization", _BASIC, _is_login),
)


def _find_in_urls(data: bytes) -> Iterator[Span]:
    for start, end in _URL_PASSWORD.find_spans(data):
        user, _, password = data[start:end].partition(b":")
        first = end - len(password)
        # "https://host:8080/path@v2" has a port and no password; "guest:guest" is the account of a manual.
        if user != password and is_value(password) and _PORT.match_end(data, first) < 0:
            yield Span(first, end, "url_password", "credential")


DETECTORS: Final = (
    Detector(_ASSIGNED_TRIGGER, _find_assigned),
    Detector(
        rf"(?i:{LOGIN_NAMES}|{KEY_NAMES})(?i:{NAME_END})\s+"
        r"(?i:is|was|ist|lautet|es|est|\xe8|to|for|(?:provided|given|supplied|used|sent):)(?:\b|\s)",
        _find_stated,
    ),
    detect(
        r"(?i:bearer\s|authorization|cookie|sess(?:ion_?)?id|connect\.sid|\bsid=|_session=|--[a-z\-]*(?:pass|token|secret|key)"
        r"|curl|\bpass\s*[:=]|password\s+\S|identified\s+by|<[\w:]*(?:pass|secret|token|api_?key|accesskey)"
        r"|basic\s+[A-Za-z0-9+/]{8}|mysql|\slogin\s|[a-z0-9*.\-]:(?:[0-9]{2,5}|\*):[\w*\-]+:[\w*.\-]+:[^\s:])",
        _PLACES,
    ),
    Detector(r"://[^\s/:@?#\"'<>]*:[^\s\"'<>@]+@", _find_in_urls),
    detect(
        r"://[A-Za-z0-9_\-]{16,}(?::[\w\-]*)?@|[?&](?:key|code|auth|apikey|appid|sig|signature|access_key)=",
        [Rule("secret", pattern, _is_opaque) for pattern in (_URL_TOKEN, _URL_KEY)],
    ),
)
