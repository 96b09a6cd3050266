"""Masks credentials in the texts of errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agents.credentials import generated, secret_places, tokens
from agents.credentials.detector import Family, search_text
from agents.credentials.spans import merge_spans, replace_spans

PLACES: Final = Family(*secret_places.DETECTORS)
_FAMILIES: Final = (Family(*tokens.DETECTORS), PLACES, Family(*generated.DETECTORS))
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
