"""Masks credentials in the texts of errors."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from agents.credentials import secret_places, tokens
from agents.credentials.detector import Family, Pattern, Rule, detect, merge_spans, replace_spans, search_text
from agents.credentials.secret_places import KEY_NAMES, NAME_END, is_public_name, is_value, looks_random

_AFTER_NAME: Final = r"[\"'`:=\s(]{1,4}"
_NAMED: Final = Pattern(rf"(?i)(?:{KEY_NAMES}){NAME_END}{_AFTER_NAME}([A-Za-z0-9_\-+=]{{16,}})")
_KEY: Final = Pattern(
    rf"(?i)\bkey(?:=[\"']?([A-Za-z0-9_\-+]{{20,}}={{0,2}})|{_AFTER_NAME}([0-9a-f]{{32,}})\b)"
)
"""Matches the vague name "key" alone."""
_SIGNATURE: Final = Pattern(
    r"(?:[?&;]|u0026)[\w\-]{0,20}(?i:signature|sig|hmac)=([A-Za-z0-9_\-%+/~]{16,}={0,2})"
)
_OPAQUE: Final = Pattern(r"[A-Za-z0-9_\-+]{20,}={0,2}")
_RUN: Final = re.compile(rb"[A-Za-z0-9]{16,}")
"""A part that no hyphen divides, as the names of models and files are."""
_MIXED: Final = re.compile(rb"(?=.*[a-z])(?=.*[A-Z])")
_DIGIT: Final = re.compile(rb"[0-9]")
_WORD: Final = re.compile(rb"[A-Z][a-z]{3,}|[a-z]{4,}")
_MOST_WORDS: Final = {True: 0.5, False: 0.3}
"""Share of words in a generated value, with a digit and without."""
_LONGEST: Final = 512
"""Bytes of a key; what is longer is the content of a file."""
_LOOK_BACK: Final = 120
_ID: Final = Pattern(
    r"(?i)(?:req|request|call|toolu|tooluse|srvtoolu|msg|chatcmpl|cmpl|resp|rs|fc|gen|run|thread|asst|step|file"
    r"|batch|org|proj|fp|item|evt|trace|order|ord|inv|job|task|conv|doc|cus|pi|ch|sub|prod|price|sha[0-9]+)[_\-]"
    r"|[0-9]{8}T[0-9]{6}"
)
"""Matches the beginning of an id of a request, a reply, an order or a file."""
_ANNOUNCED: Final = Pattern(
    r"(?:(?i:(?:^|[^a-z])(?:ids?|digest|hash|checksum|etag|fingerprint|md5|sha-?[0-9]+))|[a-z]I[dD])"
    r"[\"'\]\s:=(#\-]{0,6}[A-Za-z0-9+/]*$"
)
"""Matches the text before an id or a hash."""


def _is_given(data: bytes, start: int, end: int) -> bool:
    return is_value(data[start:end])


def _is_named(data: bytes, start: int, end: int) -> bool:
    is_random = looks_random(data[start:end].decode("latin-1"))
    return is_random and _is_given(data, start, end) and not is_public_name(data, start)


def _is_generated(data: bytes, start: int, end: int) -> bool:
    """Return whether a value is neither words, such as the name of a class, nor an id."""
    value = data[start : min(end, start + _LONGEST + 1)]
    if len(value) > _LONGEST or not any(map(_MIXED.match, _RUN.findall(value))):
        return False
    is_id = _ID.match_end(value, 0) >= 0 or _ANNOUNCED.occurs_in(data[max(0, start - _LOOK_BACK) : start])
    words = sum(map(len, _WORD.findall(value)))
    return not is_id and words < _MOST_WORDS[_DIGIT.search(value) is not None] * len(value)


_GENERATED: Final = (
    detect(
        r"[A-Za-z0-9_\-+]{16}",
        [
            Rule("signature", _SIGNATURE, _is_given),
            Rule("secret", _NAMED, _is_named),
            Rule("secret", _KEY, _is_named),
            Rule("secret", _OPAQUE, _is_generated),
        ],
    ),
)


PLACES: Final = Family(*secret_places.DETECTORS)
_FAMILIES: Final = (Family(*tokens.DETECTORS), PLACES, Family(*_GENERATED))
# A placeholder such as "x" is no secret, and masking it would make the text unreadable.
_SHORTEST: Final = 4


def read_error(error: BaseException) -> str:
    """Return the text of an error of anyone's code, also if it has none."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the text of an error is the user's code, too
        return "its text cannot be made"


def mask_error(error: BaseException, secrets: Iterable[str] = ()) -> str:
    """Return the text of an error without credentials."""
    return mask_keys(read_error(error), secrets)


def mask_keys(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace ``secrets``, and everything that is recognised as a credential, by its kind in brackets.

    Servers repeat the key that they refuse, and the errors of clients the address with its password.
    """
    for secret in secrets:
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, "[secret]")
    return replace_spans(text, merge_spans(search_text(text, _FAMILIES)))
