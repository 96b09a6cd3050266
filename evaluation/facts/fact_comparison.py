"""Compares a fact as an answer writes it with values: its notations, its rounding, and its other units."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator
from decimal import Decimal
from typing import Final

from evaluation.facts.dates import Clock
from evaluation.facts.derived_numbers import is_rounded
from evaluation.facts.fact_reading import Fact
from evaluation.facts.field_records import DAY_SECONDS, LARGEST, MOMENTS, Operand, list_readings, read_moment
from evaluation.facts.lost_facts import read_alike
from evaluation.facts.units import agree_units, find_base_unit, is_money, scale_unit

_ABOUT: Final = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|close to|some|over|under|more than"
    r"|less than|etwa|rund|ungefähr|circa|ca\.?|knapp|fast|über|unter|mehr als|weniger als|~|≈)"
    r"\s*[€$£]?\s*[-−]?\Z",
    re.IGNORECASE,
)
_REACH: Final = 20
_HALF_DAY: Final = 12
_HOUR: Final = 3600
_MOST_PLACES: Final = 9
_CENTS: Final = -2
"""The exponent of an amount that is written with cents."""


def follows_from(fact: Fact, values: Collection[Operand], output: str) -> bool:
    """Returns whether a fact is one of the values, perhaps rounded, or in another unit."""
    is_about = _is_about(fact, output)
    return any(
        read_alike(written, reading)
        for value in values
        if value.unit in MOMENTS
        for written in fact.value.readings
        for reading in read_moment(value)
    ) or any(
        # "4 degrees below zero" is -4, and nobody rounds an hour and a half to two hours without a word.
        is_rounded(abs(written), abs(number), is_about=is_about)
        and (value.unit != "s" or is_about or written % 1 or written == number)
        for written, unit, _ in _list_written(fact)
        for value in values
        if value.unit not in MOMENTS and (value.unit != "%" or unit == "%")
        for number in [scale_unit(value.value, value.unit, unit)]
        if number is not None
    )


def _list_written(fact: Fact) -> list[Operand]:
    readings = [each for each in list_readings(fact) if each.unit not in MOMENTS]
    # 2:25 may be hours and minutes, or minutes and seconds.
    spans = [
        Operand(each.value / size, "s")
        for each in list_readings(fact)
        if each.unit == "time"
        for size in (1, 60)
    ]
    # A field of 1250 may count the cents of 12.50.
    cents = [
        Operand(each.value.scaleb(2), "cent")
        for each in readings
        if is_money(each.unit) or (each.unit is None and each.value.as_tuple().exponent == _CENTS)
    ]
    # A field without a unit may count the grams of a kilogram.
    bases = [
        Operand(each.value * base[1], base[0]) for each in readings if (base := find_base_unit(each.unit))
    ]
    return [*readings, *spans, *cents, *bases]


def list_steps(fact: Fact, output: str) -> Iterator[tuple[float, str | None, float, float]]:
    """Yields each value of a fact with its unit, what its last digit counts, and its last digit but zeros."""
    moments = [each for each in list_readings(fact) if each.unit in MOMENTS]
    for value, unit, _ in [*_list_written(fact), *moments]:
        if unit in MOMENTS or fact.kind == "time":
            is_lap = unit == "s" and value < _HOUR
            step = float(DAY_SECONDS if unit == "date" else 1 if is_lap else 60)
            round_to = [step * size for size in (60, 5, 1) if unit != "date" and not value % int(step * size)]
            yield float(value), unit, step, max(round_to, default=step)
        elif abs(value) < LARGEST:
            step, grain = (_find_place(each) for each in (value, value.normalize()))
            yield abs(float(value)), unit, grain if _is_about(fact, output) else step, grain


def _find_place(value: Decimal) -> float:
    return 10.0 ** max(int(value.as_tuple().exponent), -_MOST_PLACES)


def agree_facts(fact: Fact, other: Fact) -> bool:
    """Returns whether two facts may say the same, in any of their notations."""
    return agree_units(fact.value.unit, other.value.unit) and any(
        read_alike(first, second)
        for reading in fact.value.readings
        for first in _list_hours(fact, reading)
        for second in other.value.readings
    )


def _list_hours(fact: Fact, reading: Hashable) -> Iterator[Hashable]:
    """Yields what a reading may stand for: "half past two" may be 14:30, and "14 Uhr" the 14 of a column."""
    yield reading
    if isinstance(reading, Clock):
        is_open = reading.hour <= _HALF_DAY and not fact.shown.lower().endswith(("m", "m."))
        yield from [reading._replace(hour=(reading.hour + _HALF_DAY) % 24)] if is_open else []
        yield from [Decimal(reading.hour)] if reading.minute == 0 else []


def _is_about(fact: Fact, output: str) -> bool:
    places = find_places(fact, output)
    return any(_ABOUT.search(output[max(0, at.start() - _REACH) : at.start()]) for at in places)


def find_places(fact: Fact, output: str) -> Iterator[re.Match[str]]:
    """Yields the places where an output writes a fact."""
    return re.finditer(rf"(?<![\w.,]){re.escape(fact.shown)}", output)
