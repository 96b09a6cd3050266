"""The names of currencies and measures in English and German."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

CURRENCIES: Final = {
    name: unit
    for unit, names in {
        "%": "% percent prozent",
        "USD": "$ usd dollar dollars",
        "EUR": "€ eur euro euros",
        "GBP": "£ gbp pound pounds",
        "JPY": "¥ jpy yen",
        "CHF": "chf franken",
        "INR": "₹ inr rupees",
    }.items()
    for name in names.split()
}
"""The currency (ISO 4217), or per cent, by each of its names in lower case."""
MEASURES: Final = {
    name: unit
    for unit, names in {
        "µg": "µg μg ug mcg microgram micrograms mikrogramm",
        "mg": "mg milligram milligrams milligramm",
        "g": "g gram grams gramm",
        "kg": "kg kilo kilos kilogram kilograms kilogramm",
        "t": "t tonne tonnes tonnen",
        "oz": "oz ounce ounces unze unzen",
        "lb": "lb lbs",
        "mm": "mm millimeter millimeters millimetre millimetres millimetern",
        "cm": "cm centimeter centimeters centimetre centimetres zentimeter zentimetern",
        "m": "m meter meters metre metres metern",
        "km": "km kilometer kilometers kilometre kilometres kilometern",
        "mi": "mi mile miles meile meilen",
        "ft": "ft foot feet",
        "inch": "inch inches zoll",
        "yd": "yd yard yards",
        "ml": "ml milliliter milliliters millilitre millilitres",
        "l": "l liter liters litre litres litern",
        "gal": "gal gallon gallons gallone gallonen",
        "km/h": "km/h kmh kph",
        "mph": "mph",
        "°C": "°c",
        "°F": "°f",
        "kB": "kb kilobyte kilobytes",
        "MB": "mb megabyte megabytes",
        "GB": "gb gigabyte gigabytes",
        "TB": "tb terabyte terabytes",
        "kW": "kw kilowatt",
        "kWh": "kwh",
        "ms": "ms millisecond milliseconds millisekunde millisekunden",
        "s": "s sec secs second seconds sekunde sekunden",
        "min": "min mins minute minutes minuten",
        "h": "h hr hrs hour hours std stunde stunden",
        "day": "day days tag tage tagen",
        "week": "week weeks woche wochen",
        "month": "month months monat monate monaten",
        "year": "year years jahr jahre jahren",
    }.items()
    for name in names.split()
}
"""The measure by each of its names, in lower case."""
_AMBIGUOUS: Final = {"GBP", "lb"}
"""Both are called pounds."""


def match_any(names: Iterable[str]) -> str:
    """Return the pattern of any of the names, the longest first."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


def agree_units(first: str | None, second: str | None) -> bool:
    """Return whether two units may be the same; a number without a unit may have any."""
    return first is None or second is None or first == second or {first, second} == _AMBIGUOUS
