"""Defines a text of the labelled set, and generates secrets.

No file contains a complete secret, because the scanners of hosting sites would refuse it. Each is drawn from
a seed, so that the set is the same in every run.
"""

import random
import string
from dataclasses import dataclass
from typing import Literal

HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"


@dataclass(frozen=True)
class Sample:
    """A text with the values that a search has to find. Without values, it may find nothing."""

    text: str
    values: tuple[str, ...] = ()
    category: Literal["credential", "personal"] = "credential"
    kind: str = ""


def body(size: int, alphabet: str = ALNUM, seed: object = "") -> str:
    draw = random.Random(f"{size}{alphabet}{seed}")
    drawn = "".join(draw.choices(alphabet, k=size - 2))
    middle = (size - 2) // 2
    letter = next(mark for mark in alphabet if mark.isalpha())
    return f"{drawn[:middle]}7{letter}{drawn[middle:]}"
