"""Whether a number can be a telephone's, by the numbering plans in phonenumbers."""

from __future__ import annotations

from typing import Final

TRUNK_REGIONS: Final[tuple[str, ...]] = (
    *("DE", "GB", "FR", "AT", "CH", "IT", "NL", "BE"),
    *("SE", "AU", "JP", "TR", "ZA", "IN", "FI", "KR"),
)
"""Whose national numbers begin with 0."""
REGIONS: Final = (
    *TRUNK_REGIONS,
    *("US", "ES", "PL", "NO", "DK", "PT", "IE", "BR", "MX", "CN", "IL", "AR", "CZ", "GR"),
)
"""Whose national formats are known; an international number may be of any country."""
MOST_CHECKED: Final = 500
"""Numbers of one text that are checked, a millisecond each at worst; beyond, the form is enough."""


def possible(number: str, turn: int = 0) -> bool:
    """Say whether an international number has a country and a length that this country has.

    ``turn`` says how many numbers of this text came before.
    """
    if turn >= MOST_CHECKED:
        return True
    import phonenumbers  # noqa: PLC0415  a fifth of a second that a text without numbers does not wait for

    plain = number.lstrip(" (")
    try:
        parsed = phonenumbers.parse(plain if plain.startswith("+") else f"+{plain[2:]}", None)
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.is_possible_number(parsed)


def assigned(number: str, regions: tuple[str, ...], turn: int = 0) -> bool:
    """Say whether a national number is assigned in one of ``regions``."""
    return turn >= MOST_CHECKED or any(_assigned(number, region) for region in regions)


def _assigned(number: str, region: str) -> bool:
    import phonenumbers  # noqa: PLC0415  see possible

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False
